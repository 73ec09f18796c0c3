"""Quick feasible schedules: horizons for exact models, and repair of relaxed schedules.

Both are ours (reconstructed); the paper's algorithm is in `algorithms/sjf_bco.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from gadgetopt.search.clock import Clock

from ..evaluate import evaluate
from ..instance import SjfBcoInstance, SjfBcoSolution


def makespan_of(instance: SjfBcoInstance, solution: SjfBcoSolution) -> int | None:
    """Return the simulated makespan; None if the schedule violates a constraint."""
    evaluation = evaluate(instance, solution)
    return int(evaluation.objective) if evaluation.feasible and evaluation.objective else None


def upper_bound_schedule(instance: SjfBcoInstance, clock: Clock | None = None) -> SjfBcoSolution:
    """Return the best of a few list schedules in which no two spread jobs ever share a server.

    Without sharing every level is 1 and every duration is known in advance. So the schedule is
    always feasible, except that it may end after `horizon_slots`.

    Parameters
    ----------
    instance : SjfBcoInstance
    clock : Clock, optional
        Ends with the best schedule so far.

    Raises
    ------
    TimeoutError
        If time is up before the first schedule.
    """
    clock = clock or Clock()
    rates = instance.rates
    jobs = range(len(instance.jobs))
    duration = rates.exec_min
    orders: list[Callable[[int], tuple[int, ...]]] = [
        lambda j: (-int(duration[j]), j),
        lambda j: (-rates.gpus[j] * int(duration[j]), j),
        lambda j: (-rates.gpus[j], -int(duration[j]), j),
        lambda j: (rates.gpus[j], j),
    ]
    schedules: list[tuple[int, SjfBcoSolution]] = []
    for order in orders:
        for spread_freely in (False, True):
            try:
                made = _list_schedule(instance, sorted(jobs, key=order), spread_freely, clock)
            except TimeoutError:
                if not schedules:
                    raise
                break
            schedules.append(made)
    return min(schedules, key=lambda entry: entry[0])[1]


def default_horizon(instance: SjfBcoInstance) -> int:
    """Return the horizon of an exact model: a feasible makespan, at most `horizon_slots`."""
    return min(_end(instance, upper_bound_schedule(instance)), instance.horizon_slots)


def _end(instance: SjfBcoInstance, solution: SjfBcoSolution) -> int:
    """Return the makespan of a feasible schedule that may end after the instance's horizon."""
    objective = evaluate(instance, solution).objective
    assert objective is not None
    return int(objective)


def _list_schedule(
    instance: SjfBcoInstance, order: list[int], spread_freely: bool, clock: Clock
) -> tuple[int, SjfBcoSolution]:
    """Start every job that fits at each completion, in order; return makespan and schedule.

    Raises
    ------
    TimeoutError
        If time is up first.
    """
    free = list(instance.server_gpus)
    has_spread = [False] * len(free)
    start: dict[int, int] = {}
    placement: dict[int, dict[int, int]] = {}
    running: list[tuple[int, int]] = []
    now, waiting = 0, order
    while waiting:
        if clock.expired:
            raise TimeoutError
        held = []
        for j in waiting:
            found = _placement(instance, j, free, has_spread, spread_freely)
            if found is None:
                held.append(j)
                continue
            end, placement[j] = now + found[0], found[1]
            start[j] = now
            running.append((end, j))
            for s, count in found[1].items():
                free[s] -= count
                has_spread[s] |= len(found[1]) > 1
        waiting = held
        if waiting:
            now = min(running)[0]
        for _, j in [entry for entry in running if entry[0] <= now]:
            for s, count in placement[j].items():
                free[s] += count
                has_spread[s] &= len(placement[j]) == 1
        running = [entry for entry in running if entry[0] > now]
    jobs = range(len(order))
    return max(end for end, _ in running), SjfBcoSolution(
        start_slot=tuple(start[j] for j in jobs), placement=tuple(placement[j] for j in jobs)
    )


def _placement(
    instance: SjfBcoInstance, j: int, free: list[int], has_spread: list[bool], spread_freely: bool
) -> tuple[int, dict[int, int]] | None:
    """Return duration and placement on free GPUs: the tightest server, else unshared servers."""
    rates, g = instance.rates, instance.jobs[j].gpus
    local = rates.duration(j, 1, 0) if 1 in rates.server_counts(j) else None
    if local is not None:
        fitting = [s for s, f in enumerate(free) if f >= g]
        if fitting:
            return local, {min(fitting, key=lambda s: free[s]): g}
        if not spread_freely:
            return None
    unshared = sorted(
        (s for s, f in enumerate(free) if f and not has_spread[s]), key=lambda s: -free[s]
    )
    options = [
        (duration, r)
        for r in rates.server_counts(j)
        if 2 <= r <= len(unshared) and sum(free[s] for s in unshared[:r]) >= g
        if (duration := rates.duration(j, r, 1)) is not None
    ]
    if not options:
        return None
    duration, r = min(options)
    counts = dict.fromkeys(unshared[:r], 1)
    rest = g - r
    for s in counts:
        more = min(rest, free[s] - 1)
        counts[s] += more
        rest -= more
    return duration, counts


def dispatch(instance: SjfBcoInstance, solution: SjfBcoSolution) -> SjfBcoSolution | None:
    """Keep placements and start order; start each job as soon as its servers have room.

    This turns a schedule with too short durations, such as a solution of CP-L, into a feasible one.
    Returns None if jobs stall each other forever.
    """
    rates = instance.rates
    placement = solution.placement
    jobs = range(len(instance.jobs))
    free = list(instance.server_gpus)
    remaining = [job.iterations for job in instance.jobs]
    waiting = sorted(jobs, key=lambda j: (solution.start_slot[j], j))
    start = dict.fromkeys(jobs, 0)
    active: list[int] = []
    now = 0
    while waiting or active:
        for j in list(waiting):
            if all(free[s] >= k for s, k in placement[j].items()):
                waiting.remove(j)
                active.append(j)
                start[j] = now
                for s, k in placement[j].items():
                    free[s] -= k
        sharing: defaultdict[int, int] = defaultdict(int)
        for j in active:
            for s in placement[j]:
                sharing[s] += len(placement[j]) > 1
        rate = {
            j: rates.rate(j, len(placement[j]), max(sharing[s] for s in placement[j]))
            if len(placement[j]) > 1
            else rates.rate(j, 1, 0)
            for j in active
        }
        steps = [-(-remaining[j] // rate[j]) for j in active if rate[j]]
        if not steps:
            return None
        now += min(steps)
        for j in list(active):
            remaining[j] -= rate[j] * min(steps)
            if remaining[j] <= 0:
                active.remove(j)
                for s, k in placement[j].items():
                    free[s] += k
    return SjfBcoSolution(start_slot=tuple(start[j] for j in jobs), placement=placement)
