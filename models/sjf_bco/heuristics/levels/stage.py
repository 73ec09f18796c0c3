r"""Some levels in integers, with cuts from the linear program of the jobs below them.

A level is all jobs of one gang size k. With :math:`x_{kRA}` the blocks of k GPUs with room R that
run the jobs A one after the other (a class c beside R left out here),

.. math::
    & \sum_{R, A \ni j} x_{kRA} = 1 && \text{for every job } j \text{ of a level} \\
    & \sum_A x_{kRA} = b_{kR} + \frac{k'}{k} \sum_{R', A' : R' - l(A') = R} x_{k'R'A'}
        && \text{a block of the level } k' \text{ above is split, or } b_{kR} \text{ come in} \\
    & \sum_{R, A} k\, v(R - l(A))\, x_{kRA} \ge \sum_j G_j \pi_j
        && \text{for prices of the jobs below the last level } k \text{ (`patterns`)} \\
    & x \in \mathbb Z_{\ge 0}

Sets A are listed only if they can be part of a packing: with prices :math:`\pi` and rents of GPUs
at the optimum of the linear program of all jobs that are left, the waste of all GPUs, rent less
what runs on them, adds up to the GPUs that are not needed there. So no block wastes more.
(reconstructed)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.errors import SolverError
from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.persistent import PersistentLp
from gadgetopt.system.result import Status

from .patterns import EQUAL, Known, NoTimeLeft, Patterns, tables_of
from .shape import Group, Rooms, Shape

#: Sets of jobs that are listed at most, and those of least waste that are kept, also if no smaller
#: gangs follow. Tuned: `benchmarks/constants.py`.
MOST_LISTED, MOST_SETS, MOST_LAST_SETS = 200_000, 20_000, 30_000
#: Most cuts, and most nodes of an integer program: about a minute of either.
#: Tuned: `benchmarks/constants.py`.
MOST_CUTS, MOST_NODES = 400, 5_000
#: Dives before the integer program is solved, and fixed sets that are taken back before a dive is
#: given up. Tuned: `benchmarks/constants.py`.
DIVES, MOST_MISTAKES = 3, 10
#: Fractions from which sets are fixed together. Tuned: `benchmarks/constants.py`.
SURE = 0.9
#: What all jobs below are worth in a cut. By definition.
SCALE = 1e3
#: Objectives are drawn anew for every solution, by this share. Tuned: `benchmarks/constants.py`.
NOISE = 0.01
#: Relative gap at which an integer program ends. Tuned: `benchmarks/constants.py`.
ENOUGH = 0.5


@dataclass(frozen=True)
class Chosen:
    """Blocks that run the same jobs.

    Attributes
    ----------
    gang : int
        k.
    group : Group
        Class and room before.
    jobs : tuple of int
    room : int
        Slots left.
    blocks : int
    """

    gang: int
    group: Group
    jobs: tuple[int, ...]
    room: int
    blocks: int = 1


class Stage:
    """The integer program of some levels; it keeps its cuts from one solution to the next.

    Parameters
    ----------
    shape : Shape
    gangs : sequence of int
        Gang sizes of the levels, descending.
    rooms : Rooms
        What larger gangs left.
    known : Known
        Patterns met so far; more are added.
    clock : Clock
    """

    def __init__(
        self, shape: Shape, gangs: Sequence[int], rooms: Rooms, known: Known, clock: Clock
    ):
        self._shape, self._gangs = shape, tuple(gangs)
        self._known, self._clock = known, clock
        self._below = np.flatnonzero(shape.gangs < gangs[-1]).tolist()
        self._patterns = Patterns(shape, self._below, known, counted=False)
        blocks, self._rest = _split(rooms, self._gangs)
        #: Prices of the jobs below, before anything is fixed.
        self._prices = np.zeros(len(shape.gangs))
        self._sets = self._listed(rooms, blocks)
        #: Sets of the last level, each with the group that it leaves, as columns and groups.
        self._last = [
            (k, (x.group[0], x.room))
            for k, x in enumerate(self._sets)
            if x.gang == gangs[-1] and x.room > 0
        ]
        self._lp = PersistentLp("max")
        self._cuts = 0
        self._objective = np.zeros(len(self._sets))
        self._build(blocks)
        if self._sets and self._prices.any():
            self._cut(self._prices)
            self._lp.change_costs(np.arange(len(self._sets)), self._objective)

    def next(self, rng: np.random.Generator) -> tuple[list[Chosen], dict[Group, float]] | None:
        """Return a solution with the rooms that it leaves; None if none is found.

        Raises
        ------
        NoTimeLeft
        """
        if not self._sets or not (self._cuts > 1 or self._relaxed()):
            return None
        for _ in range(DIVES):
            values = self._dived(rng)
            if values is not None:
                break
        else:
            values = self._integers(rng)
        if values is None:
            return None
        chosen = [
            Chosen(x.gang, x.group, x.jobs, x.room, round(values[k]))
            for k, x in enumerate(self._sets)
            if values[k] > 0.5
        ]
        return chosen, self._rooms(values)

    def _dived(self, rng: np.random.Generator) -> Floats | None:
        """Fix sets in the relaxation, those of large gangs first, until all are whole numbers."""
        count = len(self._sets)
        least, most = np.zeros(count), np.full(count, np.inf)
        gangs = np.array([x.gang for x in self._sets])
        self._draw(rng)
        # A set to be doubted, the blocks that it may have then, and all bounds before it.
        fixed: list[tuple[int, float, Floats]] = []
        mistakes = 0
        found = None
        while mistakes <= MOST_MISTAKES:
            self._lp.change_column_bounds(np.arange(count), least, most)
            if self._relaxed():
                values = self._lp.values
                part = values - np.floor(values + EQUAL)
                broken = np.flatnonzero(part > EQUAL)
                if len(broken) == 0:
                    found = np.round(values)
                    break
                broken = broken[gangs[broken] == gangs[broken].max()]
                last = int(broken[np.argmax(part[broken])])
                fixed.append((last, float(values[last] - part[last]), least.copy()))
                together = np.append(broken[part[broken] > SURE], last)
                least[together] = np.ceil(values[together] - EQUAL)
            elif fixed:
                mistakes += 1
                last, most[last], least = fixed.pop()
            else:
                break
        self._lp.change_column_bounds(np.arange(count), np.zeros(count), np.full(count, np.inf))
        return found

    def _draw(self, rng: np.random.Generator) -> None:
        """Like the sets that leave what the last cut asks for, each a little more or less."""
        costs = self._objective * rng.uniform(1 - NOISE, 1, len(self._sets))
        self._lp.change_costs(np.arange(len(self._sets)), costs)

    def _integers(self, rng: np.random.Generator) -> Floats | None:
        """Return a solution of the integer program that leaves enough below, or None."""
        while self._cuts < MOST_CUTS:
            self._draw(rng)
            values = self._lp.solve_in_integers(
                self._clock.limits(), mip_rel_gap=ENOUGH, mip_max_nodes=MOST_NODES
            )
            if values is None:
                return None
            lacking = self._lacking(self._rooms(values))
            if lacking is None:
                return values
            self._cut(lacking)
        return None

    def _relaxed(self) -> bool:
        """Add cuts until the linear relaxation has rooms for all jobs; False if it has none."""
        while self._solved():
            lacking = self._lacking(self._rooms(self._lp.values))
            if lacking is None:
                return True
            if not self._cut(lacking):
                return False
        return False

    def _solved(self) -> bool:
        """Solve the relaxation; False if it has no solution, or HiGHS does not find it."""
        try:
            status = self._lp.solve(self._clock.limits())
        except SolverError:
            return False
        if self._clock.expired:
            raise NoTimeLeft
        return status is Status.OPTIMAL

    def _rooms(self, values: Floats) -> dict[Group, float]:
        """Return what a solution leaves to the jobs below."""
        rooms = dict(self._rest)
        for k, group in self._last:
            if values[k] > EQUAL:
                rooms[group] = rooms.get(group, 0.0) + self._gangs[-1] * float(values[k])
        return rooms

    def _lacking(self, rooms: Rooms) -> Floats | None:
        """Return prices that refute the rooms, or None if they are enough for the jobs below."""
        if not self._below:
            return None
        answer = self._patterns.ask(rooms, self._clock)
        return answer.prices if answer.lacking else None

    def _cut(self, prices: Floats) -> bool:
        """Demand rooms that hold what the jobs below are worth; False after too many cuts."""
        longest = max((room for _, room in (*self._rest, *(g for _, g in self._last))), default=0)
        tables = tables_of(self._shape, prices, longest)
        worth = float(self._shape.gangs @ prices)
        held = np.zeros(len(self._sets))
        for k, group in self._last:
            held[k] = self._gangs[-1] * tables[group] / worth * SCALE
        least = SCALE - sum(n * float(tables[g]) for g, n in self._rest.items()) / worth * SCALE
        held[held <= EQUAL] = 0.0
        columns = np.flatnonzero(held)
        self._lp.add_rows([least], [np.inf], [0], columns, held[columns])
        self._cuts += 1
        self._objective = held
        return self._cuts < MOST_CUTS

    def _listed(self, rooms: Rooms, blocks: dict[tuple[int, Group], int]) -> list[Chosen]:
        """Return the sets of all levels that waste no more than there is."""
        left = np.flatnonzero(self._shape.gangs <= self._gangs[0]).tolist()
        answer = Patterns(self._shape, left, self._known, counted=True).ask(rooms, self._clock)
        if answer.lacking:
            return []
        longest = max(room for _, room in rooms)
        prices = answer.prices
        sets: list[Chosen] = []
        waste: list[float] = []
        self._prices = np.where(self._shape.gangs < self._gangs[-1], prices, 0)
        # Rent of groups less what larger gangs are worth.
        due = {g: answer.rent[g] for k, g in blocks if k == self._gangs[0]}
        for gang in self._gangs:
            jobs = np.flatnonzero(self._shape.gangs == gang)
            most = tables_of(self._shape, np.where(self._shape.gangs <= gang, prices, 0), longest)
            later = tables_of(self._shape, np.where(self._shape.gangs < gang, prices, 0), longest)
            after = {g: answer.rent[g] for k, g in blocks if k < gang}
            for (c, room), rent in due.items():
                if self._clock.expired:
                    raise NoTimeLeft
                slots = self._shape.slots[c, jobs]
                order = np.argsort(slots, kind="stable")
                items = [(int(jobs[i]), int(slots[i]), float(prices[jobs[i]])) for i in order]
                least = rent - (answer.spare + EQUAL) / gang
                for chosen, taken, worth in _sets(items, room, most[c], later[c], least):
                    if len(sets) == MOST_LISTED:
                        return []
                    left_over = (c, room - taken)
                    sets.append(Chosen(gang, (c, room), chosen, room - taken))
                    waste.append(gang * (rent - worth - float(later[c][room - taken])))
                    after[left_over] = min(after.get(left_over, np.inf), rent - worth)
            due = after
        most_sets = MOST_SETS if self._below else MOST_LAST_SETS
        kept = np.sort(np.argsort(waste, kind="stable")[:most_sets])
        return [sets[k] for k in kept.tolist()]

    def _build(self, blocks: dict[tuple[int, Group], int]) -> None:
        """Write down the program."""
        jobs = np.flatnonzero(np.isin(self._shape.gangs, self._gangs)).tolist()
        of_job = {j: k for k, j in enumerate(jobs)}
        of_blocks: dict[tuple[int, Group], int] = {}
        below = dict(zip(self._gangs, self._gangs[1:], strict=False))

        def balance(gang: int, group: Group) -> int:
            return of_blocks.setdefault((gang, group), len(jobs) + len(of_blocks))

        starts: list[int] = []
        rows: list[int] = []
        values: list[float] = []
        for x in self._sets:
            starts.append(len(rows))
            rows += [*(of_job[j] for j in x.jobs), balance(x.gang, x.group)]
            values += [1.0] * (len(x.jobs) + 1)
            if x.gang in below:
                smaller = below[x.gang]
                rows.append(balance(smaller, (x.group[0], x.room)))
                values.append(-float(x.gang // smaller))
        sides = np.array([1.0] * len(jobs) + [float(blocks.get(b, 0)) for b in of_blocks])
        zeros = np.zeros(len(self._sets))
        self._lp.add_rows(sides, sides, (), (), ())
        self._lp.add_columns(zeros, zeros, zeros + np.inf, starts, rows, values)


def _split(
    rooms: Rooms, gangs: Sequence[int]
) -> tuple[dict[tuple[int, Group], int], dict[Group, float]]:
    """Return the whole blocks of each level that come in, and the GPUs beside them."""
    blocks, rest = {}, {}
    for group, gpus in rooms.items():
        left = round(gpus)
        for gang in gangs:
            if left >= gang:
                blocks[gang, group], left = divmod(left, gang)
        if left:
            rest[group] = float(left)
    return blocks, rest


def _sets(
    items: list[tuple[int, int, float]], room: int, most: Floats, later: Floats, least: float
) -> Iterator[tuple[tuple[int, ...], int, float]]:
    """Yield sets of jobs that fit, with their slots and worth.

    Parameters
    ----------
    items : list
        Job, slots and worth, by rising slots.
    room : int
    most, later : Floats
        What jobs no larger than these, and what smaller ones are worth at most in rooms 0, 1, ...
    least : float
        What a set and what runs after it have to be worth.
    """
    stack: list[tuple[int, tuple[int, ...], int, float]] = [(0, (), 0, 0.0)]
    while stack:
        begin, chosen, taken, worth = stack.pop()
        if worth + later[room - taken] >= least:
            yield chosen, taken, worth
        for at in range(begin, len(items)):
            job, slots, price = items[at]
            if taken + slots > room:
                break
            if worth + price + most[room - taken - slots] >= least:
                stack.append((at + 1, (*chosen, job), taken + slots, worth + price))
