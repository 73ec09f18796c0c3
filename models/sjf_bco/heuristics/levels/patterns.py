r"""What single GPUs can run in their rooms: a linear program by column generation.

With n_g GPUs in group g, a pattern a of g is a set of jobs whose slots fit into its room R_g:

.. math::
    \min \sum_j L s_j + w \sum_{g, a} x_{ga} \quad
    \text{s.t.} \quad & \sum_{g, a \ni j} x_{ga} + s_j \ge G_j && \forall j: \pi_j \\
    & \sum_a x_{ga} \le n_g && \forall g \\
    & x, s \ge 0

No packing puts the jobs into these rooms if prices :math:`\pi \ge 0` are worth more than the rooms
can hold,

.. math::
    \sum_j G_j \pi_j > \sum_g n_g v_c(R_g), \qquad
    v_c(R) = \max\Big\{\sum_{j \in A} \pi_j : \sum_{j \in A} l_j(c) \le R\Big\},

which is a cut for the program that makes the rooms. With w = 0 it is asked whether s = 0 is
possible; with w = 1 how many GPUs are not needed. Nothing rests on the prices being exact, as a
schedule is all that they lead to. (reconstructed)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.numbers.compiled import compiled
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.columns import ColumnPool
from gadgetopt.solvers.persistent import PersistentLp
from gadgetopt.system.result import Status

from .shape import Group, Rooms, Shape

#: L, what a GPU that a job lacks costs. Tuned: `benchmarks/constants.py`.
LACKING = 1000.0
#: Slots of its room that a pattern known from other rooms may leave free.
#: Tuned: `benchmarks/constants.py`.
LEFT_FREE = 25
#: Sums and values of the linear program that differ by no more are equal. By definition.
EQUAL = 1e-6

#: Patterns met so far, by class: jobs, and the slots they take.
Known = dict[int, dict[tuple[int, ...], int]]


class NoTimeLeft(Exception):
    """The clock ended a program before its answer."""


@dataclass(frozen=True)
class Answer:
    """What the program says about rooms.

    Attributes
    ----------
    lacking : bool
        True if the jobs do not fit.
    prices : Floats
        pi_j, 0 for jobs that were not asked about, shape (jobs,). If `lacking`, they show it.
    rent : dict
        Price of a GPU of each group at the optimum, w included.
    spare : float
        GPUs that are not needed, with w = 1.
    """

    lacking: bool
    prices: Floats
    rent: dict[Group, float]
    spare: float


def tables_of(shape: Shape, prices: Floats, longest: int) -> Floats:
    """Return v_c(R) of every class up to a longest room, shape (classes, 1 + longest)."""
    return np.array(
        [_table(shape, c, prices, longest)[2] for c in range(len(shape.capacities))]
    ).reshape(len(shape.capacities), longest + 1)


class Patterns:
    """The linear program of some jobs; it keeps its patterns and its basis from rooms to rooms.

    Parameters
    ----------
    shape : Shape
    jobs : sequence of int
    known : Known
        Patterns to start from; those found are added.
    counted : bool
        w: True asks how many GPUs are not needed, False ends as soon as all jobs fit.
    """

    def __init__(self, shape: Shape, jobs: Sequence[int], known: Known, *, counted: bool):
        self._shape, self._known = shape, known
        self._jobs = np.array(jobs, dtype=np.int64)
        self._weight = 1.0 if counted else 0.0
        self._lp = PersistentLp("min")
        self._row: dict[int | Group, int] = {int(j): k for k, j in enumerate(self._jobs)}
        self._groups: list[Group] = []
        count, gangs = len(self._jobs), shape.gangs[self._jobs].astype(np.float64)
        own = np.arange(count)
        self._lp.add_rows(gangs, np.full(count, np.inf), (), (), ())
        self._lp.add_columns(
            np.full(count, LACKING), np.zeros(count), gangs, own, own, np.ones(count)
        )
        self._pool: ColumnPool[None] = ColumnPool(self._lp)

    def ask(self, rooms: Rooms, clock: Clock) -> Answer:
        """Solve the program for rooms, to the optimum unless all jobs fit before.

        Raises
        ------
        NoTimeLeft
        """
        self._set(rooms)
        while True:
            if self._lp.solve(clock.limits()) is not Status.OPTIMAL or clock.expired:
                raise NoTimeLeft
            duals = self._lp.row_duals
            prices = np.zeros(len(self._shape.gangs))
            prices[self._jobs] = np.maximum(duals[: len(self._jobs)], 0.0)
            rent = {g: self._weight - float(duals[self._row[g]]) for g in rooms}
            if not self._weight and self._lp.objective <= EQUAL:
                return Answer(False, prices, rent, 0.0)
            if not self._grown(rooms, prices, rent):
                spare = sum(rooms.values()) - self._lp.objective
                lacking = bool(self._lp.values[: len(self._jobs)].sum() > EQUAL)
                return Answer(lacking, prices, rent, spare)

    def _set(self, rooms: Rooms) -> None:
        """Give groups their GPUs, and others none."""
        new = [g for g in rooms if g not in self._row]
        for g in new:
            self._row[g] = len(self._jobs) + len(self._groups)
            self._groups.append(g)
        none = np.full(len(new), -np.inf)
        self._lp.add_rows(none, np.zeros(len(new)), (), (), ())
        for c, room in new:
            for pattern, slots in self._known.get(c, {}).items():
                if room - LEFT_FREE < slots <= room:
                    self._add((c, room), pattern)
        self._pool.enter()
        full = np.array([rooms.get(g, 0.0) for g in self._groups])
        rows = len(self._jobs) + np.arange(len(full))
        self._lp.change_row_bounds(rows, np.full(len(full), -np.inf), full)

    def _grown(self, rooms: Rooms, prices: Floats, rent: dict[Group, float]) -> bool:
        """Add the best pattern of every group; return True if any is new."""
        grown = False
        longest = max(room for _, room in rooms)
        for c in range(len(self._shape.capacities)):
            item, chosen, best = _table(self._shape, c, prices, longest)
            slots = self._shape.slots[c, item]
            for group in rooms:
                room = group[1]
                if group[0] == c and best[room] > rent[group] + EQUAL:
                    pattern = _traced(item, slots, chosen, room)
                    taken = int(self._shape.slots[c, list(pattern)].sum())
                    self._known.setdefault(c, {})[pattern] = taken
                    grown |= self._add(group, pattern)
        self._pool.enter()
        return grown

    def _add(self, group: Group, pattern: tuple[int, ...]) -> bool:
        if not all(j in self._row for j in pattern):
            return False
        rows = [*(self._row[j] for j in pattern), self._row[group]]
        return self._pool.add((group, pattern), None, self._weight, rows, np.ones(len(rows)))


def _table(shape: Shape, c: int, prices: Floats, longest: int) -> tuple[Ints, Bools, Floats]:
    """Return the jobs of worth, which of them are chosen in which room, and v_c of all rooms."""
    item = np.flatnonzero((prices > EQUAL) & (shape.slots[c] <= longest))
    best, chosen = np.zeros(longest + 1), np.zeros((len(item), longest + 1), np.bool_)
    _fill(shape.slots[c, item], prices[item], best, chosen)
    return item, chosen, best


@compiled
def _fill(slots: Ints, worth: Floats, best: Floats, chosen: Bools) -> None:
    """Fill in what items are worth at most in rooms 0, 1, ..., and which items that takes.

    Parameters
    ----------
    best, chosen : Floats, Bools
        Zeros, shapes (rooms,) and (items, rooms).
    """
    for i in range(len(slots)):
        w, v = slots[i], worth[i]
        for room in range(len(best) - 1, w - 1, -1):
            x = best[room - w] + v
            if x > best[room]:
                best[room] = x
                chosen[i, room] = True


def _traced(item: Ints, slots: Ints, chosen: Bools, room: int) -> tuple[int, ...]:
    """Return the jobs that are worth most in a room, ascending."""
    taken = []
    for i in range(len(item) - 1, -1, -1):
        if chosen[i, room]:
            taken.append(int(item[i]))
            room -= int(slots[i])
    return tuple(sorted(taken))
