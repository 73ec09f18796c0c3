"""Gangs packed level by level towards a makespan, for sizes and capacities in powers of two.

A heuristic that is not in the paper (reconstructed); `levels` has the programs.
"""

from __future__ import annotations

import math

import numpy as np

from gadgetopt.numbers.compiled import slow_note
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..energetic import energetic_bound
from ..instance import SjfBcoInstance, SjfBcoSolution
from ..size_limits import refuse_many
from .blocks import blocks_of, loads
from .blocks import schedule_of as fitted
from .levels.packing import packed, schedule_of
from .levels.shape import shape_of
from .nested_blocks import best_of_fits

#: Most jobs, and most slots of a target, for which tables of rooms are small.
#: Tuned: `benchmarks/constants.py`.
MOST_JOBS, MOST_SLOTS = 500, 20_000
#: Share of the time left that a target may take. Tuned: `benchmarks/constants.py`.
SHARE = 0.6


@method(kind="heuristic", reference="gangs level by level (reconstructed)")
def gang_levels(
    instance: SjfBcoInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Integer programs of gang sizes, from the largest down (not in the paper).

    Return a schedule within the first target makespan, from the energetic bound on, for which all
    gangs are packed, or else the best fit of `nested_blocks` (reconstructed). No guarantee.

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
        No solution if the best fit ends after the horizon, too.

    Raises
    ------
    ModelRefused
        If a gang or a capacity is not a power of two, or there are too many jobs or slots.
    """
    lower, blocks = energetic_bound(instance), blocks_of(instance)
    fit = best_of_fits(blocks, lower)
    makespan = int(loads(blocks, fit).max())
    upper = min(makespan, instance.horizon_slots + 1)
    found = pack_from_bound(lower, upper, instance, limits, rng)
    if found.solution is None and makespan <= instance.horizon_slots:
        found.solution, found.claimed_objective = fitted(blocks, fit), makespan
    return found


def pack_from_bound(
    lower: int, upper: int, instance: SjfBcoInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Return what `gang_levels` does from a lower bound on, below an upper one."""
    refuse_many(len(instance.jobs), MOST_JOBS, "jobs to be packed by programs")
    refuse_many(lower, MOST_SLOTS, "slots to be filled by programs")
    search: Search[SjfBcoSolution] = Search("min", limits)
    shape = shape_of(instance)
    # A target need not be lower than what closes the gap that was asked for.
    first = math.floor(lower / (1 - limits.rel_gap)) if limits.rel_gap < 1 else lower
    tried = 0
    with search.interruptible():
        for target in range(first, min(upper, MOST_SLOTS)):
            if search.clock.expired:
                break
            tried += 1
            chosen = packed(shape, target, Clock(search.clock.limits(SHARE)), rng)
            if chosen is not None:
                search.offer(*schedule_of(instance, shape, target, chosen))
                break
    search.limit_hit = search.limit_hit or search.clock.limit_hit
    notes = {"targets": tried, **slow_note()}
    value = None if search.best is None else int(search.value)
    return MethodOutcome(search.best, value, limit_hit=search.limit_hit, notes=notes)
