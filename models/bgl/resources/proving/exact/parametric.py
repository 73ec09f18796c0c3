"""Parametric search for the least time of the slowest stage."""

from __future__ import annotations

import numpy as np

from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...instance import ResourcesInstance
from ..certificate import ResourcesCertificate, Threshold
from ..shares import allocation, least_time


def parametric(
    instance: ResourcesInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    r"""Solve an instance exactly in rationals, with its optimum as certificate.

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
