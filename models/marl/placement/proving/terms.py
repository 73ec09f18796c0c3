r"""What contents of servers cost: the numbers of the configuration program, as arrays.

A gang of :math:`n_j` tasks pays for every task in a server the share :math:`1/n_j` of what all its
tasks would pay if they were slowed down like this one, and of the communication if some of its
tasks are elsewhere:

.. math::
    c(P) = \sum_{j \in P} \frac{P_j}{n_j} W_j \bigl(t^0_j \sigma_j(P) + \beta_j [P_j < n_j]\bigr).

No placement costs less than the sum over its servers, as the largest slowdown is at least the mean
over the tasks; for jobs of one task, and for gangs in one server, the two are equal. Here
:math:`\beta_j` is :math:`\beta^{rack}_j`, or :math:`\beta^{cross}_j` if no rack of the empty
cluster holds the gang.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats, Ints

from ...subproblems.cluster import forced_comm_s
from ...subproblems.contents import Lot, lots_of
from ..instance import PlacementInstance


@dataclass(frozen=True)
class Kind:
    """Servers of one size, in whatever racks.

    Attributes
    ----------
    gpus, cpus : int
    servers : int
        How many there are.
    """

    gpus: int
    cpus: int
    servers: int


class Terms:
    r"""The lots of an instance and what a task of each costs.

    Attributes
    ----------
    lots : list of Lot
        Gangs, and single-task jobs that are alike together.
    kinds : list of Kind
    tasks : array of int, shape (lots,)
    comm_s : list of Fraction
        Of every gang :math:`W_j \beta_j`, 0 for the others.
    base_s : Fraction
        :math:`\sum_j W_j t^0_j`.
    """

    def __init__(self, instance: PlacementInstance, *, merged: bool = True):
        self.instance = instance
        self.lots: list[Lot] = lots_of(instance, merged=merged)
        sizes = Counter((server.gpus, server.cpus) for server in instance.servers)
        self.kinds: list[Kind] = [Kind(gpus, cpus, n) for (gpus, cpus), n in sorted(sizes.items())]
        self.tasks: Ints = np.array([lot.tasks for lot in self.lots], dtype=np.int64)
        self.comm_s: list[Fraction] = [comm_s(instance, lot) for lot in self.lots]
        self.base_s: Fraction = sum((len(lot.jobs) * lot.job_s for lot in self.lots), Fraction(0))

    @cached_property
    def job_s(self) -> Floats:
        """Seconds alone of a job of each lot, shape (lots,)."""
        return np.array([float(lot.job_s) for lot in self.lots])

    @cached_property
    def gang(self) -> Bools:
        """True for gangs, shape (lots,)."""
        return np.array([lot.gang for lot in self.lots], dtype=np.bool_)

    @cached_property
    def type(self) -> Ints:
        """Type of each lot, shape (lots,)."""
        return np.array([lot.type for lot in self.lots], dtype=np.int64)

    @cached_property
    def comm(self) -> Floats:
        """`comm_s` as doubles, shape (lots,)."""
        return np.array([float(x) for x in self.comm_s])

    @property
    def racks_matter(self) -> bool:
        """True if a gang takes longer across racks, and there are several."""
        return len(self.instance.racks) > 1 and any(
            job.num_tasks > 1 and job.cross_comm_s > job.rack_comm_s for job in self.instance.jobs
        )


def comm_s(instance: PlacementInstance, lot: Lot) -> Fraction:
    """Return what a gang pays for lying on several servers, at least; 0 for other lots."""
    if not lot.gang:
        return Fraction(0)
    job = instance.jobs[lot.jobs[0]]
    classes = {server: len(members) for server, members in instance.server_classes.items()}
    forced = forced_comm_s(job, classes)
    return job.iterations * max(forced, job.rack_comm_s)


def most_in(lot: Lot, kind: Kind) -> int:
    """Return how many tasks of a lot an empty server of a kind holds."""
    rooms = [have // need for have, need in ((kind.gpus, lot.gpus), (kind.cpus, lot.cpus)) if need]
    return min([lot.tasks, *rooms])
