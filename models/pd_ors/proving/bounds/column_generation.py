r"""Column generation for the linear relaxation of the schedule columns (10), and its certificate.

A round solves the restricted master and prices every job by the kernel at its duals, with full
capacities; the best schedule for every completion slot is added if it has a positive reduced cost.
Any prices p bound the optimum by

.. math:: D(p) = \sum_i \max(0, \text{payoff}_i(p)) + \sum_{t,h,r} C_h^r p_h^r[t],

and the best prices found make the certificate; its check is independent (`certificate/`).
Where a job's work is counted in quanta, schedules cost a little more than they must, and D(p) as
computed here is an estimate; the one that the check computes is a bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, Status, TracePoint

from ...instance import PdOrsInstance
from ...subproblems.kernel import (
    Allow,
    Plan,
)
from .branching_constraints import BranchingConstraint
from .class_pricing import JobPricing
from .restricted_master import RestrictedMaster

#: Reduced costs, relative to the utility of all jobs, up to which a column is not worth adding.
#: Tuned: `benchmarks/constants.py`.
NEGLIGIBLE_GAIN = 1e-10

#: Relative agreement of the master's value and D(p) at which generation ends.
#: Tuned: `benchmarks/constants.py`.
AGREEMENT = 1e-10


@dataclass(frozen=True)
class Restriction:
    """The schedules of a job that a node of branch-and-price allows.

    Attributes
    ----------
    first, last : int
        Slots between which it completes; an earlier completion counts as one in the first.
    accepted : bool
        True if the job has to be accepted.
    allow, forced
        As in `forced_plans`.
    """

    first: int
    last: int
    accepted: bool = False
    allow: Allow | None = None
    forced: list[bool] | None = None


@dataclass
class Generated:
    """Outcome of column generation.

    Attributes
    ----------
    status : Status
        `OPTIMAL` if no column is left to add, `INFEASIBLE` if a job that must be accepted cannot
        be, `NO_SOLUTION` if a limit was hit.
    value : float
        Of the restricted master.
    bound : float
        Least D(p) found.
    price : array, shape (slots, classes, resources)
        The prices of that bound.
    charges : array, shape (cuts,)
        Its charges of the master's first cuts.
    """

    status: Status
    value: float
    bound: float
    price: Floats
    charges: Floats = field(default_factory=lambda: np.zeros(0))
    rounds: int = 0
    limit_hit: str | None = None
    trace: list[TracePoint] = field(default_factory=list)


def pricings(instance: PdOrsInstance) -> list[JobPricing]:
    """Return the pricing of every job that can complete with some utility."""
    return [
        JobPricing(job)
        for job in instance.terms.jobs
        if job.earliest is not None and job.utility[job.earliest] > 0
    ]


def generate(
    master: RestrictedMaster,
    jobs: Sequence[JobPricing],
    limits: Limits,
    *,
    quanta: Sequence[int] = (200,),
    restrictions: dict[int, Restriction] | None = None,
    start: Floats | None = None,
    cutoff: float = -math.inf,
) -> Generated:
    """Add columns to the master until none is left to add, or a limit is hit.

    Parameters
    ----------
    master : RestrictedMaster
        With the columns that are not allowed switched off.
    jobs : sequence of JobPricing
    limits : Limits
    quanta : sequence of int
        Parts of the work where it is not counted exactly, coarse ones first.
    restrictions : dict, optional
        By index of the job.
    start : array, shape (slots, classes, resources), optional
        Prices at which the first columns are made.
    cutoff : float
        Generation stops once the bound is no greater than this.
    """
    clock = Clock(limits)
    first = master.price if start is None else start
    done = Generated(Status.NO_SOLUTION, -math.inf, math.inf, first)
    grain = 0
    price = start
    while True:
        status = Status.OPTIMAL
        if price is None:
            status = master.solve(clock.limits())
            price = master.price
            if status is Status.OPTIMAL:
                done.value = master.lp.objective
        if status is not Status.OPTIMAL or clock.expired:
            done.limit_hit = master.lp.limit_hit or "time_s"
            return done
        duals = _Duals(price) if price is start else _Duals.of(master)
        priced = _price(master, jobs, duals, quanta[grain], restrictions or {}, clock)
        if priced is None:
            done.limit_hit = "time_s"
            return done
        bound, plans = priced
        if bound < done.bound:
            done.bound, done.price, done.charges = bound, price, duals.charges
        done.rounds += 1
        # No `Search`: there is no incumbent here, and whoever called keeps one.
        done.trace.append(TracePoint(clock.elapsed_s, None, done.bound))
        if bound == -math.inf:
            done.status = Status.INFEASIBLE
            return done
        closed = done.value >= done.bound - AGREEMENT * abs(done.bound)
        enough = price is not start and (closed or done.bound <= cutoff)
        if not enough:
            gain = NEGLIGIBLE_GAIN * master.penalty
            worth = [p for p in plans if price is start or _reduced(master, *p) > gain]
            enough = master.add(worth) == 0 and price is not start
        if enough:
            if grain + 1 == len(quanta) or done.bound <= cutoff:
                # The master's values are still those of its last solve.
                done.status = Status.OPTIMAL
                return done
            # Finer quanta make better columns, and other prices.
            grain += 1
            done.bound = math.inf
        price = None


@dataclass(frozen=True)
class _Duals:
    """Prices of capacities by class, and surcharges of cuts."""

    price: Floats
    surcharges: dict[int, list[tuple[BranchingConstraint, float]]] = field(default_factory=dict)
    cut_worth: float = 0.0
    charges: Floats = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of(cls, master: RestrictedMaster) -> _Duals:
        return cls(master.price, master.surcharges, master.cut_worth, master.charges)


def _reduced(master: RestrictedMaster, plan: Plan, completion: int) -> float:
    """Return the reduced cost of a plan made for the master's prices."""
    return float(plan.job.utility[completion] - plan.cost - master.payoff[plan.job.index])


def _price(
    master: RestrictedMaster,
    jobs: Sequence[JobPricing],
    duals: _Duals,
    quanta: int,
    restrictions: dict[int, Restriction],
    clock: Clock,
) -> tuple[float, list[tuple[Plan, int]]] | None:
    """Return D(p) and each job's plans for all completion slots; None if time is up."""
    gains = [master.worth(duals.price), duals.cut_worth]
    found: list[tuple[Plan, int]] = []
    for job in jobs:
        if clock.expired:
            return None
        limit = restrictions.get(job.job.index, Restriction(1, len(duals.price)))
        plans = job.plans(
            duals.price,
            quanta,
            allow=limit.allow,
            forced=limit.forced,
            surcharges=duals.surcharges.get(job.job.index, ()),
        )
        best = -math.inf
        for slot, plan in plans.items():
            # A completion before the first slot allowed counts as one in it.
            completion = max(slot, limit.first)
            if completion <= limit.last and job.job.utility[completion] > 0:
                best = max(best, float(job.job.utility[completion] - plan.cost))
                found.append((plan, completion))
        gains.append(best if limit.accepted else max(0.0, best))
    served = {job.job.index for job in jobs}
    if any(limit.accepted and i not in served for i, limit in restrictions.items()):
        gains.append(-math.inf)
    return float(np.sum(gains)), found
