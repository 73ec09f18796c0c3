r"""The evaluator: the mean job completion time of a plan in slots, in seconds, exactly.

In a slot in which job j lies on servers S, an iteration takes

.. math::
    t_j = t^0_j \Bigl(1 + \max_{s \in S} \sum_{k \ne j} \alpha_{jk} w_{ks}\Bigr)
    + \beta^{rack}_j [\text{several servers}]
    + (\beta^{cross}_j - \beta^{rack}_j) [\text{several racks}],

and it does :math:`\lfloor \Delta / t_j \rfloor` iterations. With boards or a network what follows
the first term is :math:`\max(V_j / b, \beta_j(L))`: b is the slowest of its rings inside servers, L
the level of its two servers that are farthest from each other (`architecture`). A job is finished
at the end of the slot in which it has done :math:`W_j`; the objective is the mean time from arrival
until then. A finished job that is still given servers holds them, and disturbs.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction

from gadgetopt.numbers.tolerance import Number
from gadgetopt.system.result import Evaluation, Violation

from ..subproblems.architecture import Seats, wrong_seats
from .instance import QueueingInstance, QueueingSolution, Running
from .subproblems.seats import seated


def evaluate(instance: QueueingInstance, solution: QueueingSolution) -> Evaluation:
    """Recompute the mean job completion time, and which constraints a plan violates.

    Returns
    -------
    Evaluation
        The objective is None if a job is not finished in time, or runs where it cannot be timed.
        Components: makespan in seconds, mean wait before the first slot in seconds, GPU-slots in
        use until the makespan as a share, moves of running jobs, interruptions.
    """
    violations = (*_misplaced(instance, solution), *_misseated(instance, solution))
    if violations:
        return Evaluation(None, violations)
    seats = seats_of(instance, solution)
    done = [0] * len(instance.jobs)
    finished: dict[int, int] = {}
    started: dict[int, int] = {}
    for slot, running in enumerate(solution.slots):
        for job, iterations in iterations_in_slot(instance, running, seats[slot]).items():
            started.setdefault(job, slot)
            done[job] += iterations
            if done[job] >= instance.jobs[job].iterations:
                finished.setdefault(job, slot)
    violations = (
        *(
            Violation("unfinished", f"jobs[{j}]", job.iterations - done[j])
            for j, job in enumerate(instance.jobs)
            if j not in finished
        ),
        *(() if instance.migration else _moved(instance, solution, finished)),
    )
    if len(finished) < len(instance.jobs):
        return Evaluation(None, violations)
    if not instance.jobs:
        return Evaluation(0, violations)
    return Evaluation(
        _mean_completion_s(instance, finished),
        violations,
        _components(instance, solution, started, finished),
    )


def _mean_completion_s(instance: QueueingInstance, finished: dict[int, int]) -> Number:
    total = sum(
        (
            (finished[j] + 1) * instance.slot_s - job.arrival_s
            for j, job in enumerate(instance.jobs)
        ),
        Fraction(0),
    )
    mean = total / len(instance.jobs)
    return mean.numerator if mean.denominator == 1 else mean


def _components(
    instance: QueueingInstance,
    solution: QueueingSolution,
    started: dict[int, int],
    finished: dict[int, int],
) -> dict[str, Number]:
    slot_s, jobs = instance.slot_s, instance.jobs
    last = max(finished.values()) + 1
    waits = sum((started[j] * slot_s - job.arrival_s for j, job in enumerate(jobs)), Fraction(0))
    busy = sum(
        n * jobs[r.job].gpus_per_task
        for running in solution.slots[:last]
        for r in running
        for _, n in r.tasks
    )
    moves = interruptions = 0
    before: dict[int, Running] = {}
    for slot, running in enumerate(solution.slots):
        now = {r.job: r for r in running}
        moves += sum(j in before and _home(before[j]) != _home(now[j]) for j in now)
        interruptions += sum(j not in now and finished[j] >= slot for j in before)
        before = now
    return {
        "makespan_s": float(last * slot_s),
        "mean_wait_s": float(waits / len(jobs)),
        "gpu_utilisation": busy / (last * instance.total_gpus) if instance.total_gpus else 0,
        "moves": moves,
        "interruptions": interruptions,
    }


def seats_of(instance: QueueingInstance, solution: QueueingSolution) -> list[dict[int, Seats]]:
    """Return the GPUs of the jobs of each slot, by server; none without boards."""
    found: list[dict[int, Seats]] = []
    before: dict[int, tuple[Running, Seats]] = {}
    for running in solution.slots:
        if not instance.boards:
            found.append({})
            continue
        if any(r.gpus for r in running):
            now = {
                r.job: {s: gpus for (s, _), gpus in zip(r.tasks, r.gpus, strict=True)}
                for r in running
            }
        else:
            now = seated(instance, running, before)
        found.append(now)
        before = {r.job: (r, now[r.job]) for r in running}
    return found


def iterations_in_slot(
    instance: QueueingInstance,
    running: tuple[Running, ...],
    seats: Mapping[int, Seats] | None = None,
) -> dict[int, int]:
    """Return how many iterations each job that runs in a slot can do there.

    Parameters
    ----------
    instance : QueueingInstance
    running : tuple of Running
    seats : mapping, optional
        With boards: the GPUs of each job, by server.
    """
    on_server: dict[int, Counter[int]] = {}
    weight_of: dict[tuple[int, int], int] = {}
    for r in running:
        for s, n in r.tasks:
            weight = n if instance.per_task else 1
            weight_of[r.job, s] = weight
            on_server.setdefault(s, Counter())[instance.jobs[r.job].type] += weight
    iterations = {}
    for r in running:
        job = instance.jobs[r.job]
        slowdown = Fraction(0)
        for s, _ in r.tasks:
            others = Counter(on_server[s])
            others[job.type] -= weight_of[r.job, s]
            neighbours = tuple(others[k] for k in range(instance.num_types))
            measured = instance.measured_slowdowns.get((job.type, neighbours))
            if measured is None:
                table = instance.interference[job.type]
                measured = sum((table[k] * n for k, n in enumerate(neighbours)), Fraction(0))
            slowdown = max(slowdown, measured)
        iteration_s = job.base_iteration_s * (1 + slowdown)
        if instance.has_architecture:
            iteration_s += _ring_s(instance, r, (seats or {}).get(r.job, {}))
        else:
            if len(r.tasks) > 1:
                iteration_s += job.rack_comm_s
            if len({instance.servers[s].rack for s, _ in r.tasks}) > 1:
                iteration_s += job.cross_comm_s - job.rack_comm_s
        iterations[r.job] = int(instance.slot_s // iteration_s)
    return iterations


def _ring_s(instance: QueueingInstance, r: Running, seats: Seats) -> Fraction:
    """Return the time of a job's ring: that of its slowest hop."""
    pairs = itertools.combinations([s for s, _ in r.tasks], 2)
    level = max((instance.level(s, other) for s, other in pairs), default=0)
    return max(instance.inside_s(r.job, seats), instance.span_s(r.job, level))


