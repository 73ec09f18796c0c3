"""Bounds over all plans: even work, and the least head-load-tail bound, LB*."""

from __future__ import annotations

from gadgetopt.pieces.pipeline.all_plans.exact_plans import BEFORE_CHECK_PART
from gadgetopt.pieces.pipeline.all_plans.label_search import PlanSpace
from gadgetopt.pieces.pipeline.improvement import short_schedule
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...algorithms.spp import spp
from ...instance import (
    SppInstance,
    SppSolution,
)
from ..certificate import (
    EvenWork,
    Plans,
    SppCertificate,
)


@method(kind="relaxation", reference="counting", formulation="even_work")
def even_work(instance: SppInstance) -> MethodOutcome:
    """All work spread evenly over all GPUs."""
    return MethodOutcome(certificate=SppCertificate(proof=EvenWork()))


@method(kind="relaxation", reference="(S6)", formulation="plan_bound")
def plan_bound(instance: SppInstance, limits: Limits) -> MethodOutcome:
    r"""LB*: the least head-load-tail bound of all plans, by labels.

    Return :math:`LB^*`, the least head-load-tail bound (S6) of all plans, and a plan of it.

    Labels :math:`(L_{max}, \text{head}, Z)` of partial plans, of which dominated ones are left out;
    SPP's makespan is where the search ends. The plan is scheduled by rules.

    Raises
    ------
    ModelRefused
        If the GPUs are of no machines and too many.
    """
    clock = Clock(limits)
    with clock.phase("spp"):
        known = spp(instance, clock.limits(0.5))
    with clock.phase("search"):
        space = PlanSpace(instance)
        limit, before_check = known.claimed_objective, Clock(clock.limits(BEFORE_CHECK_PART))
        # One tick above the makespan, so that SPP's plan is found again if it has the least bound.
        found = (
            space.least_bound(before_check)
            if limit is None
            else space.least_bound(before_check, space.ticks_above(limit) + 1)  # type: ignore[arg-type]
        )
    bound_s = found.ticks * space.tick_s
    infeasible = found.complete and not found.plans and limit is None
    solution, makespan_s = known.solution, limit
    for plan in (x.plan for x in found.plans):
        schedule = short_schedule(shop_of(instance, plan))
        if makespan_s is None or schedule.makespan_s < makespan_s:
            makespan_s = schedule.makespan_s
            solution = SppSolution.of(plan, schedule.orders)
    return MethodOutcome(
        solution=solution,
        claimed_objective=makespan_s,
        certificate=None if infeasible else SppCertificate(proof=Plans(bound_s=bound_s)),
        dual_bound=None if infeasible else bound_s,
        proved=Status.INFEASIBLE if infeasible else None,
        limit_hit=None if found.complete else "time_s",
        phases_s=clock.phases_s,
        notes={"labels": found.labels},
    )
