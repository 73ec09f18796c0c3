"""Gangs packed level by level within a target makespan, and the method that lowers it.

The levels of the largest gangs, up to some jobs, make the first stage, every other level one of its
own. A stage leaves rooms on GPUs to the next. Where a later stage has no solution, the first is
asked for another one. (reconstructed)
"""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.compiled import slow_note
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...energetic import energetic_bound
from ...instance import SjfBcoInstance, SjfBcoSolution
from ...size_limits import refuse_many
from .patterns import Known, NoTimeLeft
from .shape import Group, Shape, shape_of
from .stage import Chosen, Stage

#: Most jobs, and most jobs of the first stage. Tuned: `benchmarks/constants.py`.
MOST_JOBS, MOST_JOBS_OF_FIRST = 500, 50
#: Most slots of a target, for which tables of rooms are small. Tuned: `benchmarks/constants.py`.
MOST_SLOTS = 20_000
#: Solutions of the first stage that are tried for a target. Tuned: `benchmarks/constants.py`.
TRIES = 12
#: Share of the time left that a target may take. Tuned: `benchmarks/constants.py`.
SHARE = 0.6


@method(kind="heuristic", reference="gangs level by level (reconstructed)")
def gang_levels(
    instance: SjfBcoInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Integer programs of gang sizes, from the largest down (not in the paper).

    Return the schedule of the least target makespan, from the energetic bound on, within which all
    gangs are packed (reconstructed). No guarantee.

    Parameters
    ----------
    instance : SjfBcoInstance
    limits : Limits
        `time_s` is shared by the targets.
    rng : numpy.random.Generator
        Draws objectives.

    Returns
    -------
    MethodOutcome
        No solution if none is found up to the horizon.

    Raises
    ------
    ModelRefused
        If a gang or a capacity is not a power of two, or there are too many jobs or slots.
    """
    lower = energetic_bound(instance)
    return pack_from_bound(lower, instance.horizon_slots + 1, instance, limits, rng)


def pack_from_bound(
    lower: int, upper: int, instance: SjfBcoInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Return what `gang_levels` does from a lower bound on, below an upper one."""
    refuse_many(len(instance.jobs), MOST_JOBS, "jobs to be packed by programs")
    refuse_many(lower, MOST_SLOTS, "slots to be filled by programs")
    search: Search[SjfBcoSolution] = Search("min", limits)
    shape = shape_of(instance)
    # A target need not be lower than what closes the gap that was asked for.
    asked = limits.rel_gap < 1
    first = max(lower, math.floor(lower / (1 - limits.rel_gap))) if asked else lower
    tried = 0
    with search.interruptible():
        for target in range(first, min(upper, instance.horizon_slots + 1, MOST_SLOTS)):
            if search.clock.expired:
                break
            tried += 1
            chosen = packed(shape, target, Clock(search.clock.limits(SHARE)), rng)
            if chosen is not None:
                search.offer(target, schedule_of(instance, shape, target, chosen))
                break
    search.limit_hit = search.limit_hit or search.clock.limit_hit
    notes = {"targets": tried, **slow_note()}
    value = None if search.best is None else int(search.value)
    return MethodOutcome(search.best, value, limit_hit=search.limit_hit, notes=notes)


def packed(
    shape: Shape, target: int, clock: Clock, rng: np.random.Generator
) -> list[Chosen] | None:
    """Return sets of jobs for blocks, larger gangs first; None if none are found."""
    first, *later = _stages(shape)
    known: Known = {}
    try:
        stage = Stage(shape, first, shape.empty(target), known, clock)
        for _ in range(TRIES):
            found = stage.next(rng)
            if found is None:
                return None
            chosen, rooms = found
            for gangs in later:
                found = Stage(shape, gangs, rooms, known, clock).next(rng)
                if found is None:
                    break
                chosen, rooms = chosen + found[0], found[1]
            else:
                return chosen
    except (NoTimeLeft, ModelRefused):
        return None
    return None


def _stages(shape: Shape) -> list[list[int]]:
    """Return the gang sizes of each stage, the largest first."""
    sizes = np.unique(shape.gangs)[::-1].tolist()
    many = [int((shape.gangs >= g).sum()) > MOST_JOBS_OF_FIRST for g in sizes]
    first = max(1, many.index(True) if True in many else len(sizes))
    return [sizes[:first], *([g] for g in sizes[first:])]


def schedule_of(
    instance: SjfBcoInstance, shape: Shape, target: int, chosen: list[Chosen]
) -> SjfBcoSolution:
    """Return the schedule of sets of jobs for blocks."""
    servers = [
        [s for s, n in enumerate(instance.server_gpus) if n == capacity]
        for capacity in shape.capacities
    ]
    #: Rows of GPUs of each group: the first, and how many.
    free: dict[Group, list[tuple[int, int]]] = defaultdict(list)
    for c, n in enumerate(shape.gpus):
        free[c, target] = [(0, n)]
    start = [0] * len(shape.gangs)
    placement: list[dict[int, int]] = [{} for _ in start]
    for x in chosen:
        (c, room), capacity = x.group, shape.capacities[x.group[0]]
        for _ in range(x.blocks if x.jobs else 0):
            at = _taken(free[x.group], x.gang)
            free[c, x.room].append((at, x.gang))
            begin = target - room
            for j in x.jobs:
                start[j] = begin
                begin += int(shape.slots[c, j])
                here = servers[c][at // capacity : -(-(at + x.gang) // capacity)]
                placement[j] = dict.fromkeys(here, min(capacity, x.gang))
    return SjfBcoSolution(start_slot=tuple(start), placement=tuple(placement))


def _taken(rows: list[tuple[int, int]], gang: int) -> int:
    """Take a block from the first row that is long enough; return its first GPU."""
    k = next(k for k, (_, gpus) in enumerate(rows) if gpus >= gang)
    at, gpus = rows.pop(k)
    if gpus > gang:
        rows.insert(k, (at + gang, gpus - gang))
    return at
