"""The set Y of all complete schedules of a tiny instance, enumerated (reconstructed)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from gadgetopt.errors import ModelRefused

from .evaluate import simulate
from .instance import SjfBcoInstance, SjfBcoSolution

#: More combinations of placements and starts than this are not enumerated.
MOST_COMBINATIONS = 200_000


@dataclass(frozen=True)
class CompleteSchedule:
    """One element y^k of Y: a decision and the completion of every job when it is carried out."""

    decision: SjfBcoSolution
    completion: tuple[int, ...]


def placements(instance: SjfBcoInstance, j: int) -> list[dict[int, int]]:
    """All ways to put the gang of job j on the servers."""

    def ways(gpus: int, s: int) -> Iterator[dict[int, int]]:
        if s == len(instance.server_gpus):
            if gpus == 0:
                yield {}
            return
        for count in range(min(gpus, instance.server_gpus[s]), -1, -1):
            for rest in ways(gpus - count, s + 1):
                yield ({s: count} if count else {}) | rest

    return list(ways(instance.jobs[j].gpus, 0))


def all_schedules(instance: SjfBcoInstance, horizon: int) -> list[CompleteSchedule]:
    """Return every feasible schedule with integer starts that completes within the horizon.

    All integer starts are tried: starting only at completions of other jobs can miss the optimum.

    Raises
    ------
    ModelRefused
        If there are more than `MOST_COMBINATIONS` combinations of placements and starts.
    """
    ways = [placements(instance, j) for j in range(len(instance.jobs))]
    combinations = math.prod(len(w) * horizon for w in ways)
    if combinations > MOST_COMBINATIONS:
        raise ModelRefused(
            f"horizon {horizon}: {combinations:,} combinations of placements and starts, "
            f"expected at most {MOST_COMBINATIONS:,} (enumeration is for tiny instances)"
        )
    found = []
    for placement in product(*ways):
        for starts in product(range(horizon), repeat=len(ways)):
            decision = SjfBcoSolution(start_slot=starts, placement=placement)
            finished = [c for c in simulate(instance, decision).completion if c is not None]
            if len(finished) < len(starts) or max(finished) > horizon:
                continue
            schedule = CompleteSchedule(decision, tuple(finished))
            if _fits(instance, schedule):
                found.append(schedule)
    return found


def _fits(instance: SjfBcoInstance, schedule: CompleteSchedule) -> bool:
    """Whether no server is over its capacity; use is largest just after a start."""
    decision = schedule.decision
    runs = list(zip(decision.start_slot, schedule.completion, decision.placement, strict=True))
    return all(
        sum(y.get(s, 0) for a, c, y in runs if a <= t < c) <= capacity
        for t in set(decision.start_slot)
        for s, capacity in enumerate(instance.server_gpus)
    )


def assign_gpus(
    instance: SjfBcoInstance, schedule: CompleteSchedule
) -> list[list[tuple[int, int]]]:
    """Return the GPUs (server, index) each job holds: on each server, the first that are idle."""
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
