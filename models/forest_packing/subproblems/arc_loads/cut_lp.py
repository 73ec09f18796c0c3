r"""The cut LP in HiGHS, with the cut rows that have been found so far.

Formulation F3, in the rate-scaled form of `loads.py`: :math:`\max R` with root rates :math:`w`,
loads :math:`g, h`, capacities, balances (3), and the cuts

.. math::
    g(\delta^-(Q)) + w(Q) \ge R, \qquad h(\delta^+(Q)) + w(Q) \ge R                 \tag{F3}

More load than a cut needs does no harm, except at a switch, which must forward what it receives.
Most of the loads can therefore be eliminated; often only the cut rows remain:

- stages apart (one stage, or taking turns), rows of single arcs, every switch with as much
  capacity in as out: every arc is filled, :math:`g = c s_2`;
- stages together, rows of single arcs: the two stages share an arc between workers completely,
  :math:`h_a = c_a - g_a`;
- symmetric networks, stages together: h may be taken to be g with all arcs reversed (the mean of a
  solution and its mirror image), so that the reduce cuts are the broadcast cuts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.solvers.persistent import INFINITY, PersistentLp
from gadgetopt.system.result import Limits, Status

from ...instance import (
    ForestPackingInstance,
    Stage,
)
from ...packing import required_shares
from ..price_oracles import make_oracle
from ..rate_scale import (
    RateScale,
    rate_scale,
)

#: Columns above which the first solve is left to the interior-point method (measured on dense
#: digraphs: with 24 workers the dual simplex is faster, with 64 and with 128 slower).
#: Tuned: `benchmarks/constants.py`.
MANY_COLUMNS = 2_000
#: Feasibility to which rows of the scaled LP are solved, below the precision that plans need.
#: Tuned: `benchmarks/constants.py`.
FEASIBILITY = 1e-9


@dataclass
class Load:
    """Load of every arc in one stage: constant + factor * column, all of shape (arcs,).

    `column` is -1 where the load is constant. A constant is the arc's capacity where it is `held`,
    else 0; factors are 0, 1 or -1, or the arcs' capacities if these are `filled` in turns.
    """

    constant: Floats
    factor: Floats
    column: Ints
    held: Bools
    filled: bool = False

    def value(self, x: Floats) -> Floats:
        """Loads at the columns' values."""
        moving = np.where(self.column >= 0, self.factor * x[self.column], 0.0)
        return np.maximum(self.constant + moving, 0.0)


@dataclass(frozen=True)
class Multipliers:
    """Duals of the cut LP: of each cut, of each switch's balance per stage, of each row."""

    cuts: list[tuple[Stage, Bools, float]]
    potentials: list[tuple[Stage, int, float]]
    prices: dict[Stage, Floats]


