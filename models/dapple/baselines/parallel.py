"""Data parallelism, GPipe and straight pipelines."""

from __future__ import annotations

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.pipeline.orders import gpipe_orders
from gadgetopt.pieces.pipeline.plan import Plan, plan_violations
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.pieces.pipeline.simulator import simulate
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..algorithms.schedules import Warmup, scheduled
from ..instance import DappleInstance, DappleSolution
from .blocks import balanced_plan


@method(kind="baseline", reference="Fan et al. 2021, comparison")
def data_parallel(instance: DappleInstance) -> MethodOutcome:
    """One stage on all GPUs, gradients accumulated.

    Parameters
    ----------
    instance : DappleInstance
    """
    plan = Plan(
        stage_layers=((0, instance.num_layers),),
        stage_devices=(tuple(range(instance.num_gpus)),),
    )
    return early_backward_outcome(instance, plan, "A")


@method(kind="baseline", reference="Huang et al. 2019, with the balance of torchgpipe")
def gpipe(instance: DappleInstance, *, stages: int = 0) -> MethodOutcome:
    """Balanced blocks; all forward blocks before all backward blocks.

    Parameters
    ----------
    instance : DappleInstance
    stages : int, default 0
        Number of stages, the GPUs shared out evenly; 0 for as many as there can be.

    Notes
    -----
    Blocks as torchgpipe balances them: the largest forward and backward time is least.
    """
    plan = balanced_plan(instance, _stages(instance, stages))
    refuse_violations(instance, plan)
    shop = shop_of(instance, plan)
    if shop.memory_limited:
        raise ModelRefused("options: GPipe keeps all microbatches in flight")
    schedule = simulate(shop, gpipe_orders(shop))
    return MethodOutcome(
        solution=DappleSolution.of(plan, orders=schedule.orders),
        claimed_objective=schedule.makespan_s,
        notes={"stages": plan.num_stages},
    )


@method(kind="baseline", reference="Fan et al. 2021, comparison")
def straight(
    instance: DappleInstance,
    *,
    stages: int = 0,
    warmup: Warmup = "best",
) -> MethodOutcome:
    """Balanced blocks, one stage a GPU; early backward.

    Parameters
    ----------
    instance : DappleInstance
    stages : int, default 0
        Number of stages, the GPUs shared out evenly; 0 for as many as there can be.
    warmup : "A", "B" or "best", default "best"
        Warm-up policy; "best" simulates both.
    """
    return early_backward_outcome(
        instance, balanced_plan(instance, _stages(instance, stages)), warmup
    )


def early_backward_outcome(instance: DappleInstance, plan: Plan, warmup: Warmup) -> MethodOutcome:
    """Return the outcome of a plan under a warm-up policy.

    Raises
    ------
    ModelRefused
        If the plan violates a limit of the instance.
    """
    refuse_violations(instance, plan)
    best = scheduled(shop_of(instance, plan), warmup)
    return MethodOutcome(
        solution=best.solution(plan),
        claimed_objective=best.schedule.makespan_s,
        notes={"stages": plan.num_stages, "warmup_policy": best.policy},
    )


def refuse_violations(instance: DappleInstance, plan: Plan) -> None:
    """Raise `ModelRefused` if a plan violates a limit of the instance."""
    for violation in plan_violations(instance, plan):
        raise ModelRefused(f"the plan breaks a limit of the instance: {violation}")


def _stages(instance: DappleInstance, stages: int) -> int:
    if not 0 <= stages <= instance.most_stages:
        raise ModelRefused(f"stages: {stages}, expected 0 to {instance.most_stages}")
    return stages or instance.most_stages
