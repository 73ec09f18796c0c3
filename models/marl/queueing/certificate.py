r"""Certificates of lower bounds on the mean job completion time, and their check in exact numbers.

* `Alone`: every job runs from its first slot on with nobody beside it, as close together as the
  empty cluster allows.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from gadgetopt.system.data import Certificate

from ..subproblems.cluster import forced_comm_s
from .instance import QueueingInstance


class QueueingCertificate(Certificate):
    """A proof of a lower bound.

    Attributes
    ----------
    kind : "alone"
    """

    kind: Literal["alone"] = "alone"


def check_bound(instance: QueueingInstance, certificate: QueueingCertificate) -> Fraction | None:
    """Return the lower bound in seconds that a certificate proves."""
    return alone_bound(instance)


def alone_bound(instance: QueueingInstance) -> Fraction:
    """Return the mean completion time of jobs that nobody disturbs."""
    if not instance.jobs:
        return Fraction(0)
    classes = {server: len(members) for server, members in instance.server_classes.items()}
    total = Fraction(0)
    for job, first in zip(instance.jobs, instance.first_slots, strict=True):
        a_slot = max(
            1, int(instance.slot_s // (job.base_iteration_s + forced_comm_s(job, classes)))
        )
        slots = -(-job.iterations // a_slot)
        total += (first + slots) * instance.slot_s - job.arrival_s
    return total / len(instance.jobs)
