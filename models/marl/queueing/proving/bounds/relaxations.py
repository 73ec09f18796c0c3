"""Bounds by formula: every job alone, and the cluster as one machine."""

from __future__ import annotations

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ...instance import QueueingInstance
from ..certificate.check import (
    QueueingCertificate,
    alone_bound,
    srpt_bound,
)


@method(kind="relaxation", reference="alone bound (reconstructed)")
def alone(instance: QueueingInstance) -> MethodOutcome:
    """Every job as if it had the cluster to itself.

    Return the mean completion time of jobs that nobody disturbs and that never wait.
    """
    return MethodOutcome(
        dual_bound=alone_bound(instance), certificate=QueueingCertificate(kind="alone")
    )


@method(kind="relaxation", reference="SRPT relaxation (reconstructed)")
def srpt(instance: QueueingInstance) -> MethodOutcome:
    """The cluster as one machine, shortest remaining processing time first.

    The machine has all GPUs, or all CPUs, of the cluster, whichever is the better bound.
    """
    bound, resource = max(
        (srpt_bound(instance, "gpus"), "gpus"), (srpt_bound(instance, "cpus"), "cpus")
    )
    certificate = QueueingCertificate(
        kind="srpt", resource="gpus" if resource == "gpus" else "cpus"
    )
    return MethodOutcome(dual_bound=bound, certificate=certificate)
