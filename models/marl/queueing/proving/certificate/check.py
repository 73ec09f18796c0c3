r"""Certificates of lower bounds on the mean job completion time, and their check in exact numbers.

* `alone`: every job runs from its first slot on with nobody beside it, as close together as the
  empty cluster allows: for :math:`k_j` slots.
* `srpt`: the cluster as one machine with all GPUs (or CPUs) of the cluster. Job j needs
  :math:`k_j n_j g_j` GPU-slots, :math:`k_j` from `alone`, in any portions. Of all schedules with
  interruptions, shortest remaining processing time first has finished the most jobs at any time, so
  no plan has finished more by the end of any slot. Jobs that need none of the resource count as in
  `alone`.
* `exhaustion`: that in no plan the jobs' last slots come to less than a number. All plans that
  might are gone through (`exhaustion`); only where slowdowns are sums.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from gadgetopt.search.checked import checked_once
from gadgetopt.system.data import Certificate, NonNegativeInt

from ...instance import QueueingInstance
from .exhaustion import none_below, shortest_first
from .slot_fillings import TooMuchError


class QueueingCertificate(Certificate):
    """A proof of a lower bound.

    Attributes
    ----------
    kind : "alone", "srpt" or "exhaustion"
    resource : "gpus" or "cpus"
        Of `srpt`.
    slots : int
        Of `exhaustion`: the least sum of the jobs' last slots, the first slot counted as 1.
    """

    kind: Literal["alone", "srpt", "exhaustion"] = "alone"
    resource: Literal["gpus", "cpus"] = "gpus"
    slots: NonNegativeInt = 0


@checked_once
def check_bound(instance: QueueingInstance, certificate: QueueingCertificate) -> Fraction | None:
    """Return the lower bound in seconds that a certificate proves.

    Raises
    ------
    ValueError
        If some plan takes fewer slots, or it would take too long to tell.
    """
    if certificate.kind == "alone":
        return alone_bound(instance)
    if certificate.kind == "srpt":
        return srpt_bound(instance, certificate.resource)
    return exhaustion_bound(instance, certificate.slots)


def exhaustion_bound(instance: QueueingInstance, slots: int) -> Fraction:
    """Return the mean completion time of jobs whose last slots come to this in sum, if it is least.

    Raises
    ------
    ValueError
        If some plan takes fewer slots, or it would take too long to tell.
    """
    most = len(instance.jobs) * instance.num_slots
    if slots > most:
        raise ValueError(f"slots: {slots}, but all jobs together have {most}")
    try:
        if not none_below(instance, slots):
            raise ValueError(f"slots: {slots}, but there is a plan of fewer")
    except TooMuchError:
        raise ValueError(f"slots: {slots}: the check would take too long") from None
    return mean_completion_s(instance, slots)


def alone_bound(instance: QueueingInstance) -> Fraction:
    """Return the mean completion time of jobs that nobody disturbs."""
    slots = [
        first + needed
        for first, needed in zip(instance.first_slots, slots_alone(instance), strict=True)
    ]
    return mean_completion_s(instance, sum(slots))


def slots_alone(instance: QueueingInstance) -> list[int]:
    """Return k_j, how many slots each job needs at least."""
    needed = []
    for job, comm_s in zip(instance.jobs, instance.least_comm_s, strict=True):
        iteration_s = job.base_iteration_s + comm_s
        a_slot = max(1, int(instance.slot_s // iteration_s))
        needed.append(-(-job.iterations // a_slot))
    return needed


def srpt_bound(instance: QueueingInstance, resource: Literal["gpus", "cpus"]) -> Fraction:
    """Return the mean completion time of the jobs on one machine, shortest remaining first."""
    if resource == "gpus":
        speed, each = instance.total_gpus, [job.gpus_per_task for job in instance.jobs]
    else:
        speed, each = instance.total_cpus, [job.cpus_per_task for job in instance.jobs]
    total = 0
    waiting: list[tuple[int, int]] = []
    for j, (job, needed) in enumerate(zip(instance.jobs, slots_alone(instance), strict=True)):
        work = needed * job.num_tasks * each[j]
        if work and speed:
            waiting.append((instance.first_slots[j], work))
        else:
            total += instance.first_slots[j] + needed
    if waiting:
        total += sum(shortest_first(waiting, speed))
    return mean_completion_s(instance, total)


def mean_completion_s(instance: QueueingInstance, slots: int) -> Fraction:
    """Return the mean completion time of jobs that end so many slots after 0 in sum."""
    if not instance.jobs:
        return Fraction(0)
    arrivals_s = sum((job.arrival_s for job in instance.jobs), Fraction(0))
    return (slots * instance.slot_s - arrivals_s) / len(instance.jobs)
