"""The continuous relaxation of (9), by bisection."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome, Status

from ...instance import ResourcesInstance
from ..certificate import Continuous, ResourcesCertificate, check_bound

#: Bisections: twelve digits. Tuned: `benchmarks/constants.py`.
_STEPS = 40


@method(kind="relaxation", reference="relaxation of (9)", formulation="continuous")
def continuous(instance: ResourcesInstance) -> MethodOutcome:
    """Shares of at least 1 that need not be whole.

    Return the least time of the slowest stage with shares of at least 1, whole or not.

    It is bisected in rationals; the certificate is the largest time that was refuted, so the bound
    falls short of the relaxation by a part of 10^-12.
    """
    if not instance.has_shares:
        return MethodOutcome(proved=Status.INFEASIBLE)
    low = instance.fixed_s
    high = max(
        low,
        instance.request_core_s,
        instance.construct_core_s,
        instance.process_core_s,
        instance.subgraph_unit_s,
        instance.cache_s(1, 1),
    )
    for _ in range(_STEPS):
        if low == high:
            break
        # Doubles between the two keep the digits of rationals few.
        middle = Fraction((float(low) + float(high)) / 2)
        if not low < middle < high:
            break
        if check_bound(instance, _certificate(middle)) is None:
            high = middle
        else:
            low = middle
    return MethodOutcome(certificate=_certificate(low))


def _certificate(theta: Fraction) -> ResourcesCertificate:
    return ResourcesCertificate(proof=Continuous(theta_s=theta))
