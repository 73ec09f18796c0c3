"""Local search from a rule's placement: tasks move and swap, jobs are placed anew."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from gadgetopt.search.clock import Clock
from gadgetopt.search.watched import Trace
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...subproblems.occupancy import Occupancy
from ...subproblems.orders import Order
from ...subproblems.rules import Rule
from ..baselines.rules import placed_by_rule
from ..instance import PlacementInstance, PlacementSolution
from .moves import (
    improve_job,
    place_anew,
)
from .sharing import share_anew

#: Rules that are tried if the one asked for finds no placement.
_FALLBACKS: tuple[tuple[Rule, Order], ...] = (
    ("lif", "big"),
    ("pack", "big"),
    ("lb", "big"),
    ("random", "big"),
)


@method(kind="heuristic", reference="(reconstructed)")
def local_search(
    instance: PlacementInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    start: Rule = "lif",
    order: Order = "fifo",
    targets: int = 64,
) -> MethodOutcome:
    """A rule's placement, improved task by task and job by job.

    Improve a rule's placement until no move helps.

    A task moves to another server or changes places with a task of another job; a job is placed
    anew; two servers share their tasks in the best way.

    Parameters
    ----------
    start, order : str
        Rule and order of the first placement.
    targets : int
        Servers that are tried for a job at most; of more, this many random ones.
    """
    clock = Clock(limits)
    # No `Search`: the occupancy is the incumbent, and moves are cheaper than a copy of it.
    trace = Trace(limits, clock)

    def note(better: Occupancy) -> None:
        trace.note(mean_completion_s(better), None)

    with clock.phase("start"):
        occupancy = start_placement(instance, clock, rng, start, order)
    if occupancy is None:
        return MethodOutcome(limit_hit="time_s" if clock.expired else None)
    with clock.phase("moves"):
        note(occupancy)
        descend(occupancy, clock, rng, targets, told=note)
    return MethodOutcome(
        solution=PlacementSolution.of(occupancy.servers_of),
        limit_hit="time_s" if clock.expired else None,
        phases_s=clock.phases_s,
        trace=tuple(trace.points),
    )


def mean_completion_s(occupancy: Occupancy) -> float:
    """Return the mean completion time of a placement of all jobs."""
    return occupancy.total() / max(1, len(occupancy.kind))


def start_placement(
    instance: PlacementInstance, clock: Clock, rng: np.random.Generator, rule: Rule, order: Order
) -> Occupancy | None:
    """Return the placement of a rule, or of the first other one that places all jobs in time."""
    for tried, in_order in ((rule, order), *_FALLBACKS):
        part = Clock(clock.limits(0.5))
        occupancy, missing = placed_by_rule(instance, part, rng, tried, in_order)
        if missing is None:
            return occupancy
    return None


def descend(
    occupancy: Occupancy,
    clock: Clock,
    rng: np.random.Generator,
    targets: int,
    jobs: list[int] | None = None,
    told: Callable[[Occupancy], None] | None = None,
) -> None:
    """Make moves until none helps or the time is up; begin with some jobs, or all of them.

    Parameters
    ----------
    told : callable, optional
        Told of each better placement.
    """
    number, servers = len(occupancy.kind), len(occupancy.jobs_on)
    waiting = deque(rng.permutation(number).tolist() if jobs is None else jobs)
    queued = set(waiting)
    while waiting and not clock.expired:
        j = waiting.popleft()
        queued.discard(j)
        among: Sequence[int] = range(servers)
        if servers > targets:
            drawn = set(rng.integers(servers, size=targets).tolist())
            among = sorted(drawn | set(occupancy.servers_of[j]))
        saved = improve_job(occupancy, j, among) + place_anew(occupancy, j, among)
        a = rng.choice(list(occupancy.servers_of[j]))
        b = rng.choice(list(among))
        if a != b:
            saved += share_anew(occupancy, (int(a), int(b)))
        if saved:
            if told is not None:
                told(occupancy)
            for k in {k for s in occupancy.servers_of[j] for k in occupancy.jobs_on[s]}:
                if k not in queued:
                    queued.add(k)
                    waiting.append(k)
