r"""Approximation ratios of SJF-BCO: the paper's claim and a corrected guarantee.

With :math:`\varphi = \max_j \rho^{\max}_j / \rho^{\min}_j` the largest spread of a job's execution
time over schedules, the paper claims (Theorem 5)

.. math:: \text{makespan} \le n_g\,\varphi\,\frac{u}{l}\,OPT.

This is false as stated. With n_g = 1 and exact estimates it says that a list schedule is optimal on
identical machines, but jobs of 1, 1 and 2 slots on two GPUs, shortest first, take 3 slots instead
of 2. Lemma 4 assumes that greedy least-load placement minimises the largest load, which is wrong.

The corrected guarantee is ours (reconstructed). Let N be the number of GPUs, n' the largest G_j <=
N/2 (0 if there is none) and big = 1 if some G_j > N/2, else 0. Placing every job by FA-FFP on idle
GPUs without a load limit gives

.. math:: \text{makespan} \le \varphi\Big(1 + \frac{N}{N - n' + 1} + \text{big}\Big)\,OPT
          \le 4 \varphi\,OPT.

Proof. Jobs start smallest first, and time passes only while the head job (the first not yet
started) finds too few idle GPUs. While the head job has at most n' GPUs, at most n' - 1 GPUs are
idle, so at least N - n' + 1 are busy, with jobs whose total GPU-time is at most phi N OPT. So the
last job of at most n' GPUs starts by phi N / (N - n' + 1) OPT and completes within phi OPT of that.
From then on only jobs larger than N/2 run, one by one without a gap. No two of them can overlap in
an optimum either, so together they take at most phi OPT. The proof does not depend on how idle GPUs
are chosen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gadgetopt.system.declaring import guarantee

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


@guarantee(
    name="Theorem 5",
    statement="makespan <= n_g phi (u/l) OPT, as printed; refuted by instances e4a and e4b",
    reference="Theorem 5",
    standing="claimed",
    methods=("sjf_bco",),
)
def theorem_5_ratio(
    instance: SjfBcoInstance, _parameters: Mapping[str, Any] | None = None
) -> Fraction | None:
    """Return n_g phi u / l, the ratio claimed by Theorem 5; None if a job can stall."""
    phi = execution_spread(instance)
    if phi is None:
        return None
    u, low = estimate_range(instance)
    return max(instance.rates.gpus) * phi * u / low


def unbounded_run_compared(instance: SjfBcoInstance, parameters: Mapping[str, Any]) -> bool:
    """Return True if SJF-BCO compares the run that the corrected guarantee needs.

    This is so on idle GPUs if the first limit of the bisection is at least the largest load of that
    run, or if theta is swept from infinity. The returned makespan, if any, is then at most that of
    the run.
    """
    if not idle_gpus(instance, parameters):
        return False
    if parameters.get("theta_search", "literal") == "sweep":
        return True
    batch = Batch(instance)
    run = unbounded_run(batch, parameters.get("packing", "least_loaded"))
    first_theta = (1 + instance.horizon_slots) // 2
    return run.placed and run.max_load <= batch.limit(first_theta)


def idle_gpus(instance: SjfBcoInstance, parameters: Mapping[str, Any]) -> bool:
    """Return True if only GPUs that are free count as available."""
    return bool(parameters.get("availability", "idle") == "idle")


def smallest_first_unbounded_compared(
    instance: SjfBcoInstance, parameters: Mapping[str, Any]
) -> bool:
    """Return True if list scheduling makes the run that the corrected guarantee needs.

    In size order list scheduling is SJF-BCO at kappa = n_g.
    """
    return parameters.get("job_order", "given") == "smallest_first" and unbounded_run_compared(
        instance, parameters
    )


@guarantee(
    name="corrected",
    statement="makespan <= phi (1 + N/(N - n' + 1) + [some G_j > N/2]) OPT",
    reference="corrected guarantee (reconstructed)",
    methods=("sjf_bco",),
    assumptions={
        "the run of FA-FFP without load limit is among the compared ones": unbounded_run_compared
    },
)
@guarantee(
    name="corrected",
    statement="makespan <= phi (1 + N/(N - n' + 1) + [some G_j > N/2]) OPT",
    reference="corrected guarantee (reconstructed)",
    methods=("sjf_bco_sweep",),
    assumptions={"only idle GPUs count as available": idle_gpus},
)
@guarantee(
    name="corrected",
    statement="makespan <= phi (1 + N/(N - n' + 1) + [some G_j > N/2]) OPT",
    reference="corrected guarantee (reconstructed)",
    methods=("sjf_bco_unbounded",),
)
@guarantee(
    name="corrected",
    statement="makespan <= phi (1 + N/(N - n' + 1) + [some G_j > N/2]) OPT",
    reference="corrected guarantee (reconstructed)",
    methods=("list_scheduling",),
    assumptions={
        (
            "jobs in size order, and the run without load limit among the compared ones"
        ): smallest_first_unbounded_compared
    },
)
def corrected_ratio(
    instance: SjfBcoInstance, _parameters: Mapping[str, Any] | None = None
) -> Fraction | None:
    """Return phi (1 + N / (N - n' + 1) + big), at most 4 phi; None if a job can stall."""
    phi = execution_spread(instance)
    if phi is None:
        return None
    n = instance.total_gpus
    sizes = instance.rates.gpus
    largest_small = max((g for g in sizes if 2 * g <= n), default=0)
    big = any(2 * g > n for g in sizes)
    return phi * (1 + Fraction(n, n - largest_small + 1) + big)
