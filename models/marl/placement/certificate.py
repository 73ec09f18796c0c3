r"""Certificates of lower bounds on the mean job completion time, and their check in exact numbers.

* `Alone`: every job alone. An iteration takes :math:`t^0_j`, and
  :math:`\beta^{rack}_j` more if no server holds all tasks, :math:`\beta^{cross}_j` more if no
  rack does.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from gadgetopt.system.data import Certificate

from ..subproblems.cluster import forced_comm_s
from .instance import PlacementInstance


class PlacementCertificate(Certificate):
    """A proof of a lower bound.

    Attributes
    ----------
    kind : "alone"
    """

    kind: Literal["alone"] = "alone"


def check_bound(instance: PlacementInstance, certificate: PlacementCertificate) -> Fraction | None:
    """Return the lower bound in seconds that a certificate proves."""
    return alone_bound(instance)


def alone_bound(instance: PlacementInstance) -> Fraction:
    """Return the mean completion time of jobs that nobody disturbs."""
    if not instance.jobs:
        return Fraction(0)
    classes = {server: len(members) for server, members in instance.server_classes.items()}
    total = Fraction(0)
    for job in instance.jobs:
        total += job.iterations * (job.base_iteration_s + forced_comm_s(job, classes))
    return total / len(instance.jobs)
