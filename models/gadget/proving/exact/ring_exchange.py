r"""Local search by ring exchange for a schedule that reaches given totals.

The greedy construction may leave jobs short of their totals. A move removes some rings from one
slot and fills it again, jobs that are short first. A move that does not raise the shortfall
:math:`\sum_i (k_i - z_i)` is kept; one that does is kept sometimes, as in simulated annealing
(reconstructed).
"""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ...subproblems.placement import Room
from ...subproblems.schedule import Schedule
from ...subproblems.slot_problem import Mapping
from ...terms import Terms
from .construction import largest_place

#: Initial temperature in worker-slots of shortfall, and number of moves until it is cold and is
#: reset. Tuned: `benchmarks/constants.py`.
HOTTEST, CYCLE = 0.6, 2000


def exchange(
    terms: Terms,
    target: Ints,
    largest: Ints,
    start: Schedule,
    rng: np.random.Generator,
    limits: Limits,
    moves: int = 20_000,
) -> Schedule:
    """Reduce the shortfall of a schedule until it is zero or all moves are used.

    Parameters
    ----------
    terms : Terms
        Must be those of a two-tier cluster.
    target : array of int, shape (jobs,)
        k_i; jobs with 0 do not run.
    largest : array of int, shape (jobs,)
        The largest ring of each job.
    start : Schedule
    rng : numpy.random.Generator
    limits : Limits
    moves : int
    """
    clock = Clock(limits)
    state = _State(terms, target, largest, start)
    best, least = state.schedule(), state.short.sum()
    for move in range(moves):
        if least == 0 or clock.expired:
            break
        temperature = HOTTEST * (1 - (move % CYCLE) / CYCLE)
        before = state.short.sum()
        undo = state.refill(rng)
        worse = state.short.sum() - before
        if worse > 0 and rng.random() >= np.exp(-worse / max(temperature, 1e-9)):
            state.restore(undo)
        elif state.short.sum() < least:
            best, least = state.schedule(), state.short.sum()
    return best


class _State:
    def __init__(self, terms: Terms, target: Ints, largest: Ints, start: Schedule):
        self.terms = terms
        self.target = target
        self.largest = largest
        self.slots = [{m.job: m for m in placed} for placed in start.mappings]
        self.rooms = []
        for placed in start.mappings:
            room = Room(terms)
            for mapping in placed:
                room.take(terms.jobs[mapping.job], mapping)
            self.rooms.append(room)
        self.short = target - start.done
        arrival = np.array([job.arrival for job in terms.jobs])
        self.wanted = [
            np.flatnonzero((target > 0) & (arrival <= t)) for t in range(1, terms.horizon + 1)
        ]

    def refill(self, rng: np.random.Generator) -> tuple[int, dict[int, Mapping], Room, Ints]:
        """Remove rings from a slot in which a short job could grow, and fill it again."""
        terms = self.terms
        lacking = np.flatnonzero(self.short > 0)
        i = int(rng.choice(lacking))
        first = terms.jobs[i].arrival
        t = int(rng.integers(first - 1, terms.horizon))
        rings, room = self.slots[t], self.rooms[t]
        undo = t, dict(rings), room.copy(), self.short.copy()
        others = np.array([j for j in rings if j != i], dtype=np.int64)
        count = min(len(others), int(rng.integers(1, 5)))
        out = rng.permutation(others)[:count].tolist()
        for j in ([i] if i in rings else []) + out:
            mapping = rings.pop(j)
            room.take(terms.jobs[j], mapping, -1)
            self.short[j] += mapping.size
        open_jobs = [j for j in self.wanted[t].tolist() if j not in rings and self.short[j] > 0]
        order = rng.permutation(len(open_jobs)).tolist()
        ordered = [i] + [open_jobs[n] for n in order if open_jobs[n] != i]
        for j in ordered:
            if self.short[j] <= 0 or not room.free.any():
                continue
            most = min(int(self.largest[j]), int(self.short[j]))
            found = largest_place(room, terms, j, most)
            if found is not None:
                room.take(terms.jobs[j], found)
                rings[j] = found
                self.short[j] -= found.size
        return undo

    def restore(self, undo: tuple[int, dict[int, Mapping], Room, Ints]) -> None:
        """Undo a move."""
        t, rings, room, short = undo
        self.slots[t], self.rooms[t], self.short = rings, room, short

    def schedule(self) -> Schedule:
        """Return the current schedule."""
        return Schedule(
            tuple(tuple(rings.values()) for rings in self.slots), self.target - self.short
        )
