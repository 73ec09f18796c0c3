"""The least iteration time of all plans and orders."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.pipeline.all_plans.exact_plans import ExactPlans, Planned
from gadgetopt.pieces.pipeline.all_plans.label_search import PlanSpace
from gadgetopt.pieces.pipeline.improvement import short_schedule
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.pieces.pipeline.simulator import simulate
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...algorithms.device_order import (
    MOST_CUT,
    rdo_order,
)
from ...algorithms.prm import prm_of
from ...algorithms.spp import candidates
from ...baselines.planners import dapple, pipedream
from ...baselines.straight import (
    data_parallel,
    gpipe,
    hetpipe,
)
from ...heuristics.other_ties import spp_by_bound
from ...instance import (
    SppInstance,
    SppSolution,
)
from ...work import even_work_s
from ..certificate import (
    EvenWork,
    Plans,
    SppCertificate,
)

#: Part of the time for the search; what is left of it is the planners', if it is open then.
#: Tuned: `benchmarks/constants.py`.
SEARCH_PART = 0.85
#: Baselines, and the part of the time that is left that each may take.
BASELINES: tuple[tuple[Callable[..., MethodOutcome], float], ...] = (
    (data_parallel, 0.2),
    (gpipe, 0.2),
    (hetpipe, 0.2),
    (pipedream, 0.2),
    (dapple, 0.05),
)


@method(kind="exact", reference="this project", formulation="exact_spp", backend="cpsat")
def exact_spp(instance: SppInstance, limits: Limits, rng: np.random.Generator) -> MethodOutcome:
    """SPP, then all plans whose bound is below it, each scheduled by CP-SAT.

    1. The bound of even work. The plans of the baselines, DAPPLE's for a twentieth of the time at
       most, and of SPP, each with the shortest of several rules' schedules.
    2. The least head-load-tail bound of all plans, by labels; the plan that has it is scheduled.
    3. All plans whose bound is below the incumbent are enumerated, and each gets its one-machine
       bound and a schedule.
    4. Plans still below the incumbent are scheduled by CP-SAT, smallest bound first.
    5. If it is open still, planners that had not ended, and SPP's other ties, are asked, so that it
       returns nothing longer than what they find by then.

    Up to step 3 the bound has a certificate; a bound of step 4 is CP-SAT's word.

    Parameters
    ----------
    instance : SppInstance
    limits : Limits
    rng : numpy.random.Generator
        Used by local search and CP-SAT.

    Notes
    -----
    On more GPUs than subsets can be enumerated of, unless they are in machines, it ends with step
    1.
    """
    search: Search[Planned] = Search("min", limits)
    run = ExactPlans(
        instance,
        search,
        rng,
        lambda bound_s, orders: SppCertificate(proof=Plans(bound_s=bound_s, orders=orders)),
        part=SEARCH_PART,
    )
    try:
        with search.interruptible():
            search.prove(even_work_s(instance), SppCertificate(proof=EvenWork()))
            with search.clock.phase("baselines"):
                _offer_baselines(instance, search)
            with search.clock.phase("spp"):
                _begin(instance, search)
            if search.best is None and not search.over:
                _prove_infeasible(instance, search)
            if not search.over:
                run.run()
            if not (search.closed or search.clock.expired):
                with search.clock.phase("planners"):
                    _offer_planners(instance, search)
    except ModelRefused as refusal:  # too many GPUs: what there is so far remains
        run.notes["refused"] = str(refusal)
    solution = None
    if search.best is not None:
        plan, schedule = search.best
        solution = SppSolution.of(plan, schedule.orders)
    return search.outcome(solution, **run.notes)


def _offer_baselines(instance: SppInstance, search: Search[Planned]) -> None:
    """Offer the baselines' plans, so that no short run ends with a longer one."""
    for baseline, part in BASELINES:
        if search.over:
            return
        _offer_method(instance, search, baseline, part)


def _offer_planners(instance: SppInstance, search: Search[Planned]) -> None:
    """Offer what slower planners find in the time that is left."""
    for planner, part in ((spp_by_bound, 0.5), (dapple, 1.0)):
        if not (search.closed or search.clock.expired):
            _offer_method(instance, search, planner, part)


def _offer_method(
    instance: SppInstance,
    search: Search[Planned],
    planner: Callable[..., MethodOutcome],
    part: float,
) -> None:
    """Offer the plan of a method, with its orders or those of a rule if they are shorter."""
    try:
        found = planner(instance, search.clock.limits(part)).solution
    except ModelRefused:  # its plan or its orders are not allowed here
        return
    if isinstance(found, SppSolution):
        schedule = simulate(shop_of(instance, found.plan), found.orders)
        shorter = min(schedule, short_schedule(schedule.shop), key=lambda s: s.makespan)
        search.offer(shorter.makespan_s, (found.plan, shorter))


def _begin(instance: SppInstance, search: Search[Planned]) -> None:
    """Offer SPP's plans, under PE and the other rules."""
    few = instance.num_gpus <= MOST_CUT
    gpus = rdo_order(instance) if few else tuple(range(instance.num_gpus))
    prm = prm_of(instance, gpus)
    for found in candidates(instance, prm, gpus):
        search.offer(found.makespan_s, (found.plan, found.schedule))
        shorter = short_schedule(found.schedule.shop)
        search.offer(shorter.makespan_s, (found.plan, shorter))
        if search.over:
            break


def _prove_infeasible(instance: SppInstance, search: Search[Planned]) -> None:
    """Find out whether there is any plan at all: none may fit into memory."""
    found = PlanSpace(instance).least_bound(search.clock)
    search.infeasible = found.complete and not found.plans
