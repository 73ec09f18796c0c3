"""Annealing of gangs on nested blocks of GPUs, for sizes and capacities in powers of two.

A heuristic that is not in the paper (reconstructed); `blocks.py` has the states,
`block_annealing.py` the moves.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gadgetopt.numbers.compiled import slow_note
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..energetic import energetic_bound
from ..instance import SjfBcoInstance
from .block_annealing import Annealing
from .blocks import (
    Assignment,
    Blocks,
    best_fit,
    blocks_of,
    loads,
    schedule_of,
)


class Cooling(NamedTuple):
    """Settings of a run; `block_annealing.py` says what they do."""

    exponent: float
    hot: float
    cold: float
    charge: int
    #: How far the target lies between the lower bound and the makespan to beat.
    share: float


#: The runs, in turn; after all of them, again with twice the moves.
#: Tuned: `benchmarks/constants.py`.
COOLING = (
    Cooling(exponent=0.25, hot=16.0, cold=1.0, charge=10, share=0.25),
    Cooling(exponent=0.75, hot=4.0, cold=0.3, charge=0, share=0.5),
    Cooling(exponent=1.0, hot=8.0, cold=0.3, charge=4, share=0.25),
    Cooling(exponent=0.5, hot=8.0, cold=0.3, charge=0, share=1.0),
    Cooling(exponent=0.5, hot=5.0, cold=0.3, charge=0, share=0.5),
    Cooling(exponent=0.75, hot=8.0, cold=0.3, charge=0, share=1.0),
    Cooling(exponent=1.0, hot=16.0, cold=0.5, charge=10, share=1.0),
    Cooling(exponent=0.5, hot=4.0, cold=0.3, charge=0, share=1.0),
)
#: The same from `MANY_JOBS` jobs on, where the best fit is too good to be melted, and a run goes on
#: from the one before.
COOLING_OF_MANY = (Cooling(exponent=0.5, hot=1.0, cold=0.3, charge=0, share=0.75),)
#: Jobs from which `COOLING_OF_MANY` is taken. Tuned: `benchmarks/constants.py`.
MANY_JOBS = 2_000
#: Targets of the best fits, over the lower bound; the first that is met is the last.
#: Tuned: `benchmarks/constants.py`.
STARTS = (1.0, 1.0025, 1.005, 1.0075, 1.01, 1.0125, 1.015, 1.02, 1.03, 1.05, 1.1)
#: Moves of a first run for each job, and for few jobs. Tuned: `benchmarks/constants.py`.
MOVES_PER_JOB, FEWEST_MOVES = 10_000, 10_000_000
#: Moves between two looks at the clock; a multiple of the moves at one temperature, 1024.
#: Tuned: `benchmarks/constants.py`.
STEP = 1 << 19


@method(kind="heuristic", reference="nested blocks (reconstructed)")
def nested_blocks(
    instance: SjfBcoInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    moves: int = 100_000_000,
) -> MethodOutcome:
    """Annealing of gangs on nested blocks, sizes in powers of two (not in the paper).

    Return the best schedule that runs of annealing find on nested blocks (reconstructed).

    A run starts from the best of a few best fits and tries to reach a target makespan between a
    lower bound and the best makespan less one. No guarantee. A move takes time in the sizes of the
    gangs that it moves, however many jobs there are.

    Parameters
    ----------
    instance : SjfBcoInstance
    limits : Limits
        `time_s` stops early. Without it the answer is the same on every machine.
    rng : numpy.random.Generator
        Seeds the runs.
    moves : int, default 100,000,000
        Moves of all runs together; fewer if the best makespan reaches the energetic bound.

    Returns
    -------
    MethodOutcome
        No solution if the best schedule ends after the horizon.

    Raises
    ------
    ModelRefused
        If a gang or a capacity is not a power of two, or there are too many GPUs to list.
    """
    return anneal_from_bound(energetic_bound(instance), instance, limits, rng, moves)


def anneal_from_bound(
    lower: int, instance: SjfBcoInstance, limits: Limits, rng: np.random.Generator, moves: int
) -> MethodOutcome:
    """Return what `nested_blocks` does with a lower bound that is known, in slots."""
    search: Search[Assignment] = Search("min", limits)
    blocks = blocks_of(instance)
    start = best = best_of_fits(blocks, lower)
    makespan = int(loads(blocks, best).max())
    search.offer(makespan, best)
    of_run = max(FEWEST_MOVES, MOVES_PER_JOB * len(blocks.gangs))
    many = len(blocks.gangs) >= MANY_JOBS
    cooling = COOLING_OF_MANY if many else COOLING
    # A run need not aim lower than what closes the gap that was asked for. Among many jobs, where
    # runs go on from each other, those that do end lower.
    aims_low = many or limits.rel_gap >= 1
    enough = lower if aims_low else math.floor(lower / (1 - limits.rel_gap))
    left, runs = moves, 0
    while left > 0 and makespan - lower > limits.rel_gap * makespan:
        search.limit_hit = search.clock.limit_hit
        if search.limit_hit is not None:
            break
        setting = cooling[runs % len(cooling)]
        target = lower + int(setting.share * (makespan - 1 - lower))
        run = Annealing(
            blocks,
            start,
            min(max(target, enough), makespan - 1),
            seed=int(rng.integers(2**48)),
            moves=min(left, of_run << (0 if many else runs // len(cooling))),
            hot=setting.hot,
            cold=setting.cold,
            exponent=setting.exponent,
            charge=setting.charge,
        )
        with search.interruptible():
            while not run.over and not search.clock.expired:
                run.step(STEP)
        left -= run.made
        runs += 1
        start = run.best if many else start
        end = int(loads(blocks, run.best).max())
        if search.offer(end, run.best):
            best, makespan = run.best, end
        if search.limit_hit is not None:
            break
    notes = {"runs": runs, "moves": moves - left, **slow_note()}
    limit_hit, trace = search.limit_hit, tuple(search.trace)
    if makespan > instance.horizon_slots:
        reason = (
            f"no schedule with makespan <= horizon_slots ({instance.horizon_slots}); "
            "raise horizon_slots"
        )
        return MethodOutcome(
            limit_hit=limit_hit, notes={**notes, "no_schedule": reason, "makespan": makespan}
        )
    return MethodOutcome(
        schedule_of(blocks, best), makespan, limit_hit=limit_hit, trace=trace, notes=notes
    )


def best_of_fits(blocks: Blocks, lower: int) -> Assignment:
    """Return the best of a few best fits, within targets from a lower bound on."""
    best, least = None, 0
    for share in STARTS:
        fit = best_fit(blocks, int(lower * share))
        end = int(loads(blocks, fit).max())
        if best is None or end < least:
            best, least = fit, end
        if end <= int(lower * share):
            break
    assert best is not None
    return best
