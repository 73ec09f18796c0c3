r"""The restricted master LP of tree packing: the best rates of the trees found so far.

Trees of different stages are columns of their own, coupled by the rate of their root, which is
(F1) with in-trees and out-trees combined freely:

.. math::
    \max\ & R \\
    & \sum_T n_i(T)\,x_T \le c_i && \text{rows } i \\
    & \sum_{T \text{ of stage } k \text{ and root } r} x_T \ge w_r && \text{roots } r,
      \text{ stages } k \\
    & \sum_r w_r = R \text{ with free shares},\quad w_r = \omega_r R \text{ with given ones}

If stages take turns, rows are :math:`\sum_T n_i(T)\,x_T \le c_i s_k` with :math:`s_1 + s_2 \le 1`.
Undirected trees serve every stage and root, and form one group of rate R.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.exact_vertex import exact_vertex
from gadgetopt.solvers.columns import ColumnPool
from gadgetopt.solvers.persistent import INFINITY, PersistentLp
from gadgetopt.system.result import Limits, Status

from ..instance import Stage
from .price_oracles import FoundTree, Oracle
from .rate_scale import rate_scale

#: Feasibility of rows and reduced costs, below the agreement that is asked of rate and bound.
#: Tuned: `benchmarks/constants.py`.
FEASIBILITY = 1e-10
#: Part of the tallest price of a tree below which a better price is rounding.
#: Tuned: `benchmarks/constants.py`.
IMPROVEMENT = 1e-10

#: Rows above which the first solve is left to the interior-point method (measured: with 496 rows
#: the primal simplex is faster, with 1128 slower). Tuned: `benchmarks/constants.py`.
MANY_ROWS = 800

Group = tuple[Stage | None, int]
Roots = Literal["any", "free"] | Mapping[int, Fraction]


@dataclass(frozen=True)
class ExactPacking:
    """The master's optimum in rational numbers.

    Attributes
    ----------
    rate : Fraction
        R, GB/s.
    rates : list of Fraction
        Rate of every tree, GB/s.
    prices : list of Fraction
        Prices of the oracle's rows: each family's capital is its part of R.
    """

    rate: Fraction
    rates: list[Fraction]
    prices: list[Fraction]


class TreeMaster:
    """The restricted master.

    Parameters
    ----------
    oracle : Oracle
        Whose trees these are; it knows their loads.
    stages : sequence of str
        Stages of the collective that trees are rooted for.
    num_workers : int
    roots : "any", "free", or dict
        "any" if trees need no coupling (they serve any root, or one stage's root rates are rows of
        the oracle), "free" if root shares are free, or the given shares.
    """

    def __init__(
        self, oracle: Oracle, stages: Iterable[Stage], num_workers: int, roots: Roots
    ) -> None:
        self._oracle = oracle
        scale = rate_scale(oracle, num_workers)
        self.scale: float = scale.rate
        self.capacity: Floats = scale.clipped(oracle.capacity)
        self._families = oracle.families
        self._lp = PersistentLp(
            "max",
            primal_feasibility_tolerance=FEASIBILITY,
            dual_feasibility_tolerance=FEASIBILITY,
        )
        self._pool: ColumnPool[FoundTree] = ColumnPool(self._lp)
        rows = len(self.capacity)
        turns = len(self._families) > 1
        self._lp.add_rows(
            np.full(rows, -INFINITY),
            np.zeros(rows) if turns else self.capacity,
            np.zeros(rows),
            [],
            [],
        )
        if turns:
            self._add_turns()
        self._group_row: dict[Group, int] = {}
        self._rate_columns: dict[int, dict[int, Fraction]] = {}
        self._any = roots == "any"
        self._x: Floats | None = None
        self._add_roots(tuple(stages), num_workers, roots)
        self._first = self._lp.num_columns

    def _add_turns(self) -> None:
        """s_1 + s_2 <= 1, and the rows' capacities times these."""
        (row,) = self._lp.add_rows([-INFINITY], [1], [0], [], [])
        for family in self._families:
            members = family.start + np.flatnonzero(self.capacity[family])
            self._lp.add_columns(
                [0], [0], [1], [0], [*members, row], [*-self.capacity[members], 1.0]
            )

    def _add_roots(self, stages: tuple[Stage, ...], num_workers: int, roots: Roots) -> None:
        """R or the w_r as columns, and a row for each group of trees."""
        if isinstance(roots, str) and roots == "any":
            rates: list[dict[Group, Fraction]] = [{(None, -1): Fraction(1)}]
        elif isinstance(roots, str):
            rates = [{(stage, r): Fraction(1) for stage in stages} for r in range(num_workers)]
        else:
            rates = [{(stage, r): w for r, w in roots.items() for stage in stages}]
        for column in rates:
            first = self._lp.num_rows
            new = [0] * len(column)
            self._lp.add_rows(new, [INFINITY] * len(column), new, [], [])
            self._group_row.update({group: first + k for k, group in enumerate(column)})
            members = [first + k for k in range(len(column))]
            weights = [-float(w) for w in column.values()]
            (j,) = self._lp.add_columns([1], [0], [INFINITY], [0], members, weights)
            self._rate_columns[j] = {i: -w for i, w in zip(members, column.values(), strict=True)}

    @property
    def trees(self) -> list[FoundTree]:
        """The trees found so far, in the order of their columns."""
        return self._pool.payloads

    def _row_of(self, tree: FoundTree) -> int:
        return self._group_row[(None, -1) if self._any else (tree.stage, tree.root)]

    def add(self, trees: Iterable[FoundTree]) -> int:
        """Add the trees that are new; return how many."""
        for tree in trees:
            if tree.key not in self._pool:
                load = self._oracle.load(tree)
                used = np.flatnonzero(load)
                rows = np.append(used, self._row_of(tree))
                self._pool.add(tree.key, tree, 0.0, rows, np.append(load[used], 1.0))
        return self._pool.enter()

    def solve(self, limits: Limits) -> Status:
        """Find the best rates; values are those of the last solve that found any."""
        first = self._x is None and len(self.capacity) > MANY_ROWS
        status = self._lp.solve(limits, "interior_point" if first else "choose")
        if status in (Status.OPTIMAL, Status.FEASIBLE):
            self._x = self._lp.values
            self._objective = self._lp.objective
        if status is Status.OPTIMAL:
            self._duals = self._lp.row_duals
        return status

    @property
    def limit_hit(self) -> str | None:
        """The limit that stopped the last solve, if one did."""
        return self._lp.limit_hit

    @property
    def rate(self) -> float:
        """R of the last solve, GB/s."""
        return self._objective * self.scale

    @property
    def rates(self) -> Floats:
        """Rate of every tree that the last solve had, GB/s."""
        assert self._x is not None
        return np.maximum(self._x[self._first :], 0.0) * self.scale

    @property
    def prices(self) -> Floats:
        """Prices of the oracle's rows, each family's capital scaled to 1."""
        return self.normalized(np.maximum(self._duals[: len(self.capacity)], 0.0))

    def exact_optimum(self, capacity: Sequence[Fraction]) -> ExactPacking | None:
        """Return the vertex of the last optimum; None if it is not found or not feasible.

        Trees that were added since have the rate 0.

        Parameters
        ----------
        capacity : sequence of Fraction
            The rows' capacities, GB/s, not clipped.
        """
        places, sides = self._lp.basis
        rows, turns = len(capacity), len(self._families) > 1
        tight: dict[int, Fraction] = {}
        for i, place in enumerate(sides):
            if place != 0:
                limit = Fraction(0) if turns or i >= rows else capacity[i]
                tight[i] = Fraction(1) if turns and i == rows else limit
        columns = {
            j: self._exact_column(j, capacity) for j, place in enumerate(places) if place == 0
        }
        costs = dict.fromkeys(range(2 if turns else 0, self._first), 1)
        vertex = exact_vertex(columns, costs, tight)
        if vertex is None or min(vertex.values.values(), default=Fraction(0)) < 0:
            return None
        prices = [vertex.duals.get(i, Fraction(0)) for i in range(rows)]
        if min(prices) < 0:
            return None
        zero = Fraction(0)
        values = [vertex.values.get(j, zero) for j in range(self._lp.num_columns)]
        rate = sum((values[j] for j in costs), zero)
        return ExactPacking(rate, values[self._first :], prices)

    def _exact_column(self, j: int, capacity: Sequence[Fraction]) -> dict[int, Fraction]:
        """Return a column's coefficients with capacities in GB/s."""
        if j >= self._first:
            tree = self.trees[j - self._first]
            load = self._oracle.load(tree)
            column = {i: Fraction(load[i]) for i in np.flatnonzero(load).tolist()}
            return {**column, self._row_of(tree): Fraction(1)}
        if len(self._families) > 1 and j < len(self._families):
            members = range(*self._families[j].indices(len(capacity)))
            return {**{i: -capacity[i] for i in members}, len(capacity): Fraction(1)}
        return self._rate_columns[j]

    def normalized(self, y: Floats) -> Floats:
        """Scale prices so that the rows of each family have a value of 1 in all (or of 0)."""
        out = y.copy()
        for family in self._families:
            capital = float(self._oracle.capacity[family] @ y[family])
            if capital > 0:
                out[family] /= capital
        return out

    def improves(self, tree: FoundTree) -> bool:
        """Return True if the last duals price a tree below the dual value of its group."""
        y = np.maximum(self._duals[: len(self.capacity)], 0.0)
        worth = -float(self._duals[self._row_of(tree)])
        return float(self._oracle.load(tree) @ y) < worth - IMPROVEMENT * max(1.0, worth)
