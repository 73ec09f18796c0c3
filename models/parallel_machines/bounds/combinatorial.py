"""Bounds by counting: the mean load, the longest job, and k + 1 jobs on one machine."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from gadgetopt.system.result import Limits, MethodOutcome

from ..certificate import (
    MeanLoad,
    ParallelMachinesCertificate,
    Pigeonhole,
    Proof,
    TableTooLarge,
    check_bound,
    next_attainable,
    pigeonhole_bound,
)
from ..instance import ParallelMachinesInstance

#: Bits of sums, times jobs, up to which the bound is raised to an attainable sum.
MOST_SUMS = 10**9


def combinatorial(
    instance: ParallelMachinesInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    r"""Return the largest of the counting bounds.

    .. math::
        OPT \ge \Big\lceil \frac1m \sum_j p_j \Big\rceil, \qquad
        OPT \ge \sum_{h=0}^{k} p_{km+1-h} \quad \text{for } p_1 \ge p_2 \ge \dots

    The second has the longest job for k = 0 and :math:`p_m + p_{m+1}` for k = 1. The larger is
    raised to the next sum of processing times.

    Notes
    -----
    O(n log n), and a subset sum of (bound x n / 64) steps where that is at most 10^9 / 64.
    """
    return MethodOutcome(certificate=combinatorial_certificate(instance))


def combinatorial_certificate(instance: ParallelMachinesInstance) -> ParallelMachinesCertificate:
    """Return the certificate of the largest of these bounds."""
    largest_k = (len(instance.processing_s) - 1) // instance.machines
    m, sums = instance.machines, [0, *accumulate(sorted(instance.processing_s, reverse=True))]
    bounds = [sums[k * m + 1] - sums[k * m - k] for k in range(largest_k + 1)]
    k = max(range(largest_k + 1), key=bounds.__getitem__)
    proof: Proof = MeanLoad()
    bound = instance.mean_load_s
    if bounds[k] > bound:
        proof, bound = Pigeonhole(jobs=k), pigeonhole_bound(instance, k)
    return ParallelMachinesCertificate(proof=proof, attainable=is_raised(instance, bound))


def is_raised(instance: ParallelMachinesInstance, bound: int) -> bool:
    """Return True if a bound is no sum of processing times; False also where that takes long."""
    if (bound + max(instance.processing_s)) * len(instance.processing_s) > MOST_SUMS:
        return False
    try:
        return next_attainable(instance, bound) > bound
    except TableTooLarge:
        return False


def combinatorial_bound(instance: ParallelMachinesInstance) -> int:
    """Return the largest of these bounds, in seconds."""
    bound = check_bound(instance, combinatorial_certificate(instance))
    assert bound is not None, "counting always proves something"
    return bound
