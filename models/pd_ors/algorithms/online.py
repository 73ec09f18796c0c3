"""The online loop of PD-ORS and OASiS: each job is accepted or rejected at current prices."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import PdOrsInstance, PdOrsSolution
from ..subproblems.kernel import Plan
from ..subproblems.prices import PriceTable, by_arrival
from ..terms import JobTerms

#: A job is accepted if its payoff is more than this part of its largest utility. By definition.
PAYOFF_TOLERANCE = 1e-12

#: Of a job, prices and the last slot of interest, the cheapest plan for each completion slot.
FindPlans = Callable[[JobTerms, PriceTable, int], dict[int, Plan]]


@dataclass(frozen=True)
class OnlineRun:
    """Outcome of an online run.

    Attributes
    ----------
    plans : tuple of Plan or None
        Of every job; None is rejected.
    payoffs : tuple of float or None
        Utility less cost of the best plan of every job, also if rejected; None if it had no plan.
    table : PriceTable
        At the end.
    limit_hit : str or None
        "time_s" if jobs were rejected without a look for lack of time.
    """

    plans: tuple[Plan | None, ...]
    payoffs: tuple[float | None, ...]
    table: PriceTable
    limit_hit: str | None


def run_online(
    instance: PdOrsInstance, limits: Limits, table: PriceTable, find_plans: FindPlans
) -> OnlineRun:
    """Go through the jobs in order of arrival and accept those whose payoff is positive.

    Parameters
    ----------
    table : PriceTable
        With nothing promised; it is changed.
    find_plans : function
        The kernel; it may raise `TimeoutError`.
    """
    clock = Clock(limits)
    terms = instance.terms
    plans: list[Plan | None] = [None] * len(terms.jobs)
    payoffs: list[float | None] = [None] * len(terms.jobs)
    limit_hit = None
    for i in by_arrival(instance):
        job = terms.jobs[i]
        try:
            if clock.expired:
                raise TimeoutError
            best = best_plan(job, table, find_plans)
        except TimeoutError:
            limit_hit = "time_s"
            break
        if best is None:
            continue
        payoff, plan = best
        payoffs[i] = payoff
        if payoff > PAYOFF_TOLERANCE * float(job.utility.max()):
            plans[i] = plan
            table.take(plan.usage.slots, plan.usage.machines, plan.usage.amounts)
    return OnlineRun(tuple(plans), tuple(payoffs), table, limit_hit)


def best_plan(job: JobTerms, table: PriceTable, find_plans: FindPlans) -> tuple[float, Plan] | None:
    """Return the plan of the largest payoff and that, of equal ones the earliest; None if none.

    Only slots up to the last one of any utility are looked at.
    """
    worthwhile = job.utility.nonzero()[0]
    if job.earliest is None or not len(worthwhile) or worthwhile[-1] < job.earliest:
        return None
    best, best_payoff = None, -math.inf
    for slot, plan in sorted(find_plans(job, table, int(worthwhile[-1])).items()):
        payoff = float(job.utility[slot]) - plan.cost
        if payoff > best_payoff:
            best, best_payoff = plan, payoff
    return None if best is None else (best_payoff, best)


def outcome(instance: PdOrsInstance, run: OnlineRun, notes: dict[str, object]) -> MethodOutcome:
    """Return the decision of a run as the outcome of a method."""
    terms = instance.terms
    schedules = tuple(None if plan is None else plan.slots for plan in run.plans)
    value = math.fsum(
        float(terms.jobs[i].utility[plan.completion])
        for i, plan in enumerate(run.plans)
        if plan is not None
    )
    return MethodOutcome(
        solution=PdOrsSolution(schedules=schedules),
        claimed_objective=value,
        limit_hit=run.limit_hit,
        notes={"payoffs": list(run.payoffs), **notes},
    )