class CutLp:
    """The cut LP of an instance without `in_network`, to which cuts are added.

    Attributes
    ----------
    stages : tuple of Stage
        Stages whose cuts are needed; the broadcast's alone if the reduce mirrors it.
    mirrored : bool
    tails, heads : dict
        Ends of every arc by stage, in the direction away from the root.
    roots : ndarray of int, shape (workers,)
        Column of each w_r, -1 where the shares are given. Column 0 is R; then row 0 is (1).
    turns : dict
        Column of each stage's part of the time, if they take turns; that these are 1 at most is
        the first row after (1).
    load_of : dict
        Loads of each stage in terms of columns.
    shared : ndarray of bool, shape (arcs,)
        Whether what one stage leaves of an arc is all the other's. Loads are at most the capacity.
    capacity_rows : list
        Stage, or None for both together, row of the network, and row.
    balances : list
        Stage, switch and row.
    cuts : list
        Stage, set of nodes and row.
    """

    def __init__(self, instance: ForestPackingInstance):
        network = instance.network
        self.instance = instance
        self.network = network
        scale = (
            rate_scale(make_oracle(instance), network.num_workers)
            if network.rows
            else RateScale(1.0, 1.0)
        )
        self.scale: float = scale.rate
        self.capacity: Floats = scale.clipped(network.capacity_float)
        self._row_capacity = scale.clipped(network.row_capacity_float)
        self.mirrored: bool = (
            network.symmetric and len(instance.stages) == 2 and not instance.sequential
        )
        self.stages: tuple[Stage, ...] = ("broadcast",) if self.mirrored else instance.stages
        self.lp: PersistentLp = PersistentLp("max", primal_feasibility_tolerance=FEASIBILITY)
        self.tails: dict[str, Ints] = {"broadcast": network.tails, "reduce": network.heads}
        self.heads: dict[str, Ints] = {"broadcast": network.heads, "reduce": network.tails}
        self._x = np.zeros(0)
        self.cuts: list[tuple[Stage, Bools, int]] = []
        self._seen: set[tuple[Stage, bytes]] = set()
        self.balances: list[tuple[Stage, int, int]] = []
        self.capacity_rows: list[tuple[Stage | None, int, int]] = []
        self._add_rates()
        self.load_of: dict[Stage, Load] = {}
        self.shared: Bools = np.zeros(len(self.capacity), dtype=bool)
        self._add_loads()

    # -- the model -----------------------------------------------------------------------------

    def _add_rates(self) -> None:
        """Add R as column 0; w_r where the shares are free, with (1)."""
        n = self.network.num_workers
        self.lp.add_columns([1], [0], [INFINITY])
        shares = required_shares(self.instance)
        # A node's w in R's stead where the shares are given.
        self._share = np.zeros(n)
        self.roots: Ints = np.full(n, -1)
        if shares is not None:
            self._share[list(shares)] = [float(w) for w in shares.values()]
        else:
            self.roots[:] = self.lp.add_columns(np.zeros(n), np.zeros(n), np.full(n, INFINITY))
            self.lp.add_rows([0], [0], [0], np.append(self.roots, 0), np.append(np.ones(n), -1.0))

    def _add_loads(self) -> None:
        network = self.network
        apart = self.instance.sequential or (len(self.stages) == 1 and not self.mirrored)
        self.turns: dict[Stage, int] = {}
        if self.instance.sequential:
            turns = self.lp.add_columns([0, 0], [0, 0], [1, 1])
            self.lp.add_rows([-INFINITY], [1], [0], list(turns), [1, 1])
            self.turns = dict(zip(self.stages, turns, strict=True))
        if apart and network.only_arc_rows and self._switches_balanced():
            zeros = np.zeros_like(self.capacity)
            for stage in self.stages:
                if self.instance.sequential:
                    column, none = np.full(len(zeros), self.turns[stage]), zeros > 0
                    self.load_of[stage] = Load(zeros, self.capacity, column, none, filled=True)
                else:
                    nowhere, all_arcs = np.full(len(zeros), -1), zeros == 0
                    self.load_of[stage] = Load(self.capacity, zeros, nowhere, all_arcs)
            return
        self._add_shared_loads(apart)
        self._add_capacities(apart)
        self._add_balances()

    def _switches_balanced(self) -> bool:
        network = self.network
        if (self.capacity * self.scale < network.capacity_float * (1 - 1e-9)).any():
            return False  # clipping may have changed that
        into: dict[int, Fraction] = dict.fromkeys(network.switches, Fraction(0))
        for (u, v), c in zip(network.arcs, network.capacity, strict=True):
            if v in into:
                into[v] += c
            if u in into:
                into[u] -= c
        return not any(into.values())

    def _add_shared_loads(self, apart: bool) -> None:
        """Add the columns of loads that are not eliminated."""
        network, m = self.network, len(self.capacity)
        n = network.num_workers
        full = network.only_arc_rows and not apart
        # True if the other stage (the other direction, if mirrored) takes the rest of the capacity.
        self.shared = (network.tails < n) & (network.heads < n) & full
        everything = np.arange(m)
        own = np.ones(m, dtype=bool)
        if self.mirrored:
            own = ~self.shared | (network.tails < network.heads)
        first = "broadcast" if self.mirrored else self.stages[0]
        self.load_of[first] = self._new_load(own)
        if self.mirrored:
            back = np.array([network.arc_index[v, u] for u, v in network.arcs], dtype=np.int64)
            g = self.load_of[first]
            _take_rest(g, np.flatnonzero(~own), g.column[back[~own]], self.capacity)
            self.load_of["reduce"] = Load(
                g.constant[back], g.factor[back], g.column[back], g.held[back]
            )
        elif len(self.stages) == 2:
            g = self.load_of[first]
            h = self._new_load(~self.shared)
            rest = everything[self.shared]
            _take_rest(h, rest, g.column[rest], self.capacity)
            self.load_of[self.stages[1]] = h

    def _new_load(self, own: Bools) -> Load:
        arcs = np.flatnonzero(own)
        zeros = np.zeros(len(own))
        load = Load(zeros, zeros.copy(), np.full(len(own), -1), zeros > 0)
        if len(arcs):
            # A load that leaves the rest of its arc to the other is at most the arc's capacity.
            upper = np.where(self.shared, self.capacity, INFINITY)[arcs]
            load.column[arcs] = self.lp.add_columns(np.zeros(len(arcs)), np.zeros(len(arcs)), upper)
            load.factor[arcs] = 1.0
        return load

    def _add_capacities(self, apart: bool) -> None:
        """Add (2) for rows with an arc that is not shared completely; per stage, if apart."""
        columns: list[int] = []
        starts: list[int] = []
        values: list[float] = []
        upper: list[float] = []
        for i, row in enumerate(self.network.rows):
            if all(self.shared[a] for a in row.arcs):
                continue
            capacity = float(self._row_capacity[i])
            groups: list[tuple[Stage | None, tuple[Stage, ...]]] = [(None, self.instance.stages)]
            if apart:
                groups = [(stage, (stage,)) for stage in self.stages]
            for group, stages in groups:
                entries = [int(self.load_of[s].column[a]) for s in stages for a in row.arcs]
                starts.append(len(columns))
                columns += entries
                values += [1.0] * len(entries)
                upper.append(capacity)
                if self.instance.sequential and group is not None:
                    if capacity > 0:
                        columns.append(self.turns[group])
                        values.append(-capacity)
                    upper[-1] = 0.0
                self.capacity_rows.append((group, i, self.lp.num_rows + len(upper) - 1))
        if upper:
            self.lp.add_rows(np.full(len(upper), -INFINITY), upper, starts, columns, values)

    def _add_balances(self) -> None:
        """Add (3), for each stage by itself."""
        for stage in self.stages:
            load = self.load_of[stage]
            for s in self.network.switches:
                into, out = self.network.in_arcs[s], self.network.out_arcs[s]
                columns = load.column[into + out]
                values = np.append(np.ones(len(into)), -np.ones(len(out)))
                (row,) = self.lp.add_rows([0], [0], [0], columns, values)
                self.balances.append((stage, s, row))

    # -- cuts ----------------------------------------------------------------------------------

    def add_cuts(self, cuts: Iterable[tuple[Stage, Bools]]) -> int:
        """Add the rows (F3) of node sets, shape (nodes,) each; return how many are new."""
        lower: list[float] = []
        starts: list[int] = []
        columns: list[Ints] = []
        values: list[Floats] = []
        entries = 0
        for stage, inside in cuts:
            key = (stage, np.packbits(inside).tobytes())
            if key in self._seen:
                continue
            self._seen.add(key)
            load = self.load_of[stage]
            entering = np.flatnonzero(inside[self.heads[stage]] & ~inside[self.tails[stage]])
            moving = entering[load.column[entering] >= 0]
            roots = np.flatnonzero(inside[: self.network.num_workers])
            free = self.roots[roots[self.roots[roots] >= 0]]
            # Several arcs may move with one column.
            # (of no arcs at all numpy counts in integers)
            coefficient = np.bincount(load.column[moving], load.factor[moving], 1).astype(float)
            coefficient[0] += float(self._share[roots].sum()) - 1.0
            at = np.flatnonzero(coefficient)
            row = np.concatenate((at, free))
            self.cuts.append((stage, inside, self.lp.num_rows + len(lower)))
            lower.append(-float(load.constant[entering].sum()))
            starts.append(entries)
            columns.append(row)
            values.append(np.concatenate((coefficient[at], np.ones(len(free)))))
            entries += len(row)
        if lower:
            upper = np.full(len(lower), INFINITY)
            self.lp.add_rows(lower, upper, starts, np.concatenate(columns), np.concatenate(values))
        return len(lower)

    # -- solutions -----------------------------------------------------------------------------

    def solve(self, limits: Limits) -> Status:
        """Solve with the present cuts; the values are then those of the last optimum."""
        first = self._x.size == 0 and self.lp.num_columns > MANY_COLUMNS
        status = self.lp.solve(limits, "interior_point" if first else "dual")
        if status is Status.OPTIMAL:
            self._x = self.lp.values
            self._duals = self.lp.row_duals
        return status

    @property
    def limit_hit(self) -> str | None:
        """The limit that stopped the last solve, if one did."""
        return self.lp.limit_hit

    @property
    def num_cuts(self) -> int:
        """Number of cut rows."""
        return len(self.cuts)

    @property
    def solved(self) -> bool:
        """True if any solve was completed."""
        return self._x.size > 0

    @property
    def rate(self) -> float:
        """R in GB/s."""
        return float(self._x[0]) * self.scale

    @property
    def root_rates(self) -> Floats:
        """W in GB/s, shape (workers,)."""
        w = np.where(self.roots >= 0, self._x[self.roots], self._share * self._x[0])
        return np.maximum(w, 0.0) * self.scale

    def loads(self, stage: Stage) -> Floats:
        """Load of every arc in a stage, GB/s; the most that the stage could carry."""
        return self.load_of[stage].value(self._x) * self.scale

    def multipliers(self) -> Multipliers:
        """Duals of the last optimum, for both stages if the reduce mirrors the broadcast."""
        cuts = [
            (stage, inside, -self._duals[i])
            for stage, inside, i in self.cuts
            if i < len(self._duals)  # cuts after the last optimum have none
        ]
        potentials = [(stage, s, -self._duals[i]) for stage, s, i in self.balances]
        if self.mirrored:
            cuts += [("reduce", inside, z) for _, inside, z in cuts]
            potentials += [("reduce", s, -value) for _, s, value in potentials]
        prices = {stage: np.zeros(len(self.network.rows)) for stage in self.instance.stages}
        for group, row, i in self.capacity_rows:
            for stage in prices if group is None else (group,):
                prices[stage][row] = self._duals[i]
        return Multipliers([c for c in cuts if c[2] > 0], potentials, prices)


def _take_rest(load: Load, arcs: Ints, columns: Ints, capacity: Floats) -> None:
    """Set the load of some arcs to the capacity that other columns leave."""
    load.constant[arcs] = capacity[arcs]
    load.held[arcs] = True
    load.factor[arcs] = -1.0
    load.column[arcs] = columns
