r"""Packing a slot by machine patterns, and cuts from their duals.

A pattern is a filling of one machine: how many workers and servers of each job. With P_c the
patterns of a machine of kind c, of which there are H_c, and n the workers and servers asked for,

.. math::
    \max\ \phi \quad \text{s.t.} \quad \sum_{c,\, p \in P_c} \lambda_{c p}\, p \ge \phi\, n, \quad
    \sum_p \lambda_{c p} \le H_c

is solved by column generation: with duals :math:`\pi, \mu` a pattern is priced by the knapsack
:math:`\max \pi p` over the fillings of a machine. If phi < 1 the items do not fit, and the cut
:math:`\pi n \le \sum_c H_c \max_{p \in P_c} \pi p` holds for everything that fits into any slot.
If phi >= 1, integer numbers of the known patterns often pack the slot where CP-SAT, which sees
every machine by itself, does not get there (Gilmore and Gomory's columns; reconstructed).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gadgetopt.errors import SolverError
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.columns import ColumnPool
from gadgetopt.solvers.cpsat import solve_cp
from gadgetopt.solvers.persistent import PersistentLp
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.result import Limits, Status

from ...subproblems.decoding import Counts
from ...terms import Terms
from .slot_packing import (
    IMPOSSIBLE,
    UNKNOWN,
    Item,
    Packing,
    fill_with_units,
    place_units,
)

#: Kinds of units that are no blocks. By definition.
WORKER, SERVER = 0, -1
#: Weights of the knapsack of a machine are whole multiples of one part in this of the largest.
#: Tuned: `benchmarks/constants.py`.
PARTS = 10**6
#: Fillings of one machine up to which all are listed. Tuned: `benchmarks/constants.py`.
FEW_FILLINGS = 20_000
#: Largest weight of a cut; duals are rounded down to multiples of one part in this.
#: Tuned: `benchmarks/constants.py`.
LARGEST_WEIGHT = 10_000
#: Dual weights are first tried as multiples of 1/k of their largest, k up to this.
#: Tuned: `benchmarks/constants.py`.
SIMPLE_WEIGHTS = 120


@dataclass(frozen=True)
class Cut:
    """A linear inequality that is satisfied by everything that fits onto the machines of a slot.

    Attributes
    ----------
    weights : tuple of ((job, kind), int)
        Of a worker or a server of a job, wherever it is, or of a block with at least this many
        workers.
    limit : int
    """

    weights: tuple[tuple[tuple[int, int], int], ...]
    limit: int

    @property
    def has_blocks(self) -> bool:
        """True if it has weights of blocks, and not only of workers and servers."""
        return any(kind > 0 for (_, kind), _ in self.weights)

    def is_violated(self, terms: Terms, items: Sequence[Item]) -> bool:
        """Return True if the items violate it."""
        running = {item.job: item for item in items}
        total = 0
        for (job, kind), weight in self.weights:
            item = running.get(job)
            if item is None:
                continue
            if kind == WORKER:
                total += weight * item.workers
            elif kind == SERVER:
                total += weight * int(terms.jobs[job].servers[item.workers])
            else:
                total += weight * (item.inside and item.workers >= kind)
        return total > self.limit


@dataclass(frozen=True)
class PatternOutcome:
    """Outcome of packing a slot's items by patterns.

    Attributes
    ----------
    packing : Packing
        `fits` is None if neither a packing nor a proof was found.
    cut : Cut or None
        If the items violate an inequality that holds in every slot.
    share : float
        phi, cut off at 2.
    """

    packing: Packing
    cut: Cut | None
    share: float


@dataclass(frozen=True)
class _Units:
    """Units to pack, by kind (job, WORKER, SERVER or the workers of a block).

    `most` is what could be asked for in any slot: what holds for fillings within `asked` says
    nothing of a slot that asks for more of one kind and less of another.
    """

    kinds: tuple[tuple[int, int], ...]
    demand: Ints
    asked: Ints
    most: Ints

    @classmethod
    def of(cls, terms: Terms, items: Sequence[Item], split: bool) -> _Units:
        """Take blocks as one unit each, or split them into workers and servers too."""
        kinds: list[tuple[int, int]] = []
        demand, asked, most = [], [], []
        for item in items:
            job = terms.jobs[item.job]
            if item.inside and not split:
                kinds.append((item.job, item.workers))
                demand.append(job.demand[item.workers])
                asked.append(1)
                most.append(1)
                continue
            kinds += [(item.job, WORKER), (item.job, SERVER)]
            demand += [job.alpha, job.beta]
            asked += [item.workers, int(job.servers[item.workers])]
            most += [job.batch, int(job.servers[-1])]
        return cls(tuple(kinds), np.array(demand), np.array(asked), np.array(most))


#: Patterns found so far, by the capacity of a machine: a filling by (job, kind).
Pool = dict[tuple[int, ...], set[tuple[tuple[tuple[int, int], int], ...]]]


def pack_by_patterns(
    terms: Terms,
    items: Sequence[Item],
    limits: Limits,
    pool: Pool | None = None,
    *,
    choose: bool = True,
) -> PatternOutcome:
    """Pack the items, or find an inequality that they violate, or neither.

    A block is a unit of its own in patterns.

    Parameters
    ----------
    terms : Terms
    items : sequence of Item
    limits : Limits
        Half of the time is for the generation of patterns.
    pool : dict, optional
        Patterns of earlier slots to start from; new ones are added to it.
    choose : bool
        True to look for integer numbers of the patterns; False where none are needed.
    """
    pool = {} if pool is None else pool
    clock = Clock(limits)
    first = Clock(clock.limits(part=0.5))
    search = _PatternSearch(_Units.of(terms, items, split=False), terms.capacity, pool, first)
    try:
        return _packed(terms, items, search, pool, clock, choose)
    except TimeoutError:
        return PatternOutcome(UNKNOWN, None, search.share)


def _packed(
    terms: Terms,
    items: Sequence[Item],
    search: _PatternSearch,
    pool: Pool,
    clock: Clock,
    choose: bool,
) -> PatternOutcome:
    if not search.run():
        return PatternOutcome(UNKNOWN, None, search.share)
    if search.fits:
        found = search.whole_patterns(clock) if choose else None
        packing = UNKNOWN if found is None else Packing(True, _counts(terms, items, search, found))
        return PatternOutcome(packing, None, search.share)
    impossible, cut = search.refutation()
    if impossible and any(item.inside for item in items):
        # An inequality on parts of blocks says more, where there is one.
        parts = _PatternSearch(_Units.of(terms, items, split=True), terms.capacity, pool, clock)
        with contextlib.suppress(TimeoutError):
            if parts.run() and not parts.fits:
                cut = parts.refutation()[1] or cut
    return PatternOutcome(IMPOSSIBLE if impossible else UNKNOWN, cut, search.share)


def _counts(
    terms: Terms, items: Sequence[Item], search: _PatternSearch, found: Ints
) -> dict[int, Counts]:
    """Workers and servers by job and machine, from the units on every machine by kind."""
    counts: dict[int, dict[int, tuple[int, int]]] = {item.job: {} for item in items}
    for (job, kind), column in zip(search.units.kinds, found.T, strict=True):
        for h in np.flatnonzero(column).tolist():
            w, s = counts[job].get(h, (0, 0))
            n = int(column[h])
            if kind > 0:
                counts[job][h] = (kind, int(terms.jobs[job].servers[kind]))
            else:
                counts[job][h] = (w, s + n) if kind == SERVER else (w + n, s)
    return dict(counts)


class _PatternSearch:
    """The linear program over patterns."""

    def __init__(self, units: _Units, room: Ints, pool: Pool, clock: Clock):
        self.units, self._room, self._clock = units, room, clock
        kinds_of_room, self._kind_of = np.unique(room, axis=0, return_inverse=True)
        self._kind_of = self._kind_of.ravel()
        self._number = np.bincount(self._kind_of)
        demand = units.demand
        self._fillings = [_Filling(demand, space, units.asked, clock) for space in kinds_of_room]
        self._of_any_slot = [_Filling(demand, space, units.most, clock) for space in kinds_of_room]
        self.share = 0.0
        C, K = len(self._number), len(units.asked)
        lp = self._lp = PersistentLp("max")
        lp.add_columns([1.0], [0.0], [2.0])
        self._columns: ColumnPool[tuple[int, Ints]] = ColumnPool(lp)
        lp.add_rows(np.full(C, -math.inf), self._number.astype(float), [0] * C, [], [])
        lp.add_rows(
            np.zeros(K),
            np.full(K, math.inf),
            np.arange(K),
            np.zeros(K),
            -units.asked.astype(float),
        )
        self.weights: Floats = np.zeros(K)
        self._known = [pool.setdefault(tuple(space.tolist()), set()) for space in kinds_of_room]
        place = {kind: k for k, kind in enumerate(units.kinds)}
        for c, known in enumerate(self._known):
            projected = {tuple((p, n) for p, n in pattern if p in place) for pattern in known}
            for parts in sorted(projected):
                pattern = np.zeros(K, dtype=np.int64)
                for kind, n in parts:
                    pattern[place[kind]] = min(n, units.asked[place[kind]])
                if parts:
                    self._add(c, pattern)

    def run(self) -> bool:
        """Generate patterns until none has a positive reduced cost, or time is up."""
        C = len(self._number)
        for k in range(len(self.units.asked)):
            for c, filling in enumerate(self._fillings):
                self._add(c, filling.best(np.eye(len(self.units.asked))[k]))
        while not self._clock.expired:
            self._columns.enter()
            if self._lp.solve(self._clock.limits()) is not Status.OPTIMAL:
                return False
            duals = self._lp.row_duals
            self.share, self.weights = self._lp.objective, np.maximum(-duals[C:], 0.0)
            new = False
            for c, filling in enumerate(self._fillings):
                pattern = filling.best(self.weights)
                if self.weights @ pattern > duals[c] + 1e-6 * max(1.0, duals[c]):
                    new |= self._add(c, pattern)
            if not new:
                return True
        return False

    def _add(self, c: int, pattern: Ints) -> bool:
        C, used = len(self._number), np.flatnonzero(pattern)
        rows, values = np.append(c, C + used), np.append(1, pattern[used])
        self._known[c].add(tuple((self.units.kinds[k], int(pattern[k])) for k in used.tolist()))
        return self._columns.add((c, *pattern.tolist()), (c, pattern), 0.0, rows, values)

    @property
    def patterns(self) -> list[tuple[int, Ints]]:
        """The patterns found so far, each with the number of its kind of machine."""
        return self._columns.payloads

    @property
    def fits(self) -> bool:
        """True if fractional numbers of patterns hold all items."""
        return self.share >= 1.0 - 1e-9

    def refutation(self) -> tuple[bool, Cut | None]:
        """Return True if the duals, in whole numbers, prove that the items do not fit.

        With the inequality that holds in every slot, if the items violate it.
        """
        impossible = False
        if not self.weights.any():
            return impossible, None
        relative = self.weights / self.weights.max()
        # Duals are often multiples of a simple fraction: then nothing is lost by rounding.
        for k in [*range(1, SIMPLE_WEIGHTS + 1), LARGEST_WEIGHT]:
            scaled = relative * k
            weights = np.floor(scaled + 1e-6).astype(np.int64)
            if k < LARGEST_WEIGHT and np.abs(scaled - np.round(scaled)).max() > 1e-6:
                continue
            if weights @ self.units.asked <= self._limit(self._fillings, weights):
                continue
            impossible = True
            limit = self._limit(self._of_any_slot, weights)
            if weights @ self.units.asked > limit:
                by_kind = zip(self.units.kinds, weights.tolist(), strict=True)
                cut = Cut(tuple((kind, weight) for kind, weight in by_kind if weight), limit)
                return impossible, cut
        return impossible, None

    def _limit(self, fillings: Sequence[_Filling], weights: Ints) -> int:
        """Return the most that all machines together hold at these weights."""
        each = zip(self._number, fillings, strict=True)
        return sum(int(number) * filling.most(weights) for number, filling in each)

    def whole_patterns(self, clock: Clock) -> Ints | None:
        """Return a filling of every machine that has all units, shape (machines, kinds), or None.

        The linear program's numbers are rounded down, and the heuristic fills the few machines that
        are left. Else integer numbers of the known patterns; the number of missing units is
        minimised and has to be 0. Else CP-SAT fills the machines that are left after rounding.
        """
        shares = self._columns.values
        for scale in (1.0, max(1.0, self.share)):
            out, free = self._placed(np.floor(shares / scale + 1e-9).astype(np.int64))
            rest = self.units.asked - out.sum(axis=0)
            filled = fill_with_units(self.units.demand, rest, self._room[free])
            if filled is not None:
                out[free] = filled
                return out
        numbers = self._whole_numbers(clock.limits(part=0.5))
        if numbers is not None:
            return numbers
        filled = place_units(self.units.demand, rest, self._room[free], clock.limits())
        if filled is None:
            return None
        out[free] = filled
        return out

    def _whole_numbers(self, limits: Limits) -> Ints | None:
        C, K, N = len(self._number), len(self.units.asked), len(self.patterns)
        lp = PersistentLp("min")
        lp.add_rows(
            np.append(np.full(C, -math.inf), self.units.asked.astype(float)),
            np.append(self._number.astype(float), np.full(K, math.inf)),
            np.zeros(C + K),
            [],
            [],
        )
        starts: list[int] = []
        rows: list[int] = []
        values: list[float] = []
        for c, pattern in self.patterns:
            starts.append(len(rows))
            used = np.flatnonzero(pattern)
            rows += [c, *(C + used).tolist()]
            values += [1.0, *pattern[used].astype(float).tolist()]
        for k in range(K):
            starts.append(len(rows))
            rows.append(C + k)
            values.append(1.0)
        most = [float(self._number[c]) for c, _ in self.patterns]
        lp.add_columns(
            np.append(np.zeros(N), self.units.demand.sum(axis=1) + 1.0),
            np.zeros(N + K),
            np.append(most, self.units.asked.astype(float)),
            starts,
            rows,
            values,
        )
        # Only 0 missing units are of use, and any more are at least 1.
        exactly = replace(limits, rel_gap=0.0)
        x = lp.solve_in_integers(exactly, objective_target=0.5)
        if x is None or x[N:].any():
            return None
        out, _ = self._placed(x[:N].astype(np.int64))
        return out if (out.sum(axis=0) == self.units.asked).all() else None

    def _placed(self, numbers: Ints) -> tuple[Ints, list[int]]:
        """Fill machines with these numbers of patterns, without surplus, and the empty ones."""
        left = self.units.asked.copy()
        out = np.zeros((len(self._room), len(left)), dtype=np.int64)
        free = [np.flatnonzero(self._kind_of == c).tolist() for c in range(len(self._number))]
        for (c, pattern), number in zip(self.patterns, numbers.tolist(), strict=True):
            for _ in range(number):
                h = free[c].pop()
                out[h] = np.minimum(pattern, left)
                left -= out[h]
        return out, [h for machines in free for h in machines]


class _Filling:
    """The knapsack of one machine: how many units of each kind, at given weights."""

    def __init__(self, demand: Ints, space: Ints, asked: Ints, clock: Clock):
        self._demand, self._space, self._clock = demand, space, clock
        most = np.full(demand.shape, np.iinfo(np.int64).max)
        np.floor_divide(space, demand, out=most, where=demand > 0)
        self._most = np.minimum(asked, most.min(axis=1))

    def best(self, weights: Floats) -> Ints:
        """Return the best filling at weights that are rounded to one part in `PARTS`."""
        return self._solve(np.floor(weights * (PARTS / max(weights.max(), 1e-300))))[0]

    def most(self, weights: Ints) -> int:
        """Return the value of the best filling at whole weights."""
        return self._solve(weights)[1]

    @cached_property
    def _all(self) -> Ints | None:
        """All fillings, shape (fillings, kinds), where these are few."""
        found = np.zeros((1, 0), dtype=np.int64)
        room = self._space[None, :]
        for demand, most in zip(self._demand, self._most.tolist(), strict=True):
            n = np.arange(most + 1)
            left = room[:, None, :] - n[None, :, None] * demand
            at, number = np.nonzero((left >= 0).all(axis=2))
            if len(at) > FEW_FILLINGS:
                return None
            found = np.column_stack((found[at], n[number]))
            room = left[at, number]
        return found

    def _solve(self, weights: Ints | Floats) -> tuple[Ints, int]:
        if self._all is not None:
            value = self._all @ weights.astype(np.int64)
            best = int(value.argmax())
            return self._all[best], int(value[best])
        model = cp_model.CpModel()
        x = [model.new_int_var(0, most, "") for most in self._most.tolist()]
        for r, space in enumerate(self._space.tolist()):
            each = self._demand[:, r]
            if each.any():
                use = [int(d) * x_k for d, x_k in zip(each, x, strict=True) if d]
                model.add(sum(use) <= space)
        model.maximize(sum(int(w) * x_k for w, x_k in zip(weights, x, strict=True)))
        outcome = solve_cp(model, replace(self._clock.limits(), rel_gap=0.0))
        if outcome.limit_hit == "time_s":
            raise TimeoutError
        if outcome.status is not Status.OPTIMAL or outcome.values is None:
            raise SolverError(f"knapsack of one machine: {outcome.status}")
        assert outcome.bound is not None
        return np.array(outcome.values, dtype=np.int64), int(outcome.bound)
