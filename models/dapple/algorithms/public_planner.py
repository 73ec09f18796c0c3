r"""The authors' public planner, as far as it plans one pipeline on all GPUs.

Pure data parallelism and all plans of two stages under the placement policies are scored by

.. math::
    T = (M - 1)\, t + \sum_l (p^f_l + p^b_l) + \sum_n C_n + \max_i \max(0,\ AR_i - i\, t),

where t is the largest compute of a stage or transfer of one direction, C those transfers, and i the
number of the stage. The least score wins. Its index slip is kept: the AllReduce of a
stage that is not the last counts the first layer of the next stage, too.

The code first runs a dynamic program for the fastest slowest stage, without AllReduce. On all GPUs
that finds one stage, as its compute over G is a lower bound of every slowest stage: that is data
parallelism, scored anyway. It also tries replicated pipelines, which are no plans of this model.
"""

from __future__ import annotations

from gadgetopt.pieces.pipeline.communication import allreduce_factor
from gadgetopt.pieces.pipeline.placement import choices, devices
from gadgetopt.pieces.pipeline.plan import Plan, plan_violations
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import DappleInstance
from .schedules import Warmup, scheduled


@method(kind="heuristic", reference="public planner of Fan et al. 2021")
def dapple_code(
    instance: DappleInstance,
    limits: Limits,
    *,
    warmup: Warmup = "B",
) -> MethodOutcome:
    """The authors' public planner, one pipeline: two stages by an analytic score.

    Return the plan of the public planner, scheduled by warm-up numbers.

    No ratio is proven.

    Parameters
    ----------
    instance : DappleInstance
    limits : Limits
        `time_s` stops between two choices of GPUs.
    warmup : "A", "B" or "best", default "B"
        Warm-up policy; the recursion by which the public code evaluates plans is policy B.

    Notes
    -----
    Written from a description of the code's formulas (reconstructed). Plans that break a limit of
    the instance are left out.

    References
    ----------
    S. Fan et al., "DAPPLE: A Pipelined Data Parallel Approach for Training Large Models", PPoPP
    2021, and its public planner.
    """
    return best_score(instance, limits, warmup, index_slip=True)


def best_score(
    instance: DappleInstance, limits: Limits, warmup: Warmup, *, index_slip: bool
) -> MethodOutcome:
    """Return the plan of the least score, with or without the index slip of the public code."""
    clock = Clock(limits)
    with clock.phase("planner"):
        candidates = [one_stage(instance), *two_stages(instance, clock)]
        limit_hit = "time_s" if clock.expired else None
        allowed = [plan for plan in candidates if not plan_violations(instance, plan)]
    if not allowed:
        return MethodOutcome(limit_hit=limit_hit, phases_s=clock.phases_s)
    plan = min(allowed, key=lambda p: score_s(instance, p, index_slip=index_slip))
    best = scheduled(shop_of(instance, plan), warmup)
    return MethodOutcome(
        solution=best.solution(plan),
        claimed_objective=best.schedule.makespan_s,
        limit_hit=limit_hit,
        phases_s=clock.phases_s,
        notes={
            "score_s": score_s(instance, plan, index_slip=index_slip),
            "candidates": len(allowed),
            "warmup_policy": best.policy,
        },
    )


def score_s(instance: DappleInstance, plan: Plan, *, index_slip: bool = True) -> float:
    """Return the public planner's analytic estimate of an iteration, in seconds."""
    chain = instance.chain
    f, b, a = shop_of(instance, plan).in_seconds()
    longest = float(max((f + b)[::2].max(), f[1::2].max(initial=0.0)))
    total = float(chain.fwd_sum_s[-1] + chain.bwd_sum_s[-1])
    reduce_s = a[::2]
    if index_slip:
        for n, (first, end) in enumerate(plan.stage_layers[:-1]):
            counted = chain.param_sum_bytes[end + 1] - chain.param_sum_bytes[first]
            reduce_s[n] = float(allreduce_factor(instance, plan.stage_devices[n]) * counted)
    late = max(0.0, *(float(r) - n * longest for n, r in enumerate(reduce_s)))
    steady = (instance.num_microbatches - 1) * longest
    return steady + total + float(f[1::2].sum()) + late


def one_stage(instance: DappleInstance) -> Plan:
    """Return pure data parallelism."""
    return Plan(
        stage_layers=((0, instance.num_layers),),
        stage_devices=(tuple(range(instance.num_gpus)),),
    )


def two_stages(instance: DappleInstance, clock: Clock) -> list[Plan]:
    """Return all plans of two stages under the policies, as far as time allows."""
    sizes, layers = instance.cluster.gpus_per_machine, instance.num_layers
    empty = (0,) * len(sizes)
    found: list[Plan] = []
    for need in range(1, instance.num_gpus):
        for counts in choices(sizes, empty, need, "code"):
            if clock.expired:
                return found
            rest = tuple(s - c for s, c in zip(sizes, counts, strict=True))
            gpus = devices(sizes, empty, counts), devices(sizes, counts, rest)
            found += [
                Plan(stage_layers=((0, cut), (cut, layers)), stage_devices=gpus)
                for cut in range(1, layers)
            ]
    return found
