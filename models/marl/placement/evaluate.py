r"""The evaluator: the mean job completion time of a placement, in seconds, as an exact fraction.

Training is synchronous, so a job is as slow as its slowest task. With :math:`w_{ks} = 1` where job
k has a task on server s, an iteration of job j takes

.. math::
    t_j = t^0_j \Bigl(1 + \max_{s: w_{js} = 1} \sum_{k \ne j} \alpha_{jk} w_{ks}\Bigr)
    + \beta^{rack}_j [\text{several servers}]
    + (\beta^{cross}_j - \beta^{rack}_j) [\text{several racks}],

and the objective is the mean of :math:`W_j t_j`. With boards what follows the first term is no less
than :math:`V_j / b`, b the slowest of the job's rings inside servers (`architecture`). With
`per_task`, :math:`w_{ks}` is the number of
tasks of k on s. A measured slowdown replaces the sum among exactly its neighbours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from gadgetopt.numbers.tolerance import Number
from gadgetopt.pieces.server_boards import fastest
from gadgetopt.system.result import Evaluation, Violation

from ..subproblems.architecture import Seats, wrong_seats
from .instance import PlacementInstance, PlacementSolution


@dataclass(frozen=True)
class JobTime:
    """What a placement means for one job.

    Attributes
    ----------
    slowdown : Fraction
        The largest relative slowdown of its tasks.
    bottleneck : int
        The first server on which a task is slowed down that much.
    servers, racks : int
        How many it lies on.
    iteration_s, completion_s : Fraction
        t_j and W_j t_j.
    """

    slowdown: Fraction
    bottleneck: int
    servers: int
    racks: int
    iteration_s: Fraction
    completion_s: Fraction


def evaluate(instance: PlacementInstance, solution: PlacementSolution) -> Evaluation:
    """Recompute the mean job completion time, and which constraints a placement violates.

    Returns
    -------
    Evaluation
        The objective is None if a job has no tasks on servers that exist, or boards have no room
        for them. Components: makespan in
        seconds, mean slowdown over the jobs, sum of all slowdowns over servers and jobs, share of
        the GPUs in use, servers used, jobs on several servers, jobs on several racks.
    """
    violations = tuple(_violations(instance, solution))
    undefined = {"unknown_job", "unplaced_job", "unknown_server", "repeated_server"}
    if any(instance.boards or v.constraint in undefined for v in violations):
        return Evaluation(None, violations)
    times = job_times(instance, solution)
    if not times:
        return Evaluation(0, violations)
    mean = sum((t.completion_s for t in times), Fraction(0)) / len(times)
    used = {s for pairs in solution.tasks for s, _ in pairs}
    gpus = sum(
        n * job.gpus_per_task
        for job, pairs in zip(instance.jobs, solution.tasks, strict=True)
        for _, n in pairs
    )
    return Evaluation(
        _whole(mean),
        violations,
        {
            "makespan_s": float(max(t.completion_s for t in times)),
            "mean_slowdown": float(sum(t.slowdown for t in times) / len(times)),
            "total_interference": float(
                sum(sum(on.values(), Fraction(0)) for on in _slowdowns(instance, solution))
            ),
            "gpu_utilisation": gpus / instance.total_gpus if instance.total_gpus else 0,
            "servers_used": len(used),
            "spread_jobs": sum(t.servers > 1 for t in times),
            "cross_rack_jobs": sum(t.racks > 1 for t in times),
        },
    )


def job_times(instance: PlacementInstance, solution: PlacementSolution) -> list[JobTime]:
    """Return what a placement of all jobs means for each of them."""
    times = []
    slowdowns, seats = _slowdowns(instance, solution), seats_of(instance, solution)
    for j, (job, pairs) in enumerate(zip(instance.jobs, solution.tasks, strict=True)):
        slowdown, bottleneck = max(
            ((slowdowns[s][j], s) for s, _ in pairs), key=lambda on: (on[0], -on[1])
        )
        racks = {instance.servers[s].rack for s, _ in pairs}
        comm_s = (Fraction(0), job.rack_comm_s)[len(pairs) > 1]
        if len(racks) > 1:
            comm_s = job.cross_comm_s
        if instance.boards:
            comm_s = max(comm_s, instance.inside_s(j, seats[j]))
        iteration_s = job.base_iteration_s * (1 + slowdown) + comm_s
        completion_s = job.iterations * iteration_s
        times.append(
            JobTime(slowdown, bottleneck, len(pairs), len(racks), iteration_s, completion_s)
        )
    return times


def seats_of(instance: PlacementInstance, solution: PlacementSolution) -> list[Seats]:
    """Return the GPUs of each job, by server; none without boards."""
    if solution.gpus or not instance.boards:
        return [
            {s: gpus for (s, _), gpus in zip(pairs, gpu_sets, strict=True)}
            for pairs, gpu_sets in zip(solution.tasks, solution.gpus, strict=False)
        ]
    free = [list(range(server.gpus)) for server in instance.servers]
    seats: list[Seats] = []
    for job, pairs in zip(instance.jobs, solution.tasks, strict=True):
        seats.append({})
        for s, n in pairs:
            board = instance.boards[instance.servers[s].board]
            seats[-1][s] = fastest(board, free[s], n * job.gpus_per_task)
            free[s] = [g for g in free[s] if g not in seats[-1][s]]
    return seats


def _slowdowns(
    instance: PlacementInstance, solution: PlacementSolution
) -> list[dict[int, Fraction]]:
    """Return for every server the slowdown of each job that has a task there."""
    on_server: list[dict[int, int]] = [{} for _ in instance.servers]
    for j, pairs in enumerate(solution.tasks):
        for s, n in pairs:
            on_server[s][j] = n if instance.per_task else 1
    jobs, known = instance.jobs, instance.measured_slowdowns
    # The same neighbours occur on many servers.
    of: dict[tuple[int, tuple[int, ...]], Fraction] = {}
    slowdowns: list[dict[int, Fraction]] = []
    for weights in on_server:
        counts = [0] * instance.num_types
        for j, weight in weights.items():
            counts[jobs[j].type] += weight
        here = {}
        for j, weight in weights.items():
            victim = jobs[j].type
            counts[victim] -= weight
            key = (victim, tuple(counts))
            counts[victim] += weight
            if key not in of:
                pairs_of = zip(instance.interference[victim], key[1], strict=True)
                of[key] = known.get(key, sum((a * n for a, n in pairs_of if n), Fraction(0)))
            here[j] = of[key]
        slowdowns.append(here)
    return slowdowns


def _violations(instance: PlacementInstance, solution: PlacementSolution) -> Iterator[Violation]:
    jobs, servers = instance.jobs, instance.servers
    if len(solution.tasks) != len(jobs):
        where = f"tasks of {len(jobs)} jobs"
        constraint = "unplaced_job" if len(solution.tasks) < len(jobs) else "unknown_job"
        yield Violation(constraint, where, abs(len(solution.tasks) - len(jobs)))
    gpus: Counter[int] = Counter()
    cpus: Counter[int] = Counter()
    for j, (job, pairs) in enumerate(zip(jobs, solution.tasks, strict=False)):
        placed = sum(n for _, n in pairs)
        if not placed:
            yield Violation("unplaced_job", f"tasks[{j}]", job.num_tasks)
        elif placed != job.num_tasks:
            yield Violation("gang", f"tasks[{j}]", abs(placed - job.num_tasks))
        for s, times in Counter(s for s, _ in pairs).items():
            if s >= len(servers):
                yield Violation("unknown_server", f"tasks[{j}]", s - len(servers) + 1)
            if times > 1:
                yield Violation("repeated_server", f"tasks[{j}], server {s}", times - 1)
        for s, n in pairs:
            gpus[s] += n * job.gpus_per_task
            cpus[s] += n * job.cpus_per_task
    for s, server in enumerate(servers):
        if gpus[s] > server.gpus:
            yield Violation("gpus", f"server {s}", gpus[s] - server.gpus)
        if cpus[s] > server.cpus:
            yield Violation("cpus", f"server {s}", cpus[s] - server.cpus)
    if solution.gpus:
        if len(solution.gpus) != len(solution.tasks):
            yield Violation("gpu_sets", "gpus", abs(len(solution.gpus) - len(solution.tasks)))
        named = zip(solution.tasks, solution.gpus, strict=False)
        seated = [(j, pairs, gpu_sets) for j, (pairs, gpu_sets) in enumerate(named)]
        yield from wrong_seats(instance, "", seated)


def _whole(value: Fraction) -> Number:
    """Return a fraction that is a whole number as an integer."""
    return value.numerator if value.denominator == 1 else value
