"""Greedy construction of a schedule that reaches given totals of worker-slots.

If the totals are optimal for a relaxation, the schedule is optimal (reconstructed).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ...subproblems.placement import (
    Room,
    place,
)
from ...subproblems.schedule import Schedule
from ...subproblems.slot_problem import Mapping
from ...terms import Terms


def construct(
    terms: Terms,
    target: Sequence[int] | Ints,
    largest: Sequence[int] | Ints,
    noise: Floats | None = None,
) -> Schedule:
    r"""Go through the slots and place the most urgent jobs first.

    Urgency is :math:`(\mathrm{rem}_i / N_i) / (T - t + 1)`: the share of the remaining slots in
    which a job must have its largest ring. Each job in turn gets the largest ring that fits and
    does not exceed the rest of its target.

    Parameters
    ----------
    terms : Terms
    target : sequence of int
        Target worker-slots of each job.
    largest : sequence of int
        The largest ring of each job.
    noise : array, shape (slots, jobs), optional
        Added to the urgency.
    """
    left = np.array(target, dtype=np.int64)
    most = np.maximum(1, np.array(largest, dtype=np.int64))
    arrival = np.array([job.arrival for job in terms.jobs])
    slots: list[tuple[Mapping, ...]] = []
    for t in range(1, terms.horizon + 1):
        active = np.flatnonzero((arrival <= t) & (left > 0))
        urgency = left[active] / most[active] / (terms.horizon - t + 1)
        if noise is not None:
            urgency = urgency + noise[t - 1, active]
        room = Room(terms)
        placed: list[Mapping] = []
        for i in active[np.argsort(-urgency, kind="stable")].tolist():
            job = terms.jobs[i]
            mapping = largest_place(room, terms, i, min(int(most[i]), int(left[i])))
            if mapping is None:
                if not room.free.any():
                    break
                continue
            room.take(job, mapping)
            left[i] -= mapping.size
            placed.append(mapping)
        slots.append(tuple(placed))
    return Schedule(tuple(slots), np.array(target, dtype=np.int64) - left)


def largest_place(room: Room, terms: Terms, job: int, size: int) -> Mapping | None:
    """Return a place for the largest ring of at most `size` workers; None if none fits."""
    for workers in range(size, 0, -1):
        mapping = place(room, terms.jobs[job], workers)
        if mapping is not None:
            return mapping
    return None


def construct_repeatedly(
    terms: Terms,
    target: Sequence[int] | Ints,
    largest: Sequence[int] | Ints,
    rng: np.random.Generator,
    limits: Limits,
    restarts: int = 200,
    spread: float = 0.2,
) -> Schedule:
    """Repeat the construction until the targets are reached; the first attempt has no noise.

    Returns
    -------
    Schedule
        The attempt with the largest utility.
    """
    clock = Clock(limits)
    best = construct(terms, target, largest)
    wanted = np.array(target, dtype=np.int64)
    for _ in range(restarts):
        if clock.expired or (best.done == wanted).all():
            break
        noise = spread * rng.standard_normal((terms.horizon, len(terms.jobs)))
        tried = construct(terms, target, largest, noise)
        if worth(terms, tried.done) > worth(terms, best.done):
            best = tried
    return best


def worth(terms: Terms, done: Ints) -> float:
    """Return the total utility if every job has done its `done` worker-slots."""
    return float(sum(job.utility[k] for job, k in zip(terms.jobs, done.tolist(), strict=True)))
