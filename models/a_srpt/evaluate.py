r"""The evaluator: total weighted completion time of a schedule, in ticks, as an exact fraction.

A job that starts at microtick :math:`S_j` under mapping x holds its GPUs for
:math:`d_j = \max(1, \lceil n_j \alpha_j(x) / \Delta \rceil)` ticks, where n is its true number of
iterations, and ends at :math:`C_j = S_j + G d_j`. At no time may the jobs on a server hold more
GPUs than it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.tolerance import Number
from gadgetopt.system.result import Evaluation, Violation

from .instance import ASrptInstance, ASrptSolution, JobType, ScheduledJob

#: A stage's replicas by server, and with it every stage of a job.
Stages = tuple[dict[int, int], ...]


@dataclass(frozen=True)
class Timed:
    """What a mapping means for a job type: seconds and gigabytes between servers, per iteration."""

    iteration_s: Fraction
    cut_gbytes: Fraction


def evaluate(instance: ASrptInstance, solution: ASrptSolution) -> Evaluation:
    r"""Recompute the objective of a schedule, and which constraints it violates.

    Returns
    -------
    Evaluation
        The objective is :math:`\sum w_j C_j` in ticks; None if a job is missing, there twice or
        not fully placed. Components, times in ticks: weighted, mean, 95th percentile and largest
        flow time, makespan, utilisation of the GPUs until then, jobs on several servers, seconds
        lost to placement against the fastest mapping, and gigabytes sent between servers.
    """
    violations = tuple(_misplaced(instance, solution))
    if violations:
        return Evaluation(None, violations)
    scheduled = sorted(solution.jobs, key=lambda job: job.job)
    timed = _timed(instance, scheduled)
    jobs, step = instance.jobs, instance.total_gpus
    start = np.array([job.start_microtick for job in scheduled], dtype=object)
    ticks = np.array(
        [
            duration_ticks(instance, job.num_iterations * t.iteration_s)
            for job, t in zip(jobs, timed, strict=True)
        ],
        dtype=object,
    )
    end = start + step * ticks
    violations = (
        *(
            Violation("release", f"jobs[{j}]", Fraction(late, step))
            for j, late in enumerate(instance.release_ticks * step - start)
            if late > 0
        ),
        *_overfull(instance, scheduled, start, end),
    )
    weights = [job.weight for job in jobs]
    plain = all(w == 1 for w in weights)
    total = sum(end) if plain else sum(w * int(c) for w, c in zip(weights, end, strict=True))
    objective = _whole(Fraction(total) / step)
    components = _components(instance, scheduled, timed, end, ticks, objective)
    return Evaluation(objective, violations, components)


def duration_ticks(instance: ASrptInstance, seconds: Fraction) -> int:
    """Return seconds in ticks, rounded up, at least one."""
    ticks = seconds / instance.tick_s
    return max(1, -(-ticks.numerator // ticks.denominator))


def iteration_time(instance: ASrptInstance, job_type: JobType, stages: Stages) -> Fraction:
    """Return the seconds of an iteration, equations (1)-(3) of the page."""
    intra, inter = instance.intra_bandwidth_gbytes_per_s, instance.inter_bandwidth_gbytes_per_s
    replicas = job_type.replicas
    slowest = ring = Fraction(0)
    for s, servers in enumerate(stages):
        neighbours = [u for u in (s - 1, s + 1) if 0 <= u < len(stages)]
        for m in servers:
            theta = job_type.stage_time_s[s]
            for u in neighbours:
                volume = job_type.activation_gbytes[min(s, u)] / replicas[s]
                near = Fraction(stages[u].get(m, 0), replicas[u])
                theta += volume * (near / intra + (1 - near) / inter)
            slowest = max(slowest, theta)
        k = replicas[s]
        sent = 2 * Fraction(k - 1, k) * job_type.gradient_gbytes[s]
        ring = max(ring, sent / (intra if len(servers) == 1 else inter))
    return job_type.pipeline_factor * slowest + ring


def cut_gbytes(job_type: JobType, stages: Stages) -> Fraction:
    """Return the gigabytes between servers in an iteration, equation (4) of the page."""
    k = job_type.replicas
    cut = Fraction(0)
    for s, servers in enumerate(stages):
        pairs = k[s] * (k[s] - 1) // 2 - sum(x * (x - 1) // 2 for x in servers.values())
        cut += 4 * job_type.gradient_gbytes[s] / k[s] * pairs
        if s + 1 < len(k):
            together = sum(x * stages[s + 1].get(m, 0) for m, x in servers.items())
            volume = 2 * job_type.activation_gbytes[s] / (k[s] * k[s + 1])
            cut += volume * (k[s] * k[s + 1] - together)
    return cut


def _misplaced(instance: ASrptInstance, solution: ASrptSolution) -> Iterator[Violation]:
    """Yield jobs that are missing, unknown or there twice, and stages that are not placed."""
    times = [0] * len(instance.jobs)
    for at, scheduled in enumerate(solution.jobs):
        j = scheduled.job
        if j >= len(times):
            yield Violation("unknown_job", f"jobs[{at}].job", j - len(times) + 1)
            continue
        times[j] += 1
        replicas = instance.job_types[instance.jobs[j].job_type].replicas
        if len(scheduled.placement) != len(replicas):
            off = abs(len(scheduled.placement) - len(replicas))
            yield Violation("stages", f"jobs[{at}].placement", off)
            continue
        for s, (pairs, k) in enumerate(zip(scheduled.placement, replicas, strict=True)):
            where = f"jobs[{at}].placement[{s}]"
            servers = [m for m, _ in pairs]
            if len(set(servers)) < len(servers):
                yield Violation("server_twice", where, len(servers) - len(set(servers)))
            if max(servers, default=0) >= instance.num_servers:
                yield Violation("unknown_server", where, max(servers) - instance.num_servers + 1)
            placed = sum(x for _, x in pairs)
            if placed != k:
                yield Violation("replicas", where, abs(placed - k))
    for j, count in enumerate(times):
        if count != 1:
            yield Violation("coverage", f"jobs[{j}]", abs(count - 1))


def _timed(instance: ASrptInstance, scheduled: list[ScheduledJob]) -> list[Timed]:
    """Return what the mapping of every job means; equal mappings of a type are computed once."""
    known: dict[object, Timed] = {}
    timed = []
    for given, placed in zip(instance.jobs, scheduled, strict=True):
        names: dict[int, int] = {}
        # Only which replicas share a server matters, not which server it is.
        key = (
            given.job_type,
            tuple(
                tuple((names.setdefault(m, len(names)), x) for m, x in pairs)
                for pairs in placed.placement
            ),
        )
        if key not in known:
            stages = tuple(dict(pairs) for pairs in placed.placement)
            job_type = instance.job_types[given.job_type]
            known[key] = Timed(
                iteration_time(instance, job_type, stages), cut_gbytes(job_type, stages)
            )
        timed.append(known[key])
    return timed


def _overfull(
    instance: ASrptInstance, scheduled: list[ScheduledJob], start: Ints, end: Ints
) -> Iterator[Violation]:
    """Yield the servers that hold more than they have, with the first time and the most."""
    held = [(m, j, x) for j, job in enumerate(scheduled) for m, x in _gpus_by_server(job)]
    server, job, gpus = np.array(held, dtype=np.int64).T
    # Times by rank: the starts of a schedule may be of any size.
    ranks = np.unique(np.concatenate([start, end]), return_inverse=True)
    moments, rank = ranks[0], ranks[1].reshape(-1)
    begins, ends = rank[: len(start)], rank[len(start) :]
    server = np.concatenate([server, server])
    moment = np.concatenate([begins[job], ends[job]])
    change = np.concatenate([gpus, -gpus])
    order = np.lexsort((change, moment, server))
    server, moment, change = server[order], moment[order], change[order]
    # Every server's changes add up to 0, so one running sum serves all.
    used = np.cumsum(change)
    excess = used - np.array(instance.gpus_per_server, dtype=np.int64)[server]
    for m in np.unique(server[excess > 0]):
        of_server = np.flatnonzero((server == m) & (excess > 0))
        first = Fraction(int(moments[moment[of_server[0]]]), instance.total_gpus)
        where = f"server {m} from tick {first}"
        yield Violation("capacity", where, int(excess[of_server].max()))


def _gpus_by_server(job: ScheduledJob) -> Iterator[tuple[int, int]]:
    gpus: dict[int, int] = {}
    for pairs in job.placement:
        for m, x in pairs:
            gpus[m] = gpus.get(m, 0) + x
    yield from gpus.items()


def _components(
    instance: ASrptInstance,
    scheduled: list[ScheduledJob],
    timed: list[Timed],
    end: Ints,
    ticks: Ints,
    objective: Number,
) -> Mapping[str, Number]:
    jobs, step = instance.jobs, instance.total_gpus
    released = sum((job.weight * job.release_tick for job in jobs if job.release_tick), Fraction(0))
    flow = sorted(int(c) for c in end - step * instance.release_ticks.astype(object))
    makespan = int(max(end))
    busy = sum(int(g) * int(d) for g, d in zip(instance.gpus, ticks, strict=True))
    spread = sum(
        1 for job in scheduled if len({m for pairs in job.placement for m, _ in pairs}) > 1
    )
    lost = sum(
        float(job.num_iterations * (t.iteration_s - instance.alpha_min_s[job.job_type]))
        for job, t in zip(jobs, timed, strict=True)
    )
    sent = sum(float(job.num_iterations * t.cut_gbytes) for job, t in zip(jobs, timed, strict=True))
    return {
        "weighted_flow_ticks": _whole(objective - released),
        "mean_flow_ticks": sum(flow) / (len(flow) * step),
        "p95_flow_ticks": flow[-(-95 * len(flow) // 100) - 1] / step,
        "max_flow_ticks": flow[-1] / step,
        "makespan_ticks": _whole(Fraction(makespan, step)),
        "utilisation": busy / makespan,
        "spread_jobs": spread,
        "lost_to_placement_s": lost,
        "inter_server_gbytes": sent,
    }


def _whole(value: Number) -> Number:
    """Return a fraction that is a whole number as an integer."""
    exact = Fraction(value)
    return exact.numerator if exact.denominator == 1 else exact
