r"""What is known of the ratio of SJF-BCO's makespan to the optimum.

With :math:`\varphi = \max_j \rho^{\max}_j / \rho^{\min}_j` the largest spread of a job's execution
time over schedules, the paper claims (Theorem 5)

.. math:: \text{makespan} \le n_g\,\varphi\,\frac{u}{l}\,OPT.

That is false as stated. With n_g = 1 and exact estimates it says that a list schedule is optimal on
identical machines; jobs of 1, 1 and 2 slots on two GPUs, shortest first, take 3 slots instead of 2.
Lemma 4 takes greedy least-load placement to minimise the largest load, which it does not.

What holds (ours, not the paper's): let N be the number of GPUs, n' the largest G_j <= N/2 (0 if
there is none) and big = 1 if some G_j > N/2, else 0. Placing every job by FA-FFP on idle GPUs
without a load limit gives

.. math:: \text{makespan} \le \varphi\Big(1 + \frac{N}{N - n' + 1} + \text{big}\Big)\,OPT
          \le 4 \varphi\,OPT.

Proof. Jobs start smallest first, and time passes only while the first job not yet started finds
too few idle GPUs. While that job has at most n' GPUs, at most n' - 1 are idle, so N - n' + 1 or
more are busy, with jobs whose GPU-time is together at most phi N OPT. So the last job of at most
n' GPUs starts by phi N / (N - n' + 1) OPT, and completes within phi OPT of that. From then on only
jobs larger than N/2 run, one after the other without a gap. No two of them can overlap in an
optimum either, so they take at most phi OPT together. The proof uses nothing of how the idle GPUs
are chosen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ..algorithms.sjf_bco import unbounded_run
from ..instance import SjfBcoInstance
from ..subproblems.placement import Batch, estimate_range


def execution_spread(instance: SjfBcoInstance) -> Fraction | None:
    """Return phi, the largest ratio of a longest to a shortest duration; None if infinite."""
    shortest = instance.rates.exec_min.tolist()
    longest = instance.rates.exec_max.tolist()
    if any(math.isinf(d) for d in longest):
        return None
    return max(Fraction(int(b), a) for a, b in zip(shortest, longest, strict=True))


def theorem_5_ratio(
    instance: SjfBcoInstance, _parameters: Mapping[str, Any] | None = None
) -> Fraction | None:
    """Return n_g phi u / l, the ratio Theorem 5 claims; None where a job can stall."""
    phi = execution_spread(instance)
    if phi is None:
        return None
    u, low = estimate_range(instance)
    return max(instance.rates.gpus) * phi * u / low


def corrected_ratio(
    instance: SjfBcoInstance, _parameters: Mapping[str, Any] | None = None
) -> Fraction | None:
    """Return phi (1 + N / (N - n' + 1) + big), at most 4 phi; None where a job can stall."""
    phi = execution_spread(instance)
    if phi is None:
        return None
    n = instance.total_gpus
    sizes = instance.rates.gpus
    largest_small = max((g for g in sizes if 2 * g <= n), default=0)
    big = any(2 * g > n for g in sizes)
    return phi * (1 + Fraction(n, n - largest_small + 1) + big)


def unbounded_run_compared(instance: SjfBcoInstance, parameters: Mapping[str, Any]) -> bool:
    """Whether SJF-BCO with these parameters compares the run that the corrected guarantee needs.

    It does when told to, or, on idle GPUs, when it sweeps theta from infinity, or when the first
    limit that a bisection tries is no less than the largest load of that run. The returned
    makespan, if there is one, is then at most that of the run.
    """
    if parameters.get("seed_unbounded", False):
        return True
    if parameters.get("availability", "idle") != "idle":
        return False
    if parameters.get("theta_search", "literal") == "sweep":
        return True
    batch = Batch(instance)
    run = unbounded_run(batch, parameters.get("packing", "least_loaded"))
    first_theta = (1 + instance.horizon_slots) // 2
    return run.placed and run.max_load <= batch.limit(first_theta)


def smallest_first_unbounded_compared(
    instance: SjfBcoInstance, parameters: Mapping[str, Any]
) -> bool:
    """Whether list scheduling with these parameters makes the run of the corrected guarantee.

    In size order list scheduling is SJF-BCO at kappa = n_g.
    """
    return parameters.get("job_order", "given") == "smallest_first" and unbounded_run_compared(
        instance, parameters
    )
