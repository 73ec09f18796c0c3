"""Gangs packed level by level within a target makespan, and the schedule that they make.

The levels of the largest gangs, up to some jobs, make the first stage, every other level one of its
own. A stage leaves rooms on GPUs to the next. Where a later stage has no solution, the first is
asked for another one. (reconstructed)
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock

from ...instance import SjfBcoInstance, SjfBcoSolution
from .patterns import Known, NoTimeLeft
from .shape import Group, Shape
from .stage import Chosen, Stage

#: Most jobs of the first stage. Tuned: `benchmarks/constants.py`.
MOST_JOBS_OF_FIRST = 50
#: Solutions of the first stage that are tried for a target. Tuned: `benchmarks/constants.py`.
TRIES = 12


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
) -> tuple[int, SjfBcoSolution]:
    """Return the makespan and the schedule of sets of jobs for blocks."""
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
    makespan = target - min(x.room for x in chosen)
    return makespan, SjfBcoSolution(start_slot=tuple(start), placement=tuple(placement))


def _taken(rows: list[tuple[int, int]], gang: int) -> int:
    """Take a block from the first row that is long enough; return its first GPU."""
    k = next(k for k, (_, gpus) in enumerate(rows) if gpus >= gang)
    at, gpus = rows.pop(k)
    if gpus > gang:
        rows.insert(k, (at + gang, gpus - gang))
    return at
