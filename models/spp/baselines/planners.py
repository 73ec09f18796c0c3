"""The planners of PipeDream and DAPPLE, with synchronous 1F1B schedules."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Literal

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.latency_planner import plan_by_latency
from gadgetopt.pieces.pipeline.orders import allowed_warmups, one_forward_one_backward
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.pipeline.shop import Shop
from gadgetopt.pieces.pipeline.slowest_stage import Level, SlowestStagePlan, plan_slowest_stage
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.block_costs import bandwidth_matrix
from ..instance import SppInstance
from .schedules import one_forward_one_backward_orders, outcome

Network = Literal["flat", "hierarchical"]
WarmUp = Literal["A", "B"]


@method(kind="baseline", reference="Narayanan et al. 2019")
def pipedream(
    instance: SppInstance,
    limits: Limits,
    *,
    network: Network = "flat",
) -> MethodOutcome:
    """Least slowest stage by PipeDream's optimiser, synchronous 1F1B.

    Parameters
    ----------
    instance : SppInstance
    limits : Limits
    network : "flat" or "hierarchical", default "flat"
        All GPUs behind the slowest link, or first inside machines of equal size and then across.

    Notes
    -----
    Stages take GPUs in their order. Its cost model is its own; the schedule is timed by ours.

    Raises
    ------
    ModelRefused
        If "hierarchical" is asked of a cluster that has no machines of equal size.

    References
    ----------
    D. Narayanan et al., "PipeDream: Generalized Pipeline Parallelism for DNN Training", SOSP 2019.
    """
    clock = Clock(limits)
    M, layers = instance.num_microbatches, instance.layers
    with clock.phase("plan"):
        found = plan_slowest_stage(
            [M * (x.fwd_time_s + x.bwd_time_s) for x in layers],
            [x.param_bytes for x in layers],
            [M * x.act_bytes for x in layers],
            _levels(instance, network),
        )
    assert found is not None, "replicated stages always make a plan"
    plan = _flat(found) if network == "flat" else _nested(instance, found)
    return outcome(instance, plan, one_forward_one_backward_orders, clock)


def _levels(instance: SppInstance, network: Network) -> list[Level]:
    cluster = instance.cluster
    if network == "hierarchical":
        sizes = cluster.gpus_per_machine if isinstance(cluster, TwoLevelCluster) else ()
        if len(set(sizes)) != 1 or not isinstance(cluster, TwoLevelCluster):
            raise ModelRefused("network: 'hierarchical' needs machines with equally many GPUs")
        inside = Level(sizes[0], cluster.intra_bytes_per_s)
        return [inside, Level(len(sizes), cluster.inter_bytes_per_s)]
    b = bandwidth_matrix(instance)
    slowest = min((float(x) for x in b[b > 0]), default=1.0)
    return [Level(instance.num_gpus, slowest)]


def _flat(found: SlowestStagePlan) -> Plan:
    ends = list(accumulate(number for _, _, number in found.stages))
    return Plan(
        stage_layers=tuple((first, end) for first, end, _ in found.stages),
        stage_devices=tuple(
            tuple(range(last - number, last))
            for last, (_, _, number) in zip(ends, found.stages, strict=True)
        ),
    )


def _nested(instance: SppInstance, found: SlowestStagePlan) -> Plan:
    """Return the plan whose outer stages have whole machines, each with the same inner plan."""
    assert isinstance(instance.cluster, TwoLevelCluster), "machines have levels"
    machines: Sequence[range] = instance.cluster.machine_gpus
    layers, devices, taken = [], [], 0
    for (_, _, number), inner in zip(found.stages, found.inner, strict=True):
        own, at = machines[taken : taken + number], 0
        for first, end, replicas in inner.stages:
            layers.append((first, end))
            devices.append(tuple(v for gpus in own for v in gpus[at : at + replicas]))
            at += replicas
        taken += number
    return Plan(stage_layers=tuple(layers), stage_devices=tuple(devices))


@method(kind="baseline", reference="Fan et al. 2021")
def dapple(
    instance: SppInstance,
    limits: Limits,
    *,
    max_stages: int = 2,
    warm_up: WarmUp = "B",
) -> MethodOutcome:
    r"""Least pivot latency by DAPPLE's planner, early backward.

    Parameters
    ----------
    instance : SppInstance
    limits : Limits
        `time_s` stops the planner with the best plan so far.
    max_stages : int, default 2
        The planner's plans grow exponentially in number with the stages.
    warm_up : "A" or "B", default "B"
        Forwards of stage n before its first backward: S - n, or 2 (S - n) - 1.

    Raises
    ------
    ModelRefused
        If no plan fits into memory, or the planner leaves a GPU without a stage.

    References
    ----------
    S. Fan et al., "DAPPLE: A Pipelined Data Parallel Approach for Training Large Models", PPoPP
    2021.
    """
    clock = Clock(limits)
    if max_stages < 1:
        raise ModelRefused(f"max_stages: {max_stages}, expected at least 1")
    with clock.phase("plan"):
        found = plan_by_latency(instance, clock, max_stages=max_stages)
    if found.plan is None:
        raise ModelRefused("no plan of the planner fits into memory")

    def early_backward(shop: Shop) -> list[list[int]]:
        S = shop.num_stages
        wanted = [S - n if warm_up == "A" else 2 * (S - n) - 1 for n in range(S)]
        warmups = allowed_warmups(shop, [w for w in wanted for _ in range(2)][:-1])[::2]
        return [one_forward_one_backward(shop.num_microbatches, w) for w in warmups]

    made = outcome(instance, found.plan, early_backward, clock, latency_s=found.latency_s)
    made.limit_hit = None if found.complete else "time_s"
    return made
