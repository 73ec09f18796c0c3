r"""The evaluator: total weighted completion time of a schedule, in ticks, as an exact fraction.

A job that starts at microtick :math:`S_j` under mapping x holds its GPUs for
:math:`d_j = \max(1, \lceil n_j \alpha_j(x) / \Delta \rceil)` ticks, where n is its true number of
iterations, and ends at :math:`C_j = S_j + G d_j`. At no time may the jobs on a server hold more
GPUs than it has.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.exact import whole_numbers
from gadgetopt.numbers.tolerance import Number
from gadgetopt.system.result import Evaluation, Violation

from .instance import ASrptInstance, ASrptSolution, JobType, ScheduledJob

#: What nothing is taken away by. By definition.
_NOTHING = Fraction(0)

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
            _ticks(instance, job.num_iterations, t.iteration_s)
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
    return _ticks(instance, 1, seconds)


def _ticks(instance: ASrptInstance, iterations: int, iteration_s: Fraction) -> int:
    above, below = iteration_s.as_integer_ratio()
    tick, of = instance.tick_s.as_integer_ratio()
    return max(1, -(-iterations * above * of // (below * tick)))


def job_ticks(instance: ASrptInstance, scheduled: ScheduledJob) -> int:
    """Return how long a job holds its GPUs, in ticks."""
    job = instance.jobs[scheduled.job]
    stages = tuple(dict(pairs) for pairs in scheduled.placement)
    alpha = iteration_time(instance, instance.job_types[job.job_type], stages)
    return _ticks(instance, job.num_iterations, alpha)


def iteration_time(instance: ASrptInstance, job_type: JobType, stages: Stages) -> Fraction:
    """Return the seconds of an iteration, equations (1)-(3) of the page."""
    # Whole numbers: seconds of a gigabyte in 1/D, all else as `_Whole` has it.
    bandwidths = (instance.intra_bandwidth_gbytes_per_s, instance.inter_bandwidth_gbytes_per_s)
    (intra, inter), D = whole_numbers([1 / b for b in bandwidths])
    of, k, t = _Whole.of(job_type), job_type.replicas, job_type.block_of_stage
    # Of what a replica sends to others, each of its t_s GPUs sends 1 / t_s: all is counted T times.
    T = math.lcm(*t)
    slowest = ring = 0
    for s, servers in enumerate(stages):
        neighbours = [
            (stages[u], k[u], of.activation[min(s, u)] * (of.copies // (k[s] * k[u])) * (T // t[s]))
            for u in (s - 1, s + 1)
            if 0 <= u < len(stages)
        ]
        for m in servers:
            theta = T * of.copies * (of.compute[s] * D + of.block[s] * intra)
            for replicas, all_replicas, volume in neighbours:
                near = replicas.get(m, 0)
                theta += volume * (near * intra + (all_replicas - near) * inter)
            slowest = max(slowest, theta)
        sent = 2 * (k[s] - 1) * of.gradient[s] * (of.copies // k[s]) * (T // t[s])
        ring = max(ring, sent * (intra if len(servers) == 1 else inter))
    phi = job_type.pipeline_factor
    total = phi.numerator * slowest + phi.denominator * ring
    return Fraction(total, T * phi.denominator * of.unit * of.copies * D)


def cut_gbytes(job_type: JobType, stages: Stages) -> Fraction:
    """Return the gigabytes between servers in an iteration, equation (4) of the page."""
    of, k = _Whole.of(job_type), job_type.replicas
    cut = 0
    for s, servers in enumerate(stages):
        pairs = k[s] * (k[s] - 1) // 2 - sum(x * (x - 1) // 2 for x in servers.values())
        cut += 4 * of.gradient[s] * (of.copies // k[s]) * pairs
        if s + 1 < len(k):
            together = sum(x * stages[s + 1].get(m, 0) for m, x in servers.items())
            volume = 2 * of.activation[s] * (of.copies // (k[s] * k[s + 1]))
            cut += volume * (k[s] * k[s + 1] - together)
    return Fraction(cut, of.unit * of.copies)


@dataclass(frozen=True)
class _Whole:
    """A job type in whole numbers, so that no fraction is reduced before the last.

    Attributes
    ----------
    compute, activation, gradient, block : list of int
        Seconds and gigabytes, times `unit`; the last is what a GPU sends within its block.
    unit : int
    copies : int
        A multiple of every stage's replicas, and of the product of those of two that follow.
    """

    compute: list[int]
    activation: list[int]
    gradient: list[int]
    block: list[int]
    unit: int
    copies: int

    @classmethod
    def of(cls, job_type: JobType) -> _Whole:
        compute, activation = job_type.stage_time_s, job_type.activation_gbytes
        in_block = job_type.tp_gbytes or (_NOTHING,) * len(compute)
        whole, unit = whole_numbers([*compute, *job_type.gradient_gbytes, *in_block, *activation])
        k, n = job_type.replicas, len(compute)
        copies = math.lcm(*k, *(a * b for a, b in pairwise(k)))
        return cls(whole[:n], whole[3 * n :], whole[n : 2 * n], whole[2 * n : 3 * n], unit, copies)


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
    held = [
        (m, j, gpus)
        for j, (given, placed) in enumerate(zip(instance.jobs, scheduled, strict=True))
        for m, gpus in _gpus_by_server(instance.job_types[given.job_type], placed)
    ]
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


def _gpus_by_server(job_type: JobType, job: ScheduledJob) -> Iterator[tuple[int, int]]:
    held: dict[int, int] = {}
    for block, pairs in zip(job_type.block_of_stage, job.placement, strict=True):
        for m, x in pairs:
            held[m] = held.get(m, 0) + block * x
    yield from held.items()


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
        _times(job.num_iterations, t.iteration_s, instance.alpha_min_s[job.job_type])
        for job, t in zip(jobs, timed, strict=True)
    )
    sent = sum(_times(job.num_iterations, t.cut_gbytes) for job, t in zip(jobs, timed, strict=True))
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


def _times(count: int, amount: Fraction, less: Fraction = _NOTHING) -> float:
    """Return a multiple of a difference as a double, rounded once."""
    a, b = amount.as_integer_ratio()
    c, d = less.as_integer_ratio()
    return count * (a * d - b * c) / (b * d)


def _whole(value: Number) -> Number:
    """Return a fraction that is a whole number as an integer."""
    exact = Fraction(value)
    return exact.numerator if exact.denominator == 1 else exact
