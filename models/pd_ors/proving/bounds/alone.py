"""The bound of prices zero: every job as if it had the cluster to itself."""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ...instance import PdOrsInstance
from ...terms import JobTerms
from ..certificate.check import certificate_of
from .infeasibility import jobs_without_utility


@method(kind="relaxation", reference="alone bound (reconstructed)", formulation="alone")
def alone(instance: PdOrsInstance) -> MethodOutcome:
    r"""Every job as if it had the cluster to itself.

    Return :math:`\sum_i u_i(\lceil W_i / P_i \rceil - 1)`: the bound of prices zero.

    P_i is the most progress of a slot in the empty cluster. The notes give the reason for each job
    that can earn nothing.
    """
    return MethodOutcome(
        certificate=certificate_of(instance, uniform(instance, 0.0)),
        notes={f"job {i}": reason for i, reason in jobs_without_utility(instance).items()},
    )


def alone_utility(job: JobTerms) -> float:
    """Return the most that a job can earn in the empty cluster."""
    return 0.0 if job.earliest is None else float(job.utility[job.earliest])


def uniform(instance: PdOrsInstance, price: Floats | float) -> Floats:
    """Return prices of the resources that are the same in every slot and on every machine."""
    shape = (instance.horizon_slots, len(instance.machines), len(instance.resources))
    return np.broadcast_to(price, shape).astype(np.float64)
