r"""The evaluator: utility and constraints of a decision, from the raw data of the jobs.

It is written from the problem statement, equations (1)-(3) of the technical report (TR, arXiv
2105.13855), and shares no code with the monomials, the search or the models of this folder. An
admitted job of w workers and p servers completes after

.. math::
    \text{sync: }  \tau &= E \Big[\eta_1 \tfrac{K}{w} t_f + \eta_2 t_b
        + \eta_3 \cdot 2 \tfrac{g/p}{B/w} + \beta_1 w + \beta_2 p\Big] \\
    \text{async: } \tau &= \tfrac{E}{w} \Big[\eta_1 m t_f + \eta_2 t_b
        + \eta_3 \cdot 2 \tfrac{g/p}{B/(\alpha w)} + \beta_1 w + \beta_2 p\Big]

and is worth :math:`\gamma_1 / (1 + e^{\gamma_2 (\tau/unit - \gamma_3)})`, or 0 if
that is below :math:`10^{-9} \gamma_1`. Amounts of resources are compared exactly, as the decimals
they are written as.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from gadgetopt.numbers.tolerance import Number, decimal_rational
from gadgetopt.pieces.utility import NEGLIGIBLE
from gadgetopt.system.result import Evaluation, Violation

from .instance import Allocation, Job, SmdInstance, SmdSolution

#: An admitted job whose utility is below this part of its gamma_1 counts as hopeless.
#: By definition.
HOPELESS = 0.01


def evaluate(instance: SmdInstance, solution: SmdSolution) -> Evaluation:
    """Recompute the total utility of `solution` and list everything wrong with it.

    Returns
    -------
    Evaluation
        Objective: the utility of the admitted jobs (1); None if the solution does not describe
        every job, or admits one without a worker or a server. Components: admitted and hopeless
        jobs, the part of their reservations that they use (mean over jobs and resources, mean of
        each job's fullest, and of all together), and the charged part of the fullest resource.

    Notes
    -----
    Constraints: `missing_job`, `count` (an admitted job with less than one worker or server),
    `capacity` (2), `reservation` (3). Amounts of violations are exact.
    """
    broken = tuple(_shape_violations(instance, solution))
    if broken:
        return Evaluation(None, broken)
    admitted = [
        (i, job, given)
        for i, (job, given) in enumerate(zip(instance.jobs, solution.jobs, strict=True))
        if given.admit
    ]
    used = [_used(job, given) for _, job, given in admitted]
    limits = [_exact(job.reservation_limit) for _, job, _ in admitted]
    charged = used if instance.charging == "used" else limits
    names = instance.resources
    capacity = _exact(instance.capacity)
    total = [sum((row[r] for row in charged), Fraction(0)) for r in range(len(names))]
    violations = [
        Violation("reservation", f"job {i}, {name}", u - v)
        for (i, _, _), row, limit in zip(admitted, used, limits, strict=True)
        for name, u, v in zip(names, row, limit, strict=True)
        if u > v
    ]
    violations += [
        Violation("capacity", name, t - c)
        for name, t, c in zip(names, total, capacity, strict=True)
        if t > c
    ]
    worth = [utility(job, completion_time_s(job, given)) for _, job, given in admitted]
    hopeless = sum(
        u < HOPELESS * job.utility.gamma1 for u, (_, job, _) in zip(worth, admitted, strict=True)
    )
    components: dict[str, Number] = {
        "admitted_jobs": len(admitted),
        "hopeless_jobs": hopeless,
        **_usage(used, limits),
        "fullest_resource": max(
            (t / c for t, c in zip(total, capacity, strict=True) if c), default=0
        ),
    }
    return Evaluation(math.fsum(worth), tuple(violations), components)


def completion_time_s(job: Job, given: Allocation) -> float:
    """Return tau in seconds of a job with at least one worker and one server."""
    w, p = given.num_workers, given.num_ps
    eta_1, eta_2, eta_3 = job.eta
    t_f, t_b = job.fp_time_per_sample_s, job.bp_time_s
    if t_f is None:
        t_f = math.fsum(layer.fp_s for layer in job.layers)
    if t_b is None:
        t_b = math.fsum(layer.bp_s for layer in job.layers)
    volume_gbit = job.model_size_mb * 8 / 1000
    sharing = w if job.sgd_mode == "sync" else job.concurrency_fraction * w
    transfer_s = 2 * (volume_gbit / p) * sharing / job.ps_bandwidth_gbps
    overhead_s = job.overhead_per_worker_s * w + job.overhead_per_ps_s * p
    if job.sgd_mode == "sync":
        samples, steps = (job.global_batch_size or 0) / w, job.iterations
    else:
        samples, steps = job.minibatch_size or 0, job.iterations / w
    iteration_s = eta_1 * samples * t_f + eta_2 * t_b + eta_3 * transfer_s + overhead_s
    return steps * iteration_s


def utility(job: Job, time_s: float) -> float:
    """Return the utility of a completion time, without overflow; 0 where negligible."""
    mu = job.utility
    z = mu.gamma2 * (time_s / mu.time_unit_s - mu.gamma3)
    # exp of the negative argument only, which may underflow but not overflow.
    late = math.exp(-abs(z))
    part = (late if z > 0 else 1.0) / (1.0 + late)
    return mu.gamma1 * part if part >= NEGLIGIBLE else 0.0


def _shape_violations(instance: SmdInstance, solution: SmdSolution) -> Iterator[Violation]:
    jobs = len(instance.jobs)
    if len(solution.jobs) != jobs:
        yield Violation("missing_job", f"jobs of {jobs}", jobs - len(solution.jobs))
        return
    for i, given in enumerate(solution.jobs):
        for what, count in (("workers", given.num_workers), ("servers", given.num_ps)):
            if given.admit and count < 1:
                yield Violation("count", f"job {i}, {what}", 1 - count)


def _exact(amounts: Iterable[float]) -> list[Fraction]:
    return [decimal_rational(x) for x in amounts]


def _used(job: Job, given: Allocation) -> list[Fraction]:
    """Return what the workers and servers of a job take of each resource."""
    demands = zip(_exact(job.worker_demand), _exact(job.ps_demand), strict=True)
    return [worker * given.num_workers + ps * given.num_ps for worker, ps in demands]


def _usage(used: Sequence[list[Fraction]], limits: Sequence[list[Fraction]]) -> dict[str, Number]:
    """Return used over reserved resources: mean, mean of the fullest, and of all together."""
    shares = [
        [float(u / v) for u, v in zip(row, limit, strict=True) if v]
        for row, limit in zip(used, limits, strict=True)
    ]
    shares = [row for row in shares if row]
    reserved = float(sum(map(sum, limits)))
    if not shares:
        return {"mean_usage": 0.0, "mean_fullest_usage": 0.0, "total_usage": 0.0}
    return {
        "mean_usage": sum(sum(row) / len(row) for row in shares) / len(shares),
        "mean_fullest_usage": sum(map(max, shares)) / len(shares),
        "total_usage": float(sum(map(sum, used))) / reserved if reserved else 0.0,
    }
