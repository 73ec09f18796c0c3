"""Bounds by counting: the mean load, the longest job, and k + 1 jobs on one machine."""

from __future__ import annotations

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ...counting import counting_bound, is_raised
from ...instance import ParallelMachinesInstance
from ..certificate import MeanLoad, ParallelMachinesCertificate, Pigeonhole, Proof


@method(
    kind="relaxation",
    reference="Graham 1969; Dell'Amico and Martello 1995",
    formulation="combinatorial",
)
def combinatorial(instance: ParallelMachinesInstance) -> MethodOutcome:
    r"""Mean load, longest job, and k + 1 jobs on one machine, raised to a sum of times.

    Return the largest of the counting bounds.

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
    bound, k = counting_bound(instance)
    proof: Proof = MeanLoad() if k is None else Pigeonhole(jobs=k)
    return ParallelMachinesCertificate(proof=proof, attainable=is_raised(instance, bound))
