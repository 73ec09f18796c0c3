"""Parametric search for the least time of the slowest stage."""

from __future__ import annotations

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome, Status

from ...instance import ResourcesInstance
from ..certificate import ResourcesCertificate, Threshold
from ..shares import allocation, least_time


@method(kind="exact", reference="this project", formulation="parametric")
def parametric(instance: ResourcesInstance) -> MethodOutcome:
    r"""Least shares for a time, and bisection over the times that can be optimal.

    Solve an instance exactly in rationals, with its optimum as certificate.

    :math:`O(\log C + \log B)` steps, see `proving/shares.py`.
    """
    theta = least_time(instance)
    if theta is None:
        return MethodOutcome(proved=Status.INFEASIBLE)
    return MethodOutcome(
        solution=allocation(instance, theta),
        claimed_objective=theta,
        certificate=ResourcesCertificate(proof=Threshold(theta_s=theta)),
    )
