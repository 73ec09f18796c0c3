r"""Derived constants of an instance, exact, and its amounts in whole units.

With :math:`\kappa^m = \tau + 2 g \gamma / (b^m F)` slots per sample and worker, internal or
external, n workers train :math:`n / \kappa^m` samples in a slot. Counted in *external worker-slots*
a job is worth :math:`W = E K \kappa^{ext}` of them and a worker-slot inside one machine counts
:math:`\sigma = \kappa^{ext} / \kappa^{int} \ge 1`. A and B worker-slots of the two kinds suffice if
and only if :math:`\sigma A + B \ge W`: as A and B are integers, that is decided here in rationals
once and for all, and a solver's tolerance cannot blur it (reconstructed).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.numbers.units import MOST_UNITS, in_units

if TYPE_CHECKING:
    from .instance import Job, PdOrsInstance


class Terms:
    """Derived constants of an instance, for methods; the evaluator does not use them.

    Attributes
    ----------
    horizon : int
        T.
    unit : tuple of Fraction
        Of each resource, the amount that is counted as 1: all demands and capacities are whole
        multiples of it.
    capacity : array of int, shape (machines, resources)
        C_h^r in units.
    classes : array of int, shape (machines,)
        Machines of equal capacity have the same number, numbered in order of first appearance.
    jobs : tuple of JobTerms

    Raises
    ------
    ModelRefused
        If the amounts of a resource have no common unit of reasonable size.
    """

    unit: tuple[Fraction, ...]

    def __init__(self, instance: PdOrsInstance):
        self.horizon: int = instance.horizon_slots
        rows = [m.capacity for m in instance.machines]
        for job in instance.jobs:
            rows += [job.worker_demand, job.ps_demand]
        self.unit, table = in_units(instance.resources, rows)
        machines = len(instance.machines)
        self.capacity: Ints = table[:machines]
        numbers: dict[tuple[int, ...], int] = {}
        self.classes: Ints = np.array(
            [numbers.setdefault(tuple(row), len(numbers)) for row in self.capacity.tolist()]
        )
        self.jobs: tuple[JobTerms, ...] = tuple(
            JobTerms(
                index=i,
                job=job,
                instance=instance,
                capacity=self.capacity,
                alpha=table[machines + 2 * i],
                beta=table[machines + 2 * i + 1],
            )
            for i, job in enumerate(instance.jobs)
        )


@dataclass(frozen=True)
class JobTerms:
    """Constants of one job.

    Attributes
    ----------
    index : int
    capacity : array of int, shape (machines, resources)
    alpha, beta : array of int, shape (resources,)
        Demand of a worker and of a parameter server, in units.
    """

    index: int
    job: Job
    instance: PdOrsInstance
    capacity: Ints
    alpha: Ints
    beta: Ints

    @property
    def arrival(self) -> int:
        """a_i."""
        return self.job.arrival_slot

    @property
    def batch(self) -> int:
        """F_i, the most workers at a time."""
        return self.job.global_batch

    @cached_property
    def gamma(self) -> Fraction:
        """gamma_i, workers per server."""
        return decimal_rational(self.job.worker_ps_ratio)

    @cached_property
    def kappa_external(self) -> Fraction:
        """Slots per sample and worker when spread over machines."""
        return self._kappa(self.job.bandwidth_external_gbps)

    @cached_property
    def kappa_internal(self) -> Fraction:
        """Slots per sample and worker inside one machine."""
        if self.instance.locality == "external_only":
            return self.kappa_external
        return self._kappa(self.job.bandwidth_internal_gbps)

    def _kappa(self, bandwidth_gbps: float) -> Fraction:
        job = self.job
        per_slot = decimal_rational(bandwidth_gbps) * decimal_rational(self.instance.slot_s)
        traffic = 2 * decimal_rational(job.gradient_gbit) * self.gamma
        return decimal_rational(job.sample_time_slots) + traffic / (per_slot * job.global_batch)

    @cached_property
    def sigma(self) -> Fraction:
        """Value of a worker-slot inside one machine in external ones."""
        return self.kappa_external / self.kappa_internal

    @cached_property
    def work(self) -> Fraction:
        """W_i, in external worker-slots."""
        return self.job.epochs * self.job.samples * self.kappa_external

    @cached_property
    def servers(self) -> Ints:
        """Parameter servers that n workers need, shape (F + 1,): the ceiling of n / gamma."""
        p, q = self.gamma.numerator, self.gamma.denominator
        return np.array([-(-n * q // p) for n in range(self.batch + 1)], dtype=np.int64)

    @cached_property
    def usable(self) -> Bools:
        """True where n workers are allowed, shape (F + 1,); at exact ratio not all are."""
        n = np.arange(self.batch + 1)
        if self.instance.ratio == "exact":
            return np.asarray(n % self.gamma.numerator == 0)
        return np.ones(len(n), dtype=np.bool_)

    @cached_property
    def demand(self) -> Ints:
        """What n workers and their servers take, in units, shape (F + 1, resources)."""
        n = np.arange(self.batch + 1)
        return n[:, None] * self.alpha + self.servers[:, None] * self.beta

    @cached_property
    def most_internal(self) -> Ints:
        """M_ih, the most workers that fit with their servers on the empty machine; 0 if none."""
        return self.most_fitting(self.capacity)

    @cached_property
    def most_external(self) -> int:
        """Most workers that fit with their servers by volume into the whole empty cluster."""
        if self.instance.locality == "internal_only":
            return 0
        return int(self.most_fitting(self.capacity.sum(axis=0, keepdims=True))[0])

    def most_fitting(self, room: Ints) -> Ints:
        """Return the most workers that fit with their servers into each row of room; 0 if none.

        What they take does not fall with their number, so that each resource is searched by itself.

        Parameters
        ----------
        room : array of int, shape (rows, resources)
            In units.
        """
        most = np.full(len(room), self.batch, dtype=np.int64)
        for r in np.flatnonzero(self.demand[-1]):
            most = np.minimum(most, np.searchsorted(self.demand[:, r], room[:, r], "right") - 1)
        usable = np.flatnonzero(self.usable)
        return np.asarray(usable[np.searchsorted(usable, most, "right") - 1])

    @cached_property
    def most_workers_on(self) -> Ints:
        """Workers alone that fit on each empty machine, at most F, shape (machines,)."""
        return self._alone(self.alpha, self.batch)

    @cached_property
    def most_servers_on(self) -> Ints:
        """Servers alone that fit on each empty machine, at most those of F workers."""
        return self._alone(self.beta, int(self.servers[-1]))

    def _alone(self, demand: Ints, most: int) -> Ints:
        out = np.full(len(self.capacity), most, dtype=np.int64)
        for r in np.flatnonzero(demand):
            out = np.minimum(out, self.capacity[:, r] // demand[r])
        return out

    @cached_property
    def most_progress(self) -> Fraction:
        """P_i, the most external worker-slots' worth of work in one slot."""
        return max(self.sigma * int(self.most_internal.max()), Fraction(self.most_external))

    @cached_property
    def earliest(self) -> int | None:
        """Earliest slot in which the job can complete, alone; None if not within the horizon."""
        if self.most_progress == 0:
            return None
        slot = self.arrival - 1 + math.ceil(self.work / self.most_progress)
        return slot if slot <= self.instance.horizon_slots else None

    @cached_property
    def utility(self) -> Floats:
        """u_i of completing in slot t, shape (T + 1,); 0 before the arrival."""
        slots = np.arange(self.instance.horizon_slots + 1)
        out = np.zeros(len(slots))
        out[self.arrival :] = self.job.utility.over(slots[self.arrival :] - self.arrival)
        return out

    @cached_property
    def external_needed(self) -> Ints:
        """External worker-slots needed beside A internal ones, A = 0, 1, ... until none is.

        Raises
        ------
        ModelRefused
            If the job needs more worker-slots than the horizon has for it.
        """
        # More worker-slots than any horizon has make no difference.
        return np.array([min(b, MOST_UNITS) for b in self._external_needed], dtype=np.int64)

    @cached_property
    def _external_needed(self) -> list[int]:
        if self.earliest is None:
            raise ModelRefused(f"job {self.index} cannot complete within the horizon")
        w, s, d = self._lattice
        most = -(-w // s)
        return [max(0, -(-(w - s * a) // d)) for a in range(most + 1)]

    @cached_property
    def least_worker_slots(self) -> int:
        """N_i, the fewest worker-slots with which the work can be done."""
        inside = int(self.most_internal.max()) > 0
        return len(self.external_needed) - 1 if inside else int(self.external_needed[0])

    def least_server_slots(self, worker_slots: int) -> int:
        """Return the fewest server-slots for a number of worker-slots."""
        return math.ceil(worker_slots / self.gamma)

    @cached_property
    def work_level(self) -> Fraction:
        r"""A right side for :math:`\sigma A + B \ge W` as far from integer (A, B) as W allows.

        It lies half way between the largest value below W and the least from W on, so that the
        row decides the same as exact arithmetic does, whatever a solver's tolerance.
        """
        _, s, d = self._lattice
        needed = self._external_needed
        enough = min(s * a + d * b for a, b in enumerate(needed))
        short = max(s * a + d * (b - 1) for a, b in enumerate(needed) if b)
        return Fraction(enough + short, 2 * d)

    @cached_property
    def _lattice(self) -> tuple[int, int, int]:
        """W, sigma and 1 as whole multiples of a common unit."""
        d = math.lcm(self.work.denominator, self.sigma.denominator)
        return int(self.work * d), int(self.sigma * d), d
