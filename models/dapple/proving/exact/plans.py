"""The least iteration time over all plans and orders."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.pipeline.all_plans.exact_plans import ExactPlans, Planned
from gadgetopt.pieces.pipeline.all_plans.proofs.orders import OrderProof
from gadgetopt.pieces.pipeline.improvement import short_schedule
from gadgetopt.pieces.pipeline.latency_planner import plan_by_latency
from gadgetopt.pieces.pipeline.plan import Plan, plan_violations
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import OWN_LIMIT, Limits, MethodOutcome

from ...algorithms.planner import dapple
from ...algorithms.public_planner import dapple_code
from ...algorithms.schedules import scheduled
from ...baselines.blocks import balanced_plan
from ...baselines.parallel import data_parallel, gpipe, straight
from ...baselines.pipedream import pipedream
from ...instance import (
    DappleInstance,
    DappleSolution,
)
from ...subproblems.copies import copy_numbers
from ..certificate.check import CopiesProof, DappleCertificate
from ..certificate.copies import proved_of_copies_s
from .copies import CopiesSearch

#: Part of the time for the search; what is left of it is the planners', if it is open then.
#: Tuned: `benchmarks/constants.py`.
SEARCH_PART = 0.85

#: Part of the time for plans of one pipeline, where copies are allowed.
#: Tuned: `benchmarks/constants.py`.
ONE_PIPELINE_PART = 0.5


@method(kind="exact", reference="this project", formulation="exact_plans", backend="cpsat")
def exact_plans(
    instance: DappleInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    max_stages: int = 3,
) -> MethodOutcome:
    """Plans by labels, schedules by rules, local search and CP-SAT; copies by outlines.

    Return the plan and the orders of the least iteration time.

    1. Balanced blocks of many stages, plans of the planner, of at most two stages and then of a few
       more, and the baselines' plans, scheduled by warm-up numbers and other rules: the incumbent.
    2. The least head, load and tail over all plans, by labels.
    3. All plans below the incumbent, with their one-machine bounds and schedules by rules.
    4. What is left, smallest bound first, by CP-SAT.
    5. If it is open still, the paper's planner and its public code are asked, so that it returns
       nothing longer than what they find by then.

    Bounds of steps 2 and 3 have certificates; those of step 4 are CP-SAT's word.

    Where the instance allows copies of the pipeline, that is done for one pipeline in half of the
    time, and then plans of several copies are gone through (`copies`).

    Parameters
    ----------
    instance : DappleInstance
    limits : Limits
    rng : numpy.random.Generator
        Used by the local search and for the seeds of CP-SAT.
    max_stages : int, default 3
        Most stages of the planner's plan in step 1; the search itself knows no limit.
    """
    if max_stages < 1:
        raise ModelRefused(f"max_stages: {max_stages}, expected at least 1")
    if max(copy_numbers(instance)) == 1:
        return _one_pipeline(instance, limits, rng, max_stages)
    return _with_copies(instance, limits, rng, max_stages)


def _with_copies(
    instance: DappleInstance, limits: Limits, rng: np.random.Generator, max_stages: int
) -> MethodOutcome:
    """Return the best plan of any number of copies."""
    search: Search[DappleSolution] = Search("min", limits)
    alone = instance.model_copy(update={"max_copies": 1})
    copies = CopiesSearch(instance, search, rng)
    with search.interruptible():
        with search.clock.phase("one pipeline"):
            one = _one_pipeline(alone, search.clock.limits(ONE_PIPELINE_PART), rng, max_stages)
        if not isinstance(one.solution, DappleSolution) or one.claimed_objective is None:
            return one  # if one pipeline does not fit, several do not either
        search.offer(one.claimed_objective, one.solution)
        bound_s = Fraction(one.dual_bound or 0)
        with search.clock.phase("copies"):
            numbers = [number for number in copy_numbers(instance) if number > 1]
            for number in numbers:
                copies.run(number)
        with search.clock.phase("proof"):
            _prove_copies(instance, search, copies, one, numbers)
        if copies.complete:
            search.prove(min(bound_s, Fraction(search.value)))
    if not search.closed and search.limit_hit is None:
        search.limit_hit = one.limit_hit or ("time_s" if search.clock.expired else OWN_LIMIT)
    return search.outcome(search.best, **one.notes)


def _prove_copies(
    instance: DappleInstance,
    search: Search[DappleSolution],
    copies: CopiesSearch,
    one: MethodOutcome,
    numbers: Sequence[int],
) -> None:
    """Prove what follows from one pipeline and from the outlines of several."""
    if not isinstance(one.certificate, DappleCertificate):
        return
    proved, found = min(one.certificate.makespan_s, Fraction(search.value)), []
    try:
        for number in numbers:
            proofs = copies.order_proofs(number)
            proved = min(proved, proved_of_copies_s(instance, number, proved, proofs))
            found.append(CopiesProof(copies=number, orders=proofs))
    except ValueError:  # too many outlines
        return
    search.prove(
        proved,
        DappleCertificate(makespan_s=proved, orders=one.certificate.orders, of_copies=tuple(found)),
    )


def _one_pipeline(
    instance: DappleInstance, limits: Limits, rng: np.random.Generator, max_stages: int
) -> MethodOutcome:
    """Return the best plan of one pipeline."""
    search: Search[Planned] = Search("min", limits)
    run = ExactPlans(instance, search, rng, _certified, part=SEARCH_PART)
    with search.interruptible():
        with search.clock.phase("blocks"):
            _offer_balanced(instance, search)
        with search.clock.phase("planner"):
            for stages in sorted({min(2, max_stages), max_stages}):
                _offer_planned(instance, search, stages)
            _offer_baselines(instance, search)
        run.run()
        if not (search.closed or search.clock.expired):
            with search.clock.phase("planner"):
                _offer_planners(instance, search)
        if not search.closed and search.limit_hit is None:
            search.limit_hit = "time_s"  # of the search's part
    solution = None
    if search.best is not None:
        plan, schedule = search.best
        solution = DappleSolution.of(plan, orders=schedule.orders)
    return search.outcome(solution, **run.notes)


def _certified(bound_s: Fraction, orders: tuple[OrderProof, ...]) -> DappleCertificate:
    return DappleCertificate(makespan_s=bound_s, orders=orders)


def _offer_balanced(instance: DappleInstance, search: Search[Planned]) -> None:
    """Offer balanced blocks of as many stages as there can be, half as many and so on."""
    stages = instance.most_stages
    while stages and not search.clock.expired:
        _offer(instance, search, balanced_plan(instance, stages))
        stages //= 2


def _offer_planned(instance: DappleInstance, search: Search[Planned], stages: int) -> None:
    """Offer the plan of the least bound of at most so many stages, a tenth of the time at most."""
    clock = Clock(search.clock.limits(0.1))
    plan = plan_by_latency(instance, clock, max_stages=stages, memo="best_prefix", pivot="max").plan
    if plan is not None:
        _offer(instance, search, plan)


def _offer_baselines(instance: DappleInstance, search: Search[Planned]) -> None:
    """Offer the baselines' plans, which take next to no time."""
    for baseline in (data_parallel, gpipe, straight, pipedream):
        if search.over:
            return
        try:
            _offer_solution(instance, search, baseline(instance))
        except ModelRefused:  # its plan is not allowed here
            continue


def _offer_planners(instance: DappleInstance, search: Search[Planned]) -> None:
    """Offer what the paper's planner, and its public code, find in the time that is left."""
    for planner, part in ((dapple, 0.8), (dapple_code, 1.0)):
        if not (search.closed or search.clock.expired):
            _offer_solution(instance, search, planner(instance, search.clock.limits(part)))


def _offer_solution(
    instance: DappleInstance, search: Search[Planned], found: MethodOutcome
) -> None:
    if isinstance(found.solution, DappleSolution):
        _offer(instance, search, found.solution.plan)


def _offer(instance: DappleInstance, search: Search[Planned], plan: Plan) -> None:
    if plan_violations(instance, plan):
        return
    shop = shop_of(instance, plan)
    for schedule in (scheduled(shop, "best").schedule, short_schedule(shop)):
        search.offer(schedule.makespan_s, (plan, schedule))
