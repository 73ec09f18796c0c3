r"""The least head, load and tail over all plans, :math:`LB^* = \min_{plan} \max_Q L_Q`."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.tolerance import Number
from gadgetopt.pieces.pipeline.all_plans.exact_plans import BEFORE_CHECK_PART
from gadgetopt.pieces.pipeline.all_plans.label_search import PlanSpace
from gadgetopt.pieces.pipeline.all_plans.stage_tables import NEVER
from gadgetopt.pieces.pipeline.latency_planner import plan_by_latency
from gadgetopt.pieces.pipeline.orders import round_orders
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.pieces.pipeline.simulator import simulate
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import OWN_LIMIT, Limits, MethodOutcome

from ...algorithms.schedules import scheduled
from ...instance import (
    DappleInstance,
    DappleSolution,
)
from ..certificate.check import DappleCertificate


@method(kind="approximation", reference="this project", formulation="labels")
def least_bound(instance: DappleInstance, limits: Limits) -> MethodOutcome:
    r"""The plan of the least head, load and tail, by labels; its best simple schedule.

    Return a lower bound on every plan's iteration time, and a schedule of a plan that has it.

    The iteration time is at most

    .. math:: \Big(2 + \frac{4S - 4}{M}\Big)\, OPT

    with S the largest number of stages, for links of half duplex and no limit of microbatches in
    flight.

    Parameters
    ----------
    instance : DappleInstance
    limits : Limits

    Raises
    ------
    ModelRefused
        If several copies of the pipeline are allowed, of which labels know nothing.

    Notes
    -----
    The label :math:`(L_{max}, head, Z)` of a prefix holds all that the bound of its completions
    depends on, and larger numbers only hurt: a dynamic program that keeps the labels which no other
    dominates is exact. The best schedule of a plan of at most two stages cuts it off. Schedules are
    those of both warm-up policies and of rounds.
    """
    if instance.max_copies > 1:
        raise ModelRefused(
            f"max_copies: {instance.max_copies}, expected 1; labels know one pipeline"
        )
    search: Search[DappleSolution] = Search("min", limits)
    clock = search.clock
    with clock.phase("two stages"):
        known = plan_by_latency(instance, Clock(clock.limits()), max_stages=2, pivot="max").plan
        _offer(instance, search, known)
    with clock.phase("labels"):
        space = PlanSpace(instance)
        cutoff = space.ticks_above(Fraction(search.value)) if search.best else NEVER
        before_check = Clock(clock.limits(BEFORE_CHECK_PART))
        least = space.least_bound(before_check, cutoff)
    with clock.phase("schedules"):
        for found in least.plans:
            _offer(instance, search, found.plan)
    bound_s = least.ticks * space.tick_s
    search.prove(bound_s, DappleCertificate(makespan_s=bound_s))
    outcome = search.outcome(search.best, labels=least.labels)
    if least.complete:  # the gap that is left is no limit's doing
        outcome.limit_hit = None
    elif outcome.limit_hit is None and not search.closed:
        outcome.limit_hit = "time_s" if before_check.expired else OWN_LIMIT
    return outcome


def _offer(instance: DappleInstance, search: Search[DappleSolution], plan: Plan | None) -> None:
    if plan is not None:
        for makespan_s, solution in _schedules(instance, plan):
            search.offer(makespan_s, solution)


def _schedules(instance: DappleInstance, plan: Plan) -> Iterator[tuple[Number, DappleSolution]]:
    shop = shop_of(instance, plan)
    early = scheduled(shop, "best")
    yield early.schedule.makespan_s, early.solution(plan)
    rounds = simulate(shop, round_orders(shop))
    yield rounds.makespan_s, DappleSolution.of(plan, orders=rounds.orders)
