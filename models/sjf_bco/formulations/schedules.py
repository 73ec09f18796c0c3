"""Enumeration of the set Y of all complete schedules of a tiny instance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, product

from ..evaluate import IterationClock, simulate
from ..instance import SjfBcoInstance, SjfBcoSolution
from ..size_limits import refuse_many
from .time_indexed import shortest

#: Limits on the combinations of placements and starts, and on schedules: enumeration and model
#: take a few seconds each. Tuned: `benchmarks/constants.py`.
MOST_COMBINATIONS = 100_000
MOST_SCHEDULES = 10_000

#: A placement, and the shortest duration on its number of servers.
Way = tuple[dict[int, int], int]
#: Start, end and placement of a job.
Run = tuple[int, int, Mapping[int, int]]


@dataclass(frozen=True)
class CompleteSchedule:
    """One element y^k of Y: a decision and the simulated completion of every job."""

    decision: SjfBcoSolution
    completion: tuple[int, ...]


def placements(instance: SjfBcoInstance, j: int) -> list[dict[int, int]]:
    """Return all placements of the gang of job j on the servers.

    Raises
    ------
    ModelRefused
        If there are more than `MOST_COMBINATIONS`.
    """
    capacities = instance.server_gpus
    # GPUs of all later servers, for each server.
    beyond = [*accumulate(reversed(capacities[1:]), initial=0)][::-1]
    ways: list[dict[int, int]] = []
    begun: list[tuple[int, int, dict[int, int]]] = [(0, instance.jobs[j].gpus, {})]
    while begun:
        s, left, y = begun.pop()
        if left == 0:
            ways.append(y)
            continue
        counts = range(max(0, left - beyond[s]), min(left, capacities[s]) + 1)
        known = len(ways) + len(begun) + len(counts)  # each leads to a placement
        refuse_many(known, MOST_COMBINATIONS, f"placements of job {j}: at least")
        begun += [(s + 1, left - k, y | {s: k} if k else y) for k in counts]
    return ways


def all_schedules(instance: SjfBcoInstance, horizon: int) -> list[CompleteSchedule]:
    """Return every feasible schedule with integer starts that completes within the horizon.

    All integer starts are tried (reconstructed), since starts at completions alone can miss the
    optimum.

    Raises
    ------
    ModelRefused
        If there are more than `MOST_COMBINATIONS` combinations of placements and starts, or more
        than `MOST_SCHEDULES` schedules.
    """
    ways = [_ways(instance, j, horizon) for j in range(len(instance.jobs))]
    combinations = math.prod(sum(horizon - d + 1 for _, d in w) for w in ways)
    what = f"horizon {horizon}: combinations of placements and starts"
    refuse_many(combinations, MOST_COMBINATIONS, f"{what} (enumeration is for tiny instances)")
    found = []
    for chosen in product(*ways):
        placement = tuple(y for y, _ in chosen)
        clock = IterationClock(instance, placement)
        for runs in _runs(instance, chosen, horizon, []):
            decision = SjfBcoSolution(start_slot=tuple(a for a, _, _ in runs), placement=placement)
            finished = [c for c in simulate(instance, decision, clock).completion if c is not None]
            if len(finished) < len(runs) or max(finished) > horizon:
                continue
            schedule = CompleteSchedule(decision, tuple(finished))
            if _fits(instance, [(a, c, y) for (a, _, y), c in zip(runs, finished, strict=True)]):
                found.append(schedule)
                refuse_many(len(found), MOST_SCHEDULES, f"horizon {horizon}: schedules, at least")
    return found


def _ways(instance: SjfBcoInstance, j: int, horizon: int) -> list[Way]:
    """Return the placements on which job j can complete within the horizon."""
    timed = ((y, shortest(instance, j, len(y))) for y in placements(instance, j))
    return [(y, d) for y, d in timed if d is not None and d <= horizon]


def _runs(
    instance: SjfBcoInstance,
    chosen: tuple[Way, ...],
    horizon: int,
    runs: list[Run],
) -> Iterator[list[Run]]:
    """Yield the combinations of runs that fit if every job takes its shortest duration."""
    if len(runs) == len(chosen):
        yield runs
        return
    y, d = chosen[len(runs)]
    for a in range(horizon - d + 1):
        longer = [*runs, (a, a + d, y)]
        if _fits(instance, longer):
            yield from _runs(instance, chosen, horizon, longer)


def _fits(instance: SjfBcoInstance, runs: list[Run]) -> bool:
    """Return True if no server exceeds its capacity; use is largest just after a start."""
    return all(
        sum(y.get(s, 0) for a, c, y in runs if a <= t < c) <= capacity
        for t in {a for a, _, _ in runs}
        for s, capacity in enumerate(instance.server_gpus)
    )


def assign_gpus(
    instance: SjfBcoInstance, schedule: CompleteSchedule
) -> list[list[tuple[int, int]]]:
    """Return the GPUs (server, index) of each job: on each server, the first idle ones."""
    decision = schedule.decision
    idle_at = [[0] * capacity for capacity in instance.server_gpus]
    held: list[list[tuple[int, int]]] = [[] for _ in decision.start_slot]
    for j in sorted(range(len(held)), key=lambda j: decision.start_slot[j]):
        for s, count in decision.placement[j].items():
            idle = [g for g, t in enumerate(idle_at[s]) if t <= decision.start_slot[j]]
            for g in idle[:count]:
                idle_at[s][g] = schedule.completion[j]
                held[j].append((s, g))
    return held