def _misseated(instance: QueueingInstance, solution: QueueingSolution) -> Iterator[Violation]:
    """Yield the GPUs that jobs cannot have: all jobs name theirs, or none does."""
    named = [r for running in solution.slots for r in running if r.gpus]
    for slot, running in enumerate(solution.slots if named else ()):
        yield from wrong_seats(
            instance, f"slots[{slot}], ", [(r.job, r.tasks, r.gpus) for r in running]
        )


def _misplaced(instance: QueueingInstance, solution: QueueingSolution) -> Iterator[Violation]:
    if len(solution.slots) > instance.num_slots:
        yield Violation("horizon", "slots", len(solution.slots) - instance.num_slots)
    for slot, running in enumerate(solution.slots):
        where = f"slots[{slot}]"
        for j, times in Counter(r.job for r in running).items():
            if j >= len(instance.jobs):
                yield Violation("unknown_job", where, j - len(instance.jobs) + 1)
            elif times > 1:
                yield Violation("repeated_job", f"{where}, job {j}", times - 1)
        gpus: Counter[int] = Counter()
        cpus: Counter[int] = Counter()
        for r in running:
            if r.job >= len(instance.jobs):
                continue
            job = instance.jobs[r.job]
            early = instance.first_slots[r.job] - slot
            if early > 0:
                yield Violation("arrival", f"{where}, job {r.job}", early)
            placed = sum(n for _, n in r.tasks)
            if placed != job.num_tasks:
                yield Violation("gang", f"{where}, job {r.job}", abs(placed - job.num_tasks))
            for s, times in Counter(s for s, _ in r.tasks).items():
                if times > 1:
                    yield Violation(
                        "repeated_server", f"{where}, job {r.job}, server {s}", times - 1
                    )
            for s, n in r.tasks:
                if s >= len(instance.servers):
                    over = s - len(instance.servers) + 1
                    yield Violation("unknown_server", f"{where}, job {r.job}", over)
                gpus[s] += n * job.gpus_per_task
                cpus[s] += n * job.cpus_per_task
        for s, server in enumerate(instance.servers):
            if gpus[s] > server.gpus:
                yield Violation("gpus", f"{where}, server {s}", gpus[s] - server.gpus)
            if cpus[s] > server.cpus:
                yield Violation("cpus", f"{where}, server {s}", cpus[s] - server.cpus)


def _moved(
    instance: QueueingInstance, solution: QueueingSolution, finished: dict[int, int]
) -> Iterator[Violation]:
    """Yield the slots in which a job that has started, and is not finished, is elsewhere."""
    home: dict[int, object] = {}
    for slot, running in enumerate(solution.slots):
        now = {r.job: _home(r) for r in running}
        for j, tasks in now.items():
            home.setdefault(j, tasks)
        for j, tasks in home.items():
            if slot <= finished.get(j, len(solution.slots)) and now.get(j) != tasks:
                yield Violation("moved", f"slots[{slot}], job {j}", 1)


def _home(r: Running) -> object:
    """Return where a job is: servers, tasks, and GPUs if they are named."""
    if not r.gpus:
        return sorted(r.tasks)
    return sorted((s, n, sorted(gpus)) for (s, n), gpus in zip(r.tasks, r.gpus, strict=True))
