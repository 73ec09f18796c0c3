"""Schedules of a plan: early backward with warm-up policies A and B, GPipe, and what they leave.

- Policy A: stage i runs min(S - i, D) forwards before its first backward. For activations that are
  small beside the compute.
- Policy B: min(2 (S - i) - 1, D). For transfers about as long as the compute: links count as
  stages.

D is what memory allows. Warm-ups never increase from a stage to the next, which could deadlock.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from gadgetopt.pieces.pipeline.bound import head_load_tail
from gadgetopt.pieces.pipeline.dispatch import channels_first_come, dispatch
from gadgetopt.pieces.pipeline.orders import (
    gpipe_orders,
    one_forward_one_backward,
    round_orders,
)
from gadgetopt.pieces.pipeline.pivot_latency import Ending, PivotRule, latency_s, pivot_of
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.pipeline.shop import Shop, shop_of
from gadgetopt.pieces.pipeline.simulator import Schedule, simulate

from ..instance import DappleInstance, DappleSolution

Warmup = Literal["A", "B", "best"]


def warmups(shop: Shop, policy: Literal["A", "B"]) -> list[int]:
    """Return the warm-up number of every stage under a policy, capped by D and M."""
    stages, chosen = shop.num_stages, [shop.num_microbatches]
    for i in range(stages):
        ahead = stages - i if policy == "A" else 2 * (stages - i) - 1
        chosen.append(max(1, min(ahead, shop.max_in_flight[i], chosen[-1])))
    return chosen[1:]


def early_backward(shop: Shop, numbers: list[int]) -> Schedule:
    """Return the schedule of warm-up numbers; links serve in order of arrival."""
    orders = [one_forward_one_backward(shop.num_microbatches, k) for k in numbers]
    return dispatch(shop, channels_first_come(orders))


@dataclass(frozen=True)
class EarlyBackward:
    """A schedule by a warm-up policy.

    Attributes
    ----------
    policy : "A" or "B"
    numbers : list of int
        Warm-up of each stage.
    schedule : Schedule
    """

    policy: Literal["A", "B"]
    numbers: list[int]
    schedule: Schedule

    def solution(self, plan: Plan) -> DappleSolution:
        """Return it as a solution."""
        return DappleSolution.of(plan, warmup=self.numbers)


def scheduled(shop: Shop, warmup: Warmup) -> EarlyBackward:
    """Return the schedule of a policy; of "best" the shorter one, A if they are equal."""
    policies: tuple[Literal["A", "B"], ...] = ("A", "B") if warmup == "best" else (warmup,)
    found = []
    for policy in policies:
        numbers = warmups(shop, policy)
        found.append(EarlyBackward(policy, numbers, early_backward(shop, numbers)))
    return min(found, key=lambda each: each.schedule.makespan)


@dataclass(frozen=True)
class PlanRecord:
    """What can be said of a plan without a solver, in seconds.

    Attributes
    ----------
    latency_paper_s : float
        The planner's estimate: a bound in neither direction.
    pivot_paper, pivot_max : int
        Pivot by the printed rule, and that of the largest bound.
    lower_bound_s : Fraction
        No schedule of the plan is shorter.
    makespan_s : dict
        Makespans of the policies A and B, of GPipe's order and of the orders of rounds (PE).
    """

    latency_paper_s: float
    pivot_paper: int
    pivot_max: int
    lower_bound_s: Fraction
    makespan_s: dict[str, Fraction]


def record(
    instance: DappleInstance,
    plan: Plan,
    *,
    pivot: PivotRule = "paper",
    ending: Ending = "derived",
) -> PlanRecord:
    """Return estimate, bound and simulated makespans of a plan that violates nothing."""
    return record_of(shop_of(instance, plan), pivot=pivot, ending=ending)


def record_of(shop: Shop, *, pivot: PivotRule = "paper", ending: Ending = "derived") -> PlanRecord:
    """Return what `record` does, of a shop."""
    f, b, a = (row.tolist() for row in shop.in_seconds())
    M = shop.num_microbatches
    chosen = pivot_of(f, b, a, M, pivot)
    makespans = {policy: scheduled(shop, policy).schedule.makespan_s for policy in ("A", "B")}
    if not shop.memory_limited:
        makespans["GPipe"] = simulate(shop, gpipe_orders(shop)).makespan_s
    makespans["PE"] = simulate(shop, round_orders(shop)).makespan_s
    return PlanRecord(
        float(latency_s(f, b, a, M, chosen, ending)),
        chosen,
        pivot_of(f, b, a, M, "max"),
        head_load_tail(shop).value_s,
        makespans,
    )
