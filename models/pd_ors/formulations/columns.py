r"""The schedule columns: choose at most one schedule for every job.

It is the reformulation over schedules, R-DMLRS. A schedule :math:`\pi \in \Pi_i` gives the workers
and servers of job i on every machine in every slot and meets all constraints on the job alone: (3),
(4), (6), (8), (9). With its completion slot
:math:`\tilde t_\pi`,

.. math::
    \max\ & \sum_i \sum_{\pi \in \Pi_i} u_i(\tilde t_\pi - a_i)\, x_\pi         \tag{10} \\
    & \sum_i \sum_{\pi \in \Pi_i} (\alpha_i^r w^\pi_{ht} + \beta_i^r s^\pi_{ht})\, x_\pi \le C_h^r
        \quad \forall t, h, r \\
    & \sum_{\pi \in \Pi_i} x_\pi \le 1 \quad \forall i, \qquad x_\pi \in \{0, 1\}

Its linear relaxation is what column generation solves without writing the columns down. Left out
are schedules that are never needed: with more servers than the workers ask for, with workers after
the work is done, of no utility, or that do not fit on the empty machines (reconstructed).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.exact import ROUNDING
from gadgetopt.system.declaring import formulation

from ..instance import PdOrsInstance, PdOrsSolution
from ..subproblems.decoding import Counts, slot_plan, solution
from ..terms import JobTerms
from .aggregated import useful_jobs

#: Columns of all jobs, and placements of one job in a slot, that are written down.
#: Tuned: `benchmarks/constants.py`.
MOST_COLUMNS = 20_000


@dataclass(frozen=True)
class SlotOption:
    """A placement of one job in one slot.

    Attributes
    ----------
    counts : dict
        Workers and servers of every machine with something on it.
    progress : Fraction
        In external worker-slots.
    """

    counts: Counts
    progress: Fraction


@dataclass(frozen=True)
class Schedule:
    """A column: the slots with something in them; the last is that of the completion."""

    job: JobTerms
    slots: tuple[tuple[int, SlotOption], ...]

    @property
    def completion(self) -> int:
        """Slot of completion."""
        return self.slots[-1][0]

    @cached_property
    def use(self) -> dict[tuple[int, int, int], int]:
        """Units taken, by slot, machine and resource."""
        job = self.job
        return {
            (t, h, r): amount
            for t, option in self.slots
            for h, (w, s) in option.counts.items()
            for r, (a, b) in enumerate(zip(job.alpha.tolist(), job.beta.tolist(), strict=True))
            if (amount := a * w + b * s)
        }


def slot_options(job: JobTerms) -> list[SlotOption]:
    """Return every placement of at least one worker, with the servers it needs, in one slot.

    Raises
    ------
    ModelRefused
        If there are more than `MOST_COLUMNS`.
    """
    options = []
    beside = [_servers_beside(job, h) for h in range(len(job.capacity))]
    for n in range(1, job.batch + 1):
        if not job.usable[n]:
            continue
        for counts in _spreads(beside, 0, n, int(job.servers[n])):
            inside = len(counts) == 1
            if job.instance.locality == "internal_only" and not inside:
                continue
            options.append(SlotOption(counts, (job.sigma if inside else Fraction(1)) * n))
            if len(options) > MOST_COLUMNS:
                raise ModelRefused(
                    f"job {job.index} has more than {MOST_COLUMNS} placements in a slot, too many "
                    "to enumerate schedules"
                )
    return options


def _servers_beside(job: JobTerms, h: int) -> list[int]:
    """Return the most servers that fit on a machine beside 0, 1, ... workers."""
    workers = np.arange(job.most_workers_on[h] + 1)
    left = job.capacity[h] - workers[:, None] * job.alpha
    most = np.full(len(workers), job.servers[-1])
    for r in np.flatnonzero(job.beta):
        most = np.minimum(most, left[:, r] // job.beta[r])
    return most.tolist()


def _spreads(beside: list[list[int]], h: int, workers: int, servers: int) -> Iterator[Counts]:
    """Yield the ways to put given numbers of workers and servers on machines h, h + 1, ..."""
    if not workers and not servers:
        yield {}
        return
    if h == len(beside):
        return
    for w, most in enumerate(beside[h][: workers + 1]):
        for s in range(min(servers, most) + 1):
            for rest in _spreads(beside, h + 1, workers - w, servers - s):
                yield {h: (w, s), **rest} if w or s else rest


def number_of_schedules(job: JobTerms, options: list[SlotOption]) -> int:
    """Return how many schedules a job has, without writing them down."""
    kinds = Counter(option.progress for option in options)
    open_ones, complete = Counter({Fraction(0): 1}), 0
    for _ in range(job.arrival, _last(job) + 1):
        longer = open_ones.copy()  # nothing in this slot
        for done, ways in open_ones.items():
            for progress, kind in kinds.items():
                if done + progress >= job.work:
                    complete += ways * kind
                else:
                    longer[done + progress] += ways * kind
        open_ones = longer
    return complete


def schedules(job: JobTerms, options: list[SlotOption]) -> Iterator[Schedule]:
    """Yield every schedule of a job that completes while it is worth something."""

    def extend(
        t: int, done: Fraction, slots: tuple[tuple[int, SlotOption], ...]
    ) -> Iterator[Schedule]:
        if t > _last(job):
            return
        yield from extend(t + 1, done, slots)
        for option in options:
            longer = (*slots, (t, option))
            if done + option.progress >= job.work:
                yield Schedule(job, longer)
            else:
                yield from extend(t + 1, done + option.progress, longer)

    yield from extend(job.arrival, Fraction(0), ())


def _last(job: JobTerms) -> int:
    """Last slot in which completing is worth something."""
    return max(t for t, u in enumerate(job.utility.tolist()) if u > 0)


def all_schedules(instance: PdOrsInstance) -> list[Schedule]:
    """Return the columns of all jobs.

    Raises
    ------
    ModelRefused
        If there are more than `MOST_COLUMNS`.
    """
    jobs = useful_jobs(instance)
    options = {job.index: slot_options(job) for job in jobs}
    count = sum(number_of_schedules(job, options[job.index]) for job in jobs)
    if count > MOST_COLUMNS:
        raise ModelRefused(f"the jobs have {count} schedules, too many to enumerate")
    return [column for job in jobs for column in schedules(job, options[job.index])]


@formulation(name="schedule_columns", model_class="ILP", equations="(10)", objective_error=ROUNDING)
def build(instance: PdOrsInstance) -> pyo.ConcreteModel:
    """A binary variable for every schedule of every job (tiny instances).

    Raises
    ------
    ModelRefused
        If there are more than `MOST_COLUMNS`.
    """
    columns = all_schedules(instance)
    C = instance.terms.capacity.tolist()
    of_job: dict[int, list[int]] = {}
    users: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
    for k, column in enumerate(columns):
        of_job.setdefault(column.job.index, []).append(k)
        for row, amount in column.use.items():
            users.setdefault(row, []).append((amount, k))

    m = pyo.ConcreteModel("R-DMLRS")
    m.columns = columns
    m.I = pyo.Set(initialize=list(of_job), doc="jobs with a schedule")
    m.THR = pyo.Set(dimen=3, initialize=sorted(users), doc="slots, machines, resources in use")
    m.Pi = pyo.RangeSet(0, len(columns) - 1)
    m.x = pyo.Var(m.Pi, domain=pyo.Binary, doc="schedule pi is followed")

    @m.Constraint(m.THR, doc="(10): capacity")
    def capacity(m: Any, t: int, h: int, r: int) -> Any:
        return sum(amount * m.x[k] for amount, k in users[t, h, r]) <= C[h][r]

    @m.Constraint(m.I, doc="(10): at most one schedule for every job")
    def one_schedule(m: Any, i: int) -> Any:
        return sum(m.x[k] for k in of_job[i]) <= 1

    m.total_utility = pyo.Objective(
        expr=sum(float(c.job.utility[c.completion]) * m.x[k] for k, c in enumerate(columns)),
        sense=pyo.maximize,
        doc="(10)",
    )
    return m


def decode(m: pyo.ConcreteModel, instance: PdOrsInstance) -> PdOrsSolution:
    """Follow the schedules chosen."""
    plans = {}
    for k, column in enumerate(m.columns):
        if pyo.value(m.x[k]) > 0.5:
            plans[column.job.index] = [
                slot_plan(column.job, t, option.counts) for t, option in column.slots
            ]
    return solution(instance, plans)
