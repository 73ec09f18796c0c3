"""Annealing of start order, placement and delay, for few jobs on a small cluster.

A heuristic that is not in the paper (reconstructed); `order_loops.py` has the states,
the moves and how a state becomes a schedule.
"""

from __future__ import annotations

import math

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.compiled import slow_note
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..energetic import energetic_bound
from ..instance import SjfBcoInstance, SjfBcoSolution
from ..subproblems.placements import placements_of
from .order_loops import (
    CHOICE,
    ORDER,
    STALLED,
    Data,
    anneal,
    starts,
)

#: Moves of a run, and between two looks at the clock: a multiple of the 256 at one temperature.
#: Tuned: `benchmarks/constants.py`.
MOVES_OF_RUN, STEP = 150_000, 1 << 14
#: First and last temperature, in cost. Tuned: `benchmarks/constants.py`.
HOT, COLD = 300.0, 10.0


@method(kind="heuristic", reference="order annealing (reconstructed)")
def order_annealing(
    instance: SjfBcoInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    moves: int = 2_000_000,
) -> MethodOutcome:
    """Annealing of start order, placement and delay, for few jobs (not in the paper).

    Return the best schedule of runs of annealing from random states (reconstructed).

    Every second run has delays. No guarantee. A move simulates the schedule, in time O(jobs^2
    servers).

    Parameters
    ----------
    instance : SjfBcoInstance
    limits : Limits
        `time_s` stops early. Without it the answer is the same on every machine.
    rng : numpy.random.Generator
        Draws the first states and seeds the runs.
    moves : int, default 2,000,000
        Moves of all runs together; fewer if the makespan reaches the energetic bound.

    Returns
    -------
    MethodOutcome
        No solution if the best schedule ends after the horizon.

    Raises
    ------
    ModelRefused
        If there are too many placements to list.
    """
    return anneal_from_bound(energetic_bound(instance), instance, limits, rng, moves)


def anneal_from_bound(
    lower: int, instance: SjfBcoInstance, limits: Limits, rng: np.random.Generator, moves: int
) -> MethodOutcome:
    """Return what `order_annealing` does with a lower bound that is known, in slots."""
    search: Search[Ints] = Search("min", limits)
    data = _data(instance)
    made = runs = 0
    while made < moves and search.value > lower and search.limit_hit is None:
        state, seed = _random_state(data, rng), int(rng.integers(2**48))
        length, begin, cooling = min(MOVES_OF_RUN, moves - made), 0, _cooling(MOVES_OF_RUN)
        while begin < length and search.value > lower and search.limit_hit is None:
            end = min(begin + STEP, length)
            with search.interruptible():
                found, ends, seed = anneal(
                    data, state, seed, begin, end, HOT, cooling, runs % 2 == 1, lower
                )
                if ends < STALLED:
                    search.offer(int(ends), found)
                made, begin = made + end - begin, end
                search.limit_hit = search.clock.limit_hit
        runs += 1
    notes = {"runs": runs, "moves": made, **slow_note()}
    limit_hit = None if search.value <= lower else search.limit_hit
    if search.best is None or search.value > instance.horizon_slots:
        reason = (
            f"no schedule with makespan <= horizon_slots ({instance.horizon_slots}); "
            "raise horizon_slots"
        )
        return MethodOutcome(limit_hit=limit_hit, notes={**notes, "no_schedule": reason})
    schedule, trace = _schedule(data, search.best), tuple(search.trace)
    return MethodOutcome(schedule, search.value, limit_hit=limit_hit, trace=trace, notes=notes)


def _cooling(moves: int) -> float:
    return math.log(COLD / HOT) / moves


def _data(instance: SjfBcoInstance) -> Data:
    found = placements_of(instance)
    return Data(
        capacity=np.array(instance.server_gpus, dtype=np.int64),
        options=np.column_stack([found.gpus, (found.gpus > 0).sum(axis=1)]),
        first_option=np.array(found.first, dtype=np.int64),
        work=np.array(instance.rates.iterations, dtype=np.int64),
        rates=instance.rates.table(),
    )


def _random_state(data: Data, rng: np.random.Generator) -> Ints:
    state = np.zeros((3, len(data.work)), dtype=np.int64)
    state[ORDER] = rng.permutation(len(data.work))
    state[CHOICE] = rng.integers(np.diff(data.first_option))
    return state


def _schedule(data: Data, state: Ints) -> SjfBcoSolution:
    jobs = np.zeros((4, len(data.work)), dtype=np.int64)
    starts(data, state, jobs, np.zeros((2, len(data.capacity)), dtype=np.int64))
    chosen = data.options[data.first_option[:-1] + state[CHOICE], :-1]
    return SjfBcoSolution(
        start_slot=tuple(jobs[0].tolist()),
        placement=tuple({s: int(row[s]) for s in np.flatnonzero(row).tolist()} for row in chosen),
    )
