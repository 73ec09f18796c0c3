r"""The linear program over pairs of nodes that cuts are added to.

Columns are the pairs with weight and all pairs of training nodes, of which balance speaks:

.. math:: \min \sum q_{ab} d_{ab}, \qquad \text{cuts}, \qquad 0 \le d \le 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, combinations

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.solvers.persistent import PersistentLp
from gadgetopt.system.result import Limits, Status

from ..instance import BglPartitionInstance
from .certificate.cuts import (
    AtMost,
    Caps,
    Cut,
    Inequality,
    Leaf,
    Pair,
    Tree,
    pair,
    weights_of,
)

#: Columns of the linear program. Tuned: `benchmarks/constants.py`.
MOST_COLUMNS = 20_000
#: Rows with more slack leave the program once the bound has risen.
#: Tuned: `benchmarks/constants.py`.
SLACK = 0.1
#: Binary digits of a price behind the point, relative to the largest weight.
#: Tuned: `benchmarks/constants.py`.
DIGITS = 40


class CutLp:
    """A linear program in HiGHS, the cuts in it, and all cuts so far.

    Attributes
    ----------
    nodes : ndarray of int, shape (nodes,)
        Nodes with weight; the program numbers them in this order.
    trained : ndarray of int, shape (trained,)
        Which of these are training nodes.
    ends : ndarray of int, shape (columns, 2)
        The pairs; the first `weighted` of them have weight.
    column : ndarray of int, shape (nodes, nodes)
        Column of a pair, or -1.
    cuts, inequalities : list
        All cuts that were ever added.

    Raises
    ------
    ModelRefused
        If there are too many pairs.
    """

    def __init__(self, instance: BglPartitionInstance):
        self.caps: Caps = Caps.of(instance)
        self.weights: dict[Pair, int] = weights_of(instance)
        self.nodes: Ints = np.array(sorted({v for p in self.weights for v in p}), dtype=np.int64)
        at = {v: i for i, v in enumerate(self.nodes.tolist())}
        self.at = at
        self.trained: Ints = np.array(
            [at[v] for v in instance.train_nodes if v in at], dtype=np.int64
        )
        self.trained.sort()
        r = len(self.trained)
        if len(self.weights) + r * (r - 1) // 2 > MOST_COLUMNS:
            raise ModelRefused(
                f"{len(self.weights)} pairs with weight and those of {r} training nodes, "
                f"expected at most {MOST_COLUMNS}"
            )
        listed = [(at[a], at[b]) for a, b in self.weights]
        known = set(listed)
        listed += [p for p in combinations(self.trained.tolist(), 2) if p not in known]
        self.ends: Ints = np.array(listed, dtype=np.int64).reshape(-1, 2)
        self.weighted: int = len(self.weights)
        n = len(self.nodes)
        self.column: Ints = np.full((n, n), -1, dtype=np.int64)
        a, b = self.ends.T
        self.column[a, b] = self.column[b, a] = np.arange(len(listed))
        self.unit: float = float(max(self.weights.values(), default=1) or 1)
        cost = np.zeros(len(listed))
        cost[: self.weighted] = np.array(list(self.weights.values()), dtype=float) / self.unit
        self.lp: PersistentLp = PersistentLp("min")
        self.lp.add_columns(cost, np.zeros(len(listed)), np.ones(len(listed)))
        self.cuts: list[Cut] = []
        self.inequalities: list[Inequality] = []
        self._number: dict[Cut, int] = {}
        self._in_rows: list[int] = []
        self.fixed: dict[Pair, int] = {}
        self.add(self._balance())

    def _balance(self) -> Iterable[Cut]:
        """Yield what the caps of training nodes ask of every training node."""
        trained = self.nodes[self.trained].tolist()
        r = len(trained)
        for v in trained if r > 1 else []:
            nodes = (v, *(u for u in trained if u != v))
            if r > self.caps.train_cap:
                yield Tree(nodes=nodes, parents=(0,) * (r - 1))
            if (self.caps.parts - 1) * self.caps.train_cap < r - 1:
                yield AtMost(nodes=nodes)

    def add(self, cuts: Iterable[Cut]) -> int:
        """Add cuts as rows, each once; return how many were added."""
        starts: list[int] = []
        columns: list[int] = []
        values: list[float] = []
        least: list[float] = []
        there = set(self._in_rows)
        for cut in cuts:
            c = self._number.get(cut)
            if c is None:
                c = self._number[cut] = len(self.cuts)
                self.cuts.append(cut)
                self.inequalities.append(self.caps.inequality(cut))
            if c in there:
                continue
            there.add(c)
            self._in_rows.append(c)
            of_pair = self.inequalities[c].of_pair
            starts.append(len(columns))
            columns += [self.column[self.at[a], self.at[b]] for a, b in of_pair]
            values += list(of_pair.values())
            least.append(float(self.inequalities[c].least))
        if least:
            self.lp.add_rows(least, np.full(len(least), np.inf), starts, columns, values)
        return len(least)

    def fix(self, fixed: Mapping[Pair, int]) -> None:
        """Decide these pairs, and no others."""
        released = [p for p in self.fixed if p not in fixed]
        changed = [*released, *fixed]
        columns = [self.column[self.at[a], self.at[b]] for a, b in changed]
        lower = [0.0] * len(released) + [float(x) for x in fixed.values()]
        upper = [1.0] * len(released) + [float(x) for x in fixed.values()]
        if changed:
            self.lp.change_column_bounds(columns, lower, upper)
        self.fixed = dict(fixed)

    def solve(self, limits: Limits) -> Status:
        """Solve and return the status."""
        return self.lp.solve(limits)

    def purge(self) -> None:
        """Drop the rows that are far from tight."""
        rows = self.lp.row_slacks
        loose = np.flatnonzero(rows > SLACK)
        if len(loose):
            self.lp.delete_rows(loose)
            dropped = set(loose.tolist())
            self._in_rows = [c for i, c in enumerate(self._in_rows) if i not in dropped]

    @property
    def metric(self) -> Floats:
        """The values as a matrix, shape (nodes, nodes); infinite where there is no column."""
        values = np.append(np.clip(self.lp.values, 0.0, 1.0), np.inf)
        found: Floats = values[self.column]
        np.fill_diagonal(found, 0.0)
        return found

    @property
    def digits(self) -> int:
        """The unit of prices, in scaled weights."""
        return max(1, round(2**DIGITS / self.unit))

    def leaf(self, *, empty: bool = False) -> Leaf | None:
        """Return the prices of the last solve, or those that prove its rows contradictory."""
        duals: Floats | None = self.lp.row_duals * self.unit * self.digits
        if empty:
            duals = self.lp.infeasibility_ray
            if duals is None or not len(duals) or not np.abs(duals).max() > 0:
                return None
            duals = duals * (2**DIGITS / np.abs(duals).max())
        assert duals is not None
        priced = np.flatnonzero(duals >= 1)
        return Leaf(
            cuts=tuple(self._in_rows[i] for i in priced.tolist()),
            prices=tuple(int(x) for x in duals[priced].tolist()),
            empty=empty,
        )

    def pairs_of(self, columns: Iterable[int]) -> list[Pair]:
        """Return the pairs of columns."""
        return [
            pair(int(self.nodes[a]), int(self.nodes[b]))
            for a, b in self.ends[list(columns)].tolist()
        ]

    def used(self, leaves: Iterable[Leaf]) -> tuple[tuple[Cut, ...], dict[int, int]]:
        """Return the cuts that leaves price, and their new numbers."""
        numbers = sorted(set(chain.from_iterable(leaf.cuts for leaf in leaves)))
        return tuple(self.cuts[c] for c in numbers), {c: i for i, c in enumerate(numbers)}
