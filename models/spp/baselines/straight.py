"""Data parallelism, and pipelines of one GPU a stage: GPipe and HetPipe."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.dispatch import channels_first_come, dispatch
from gadgetopt.pieces.pipeline.orders import all_forward_first, one_forward_one_backward
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.pipeline.shop import Shop, shop_of, shop_of_times
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import SppInstance
from .schedules import one_forward_one_backward_orders, outcome


@method(kind="baseline", reference="synchronous data parallelism")
def data_parallel(instance: SppInstance, limits: Limits) -> MethodOutcome:
    r"""One stage on all GPUs.

    Return the plan of one stage on all GPUs: :math:`T = M (F + B) + A`.

    Every microbatch's backward follows its forward, so one microbatch is in flight.
    """
    clock = Clock(limits)
    everything = tuple(range(instance.num_gpus))
    plan = Plan(stage_layers=((0, instance.num_layers),), stage_devices=(everything,))

    def one_by_one(shop: Shop) -> list[list[int]]:
        return [one_forward_one_backward(shop.num_microbatches, 1)]

    return outcome(instance, plan, one_by_one, clock)


@method(kind="baseline", reference="Huang et al. 2019")
def gpipe(instance: SppInstance, limits: Limits) -> MethodOutcome:
    """One GPU a stage, all forwards before all backwards.

    Return V stages of one GPU each, as even as possible; all forwards, then all backwards.

    The GPUs are taken in their order.

    Raises
    ------
    ModelRefused
        If there are fewer layers than GPUs, or a stage may not hold all microbatches.

    References
    ----------
    Y. Huang et al., "GPipe: Efficient Training of Giant Neural Networks using Pipeline
    Parallelism", NeurIPS 2019.
    """
    clock = Clock(limits)
    V = instance.num_gpus
    plan = Plan(stage_layers=even_blocks(instance, V), stage_devices=tuple((v,) for v in range(V)))

    def in_two_phases(shop: Shop) -> list[list[int]]:
        return [all_forward_first(shop.num_microbatches) for _ in range(shop.num_stages)]

    return outcome(instance, plan, in_two_phases, clock)


@method(kind="baseline", reference="Park et al. 2020")
def hetpipe(instance: SppInstance, limits: Limits, *, groups: int = 0) -> MethodOutcome:
    """A straight pipeline in every machine, machines as replicas, 1F1B.

    Return groups of GPUs, each a straight pipeline as even as possible, as replicas.

    In HetPipe each group has microbatches of its own. The plan here splits every microbatch over
    the groups, stage n being the n-th GPU of each: what this problem can say. The note
    `own_makespan_s` is the iteration time with whole microbatches, ceil(M / groups) a group, 1F1B.

    Parameters
    ----------
    instance : SppInstance
    limits : Limits
    groups : int, default 0
        Equal groups of consecutive GPUs; 0 makes one of every machine.

    Notes
    -----
    The synchronous version; the original lets groups be some iterations apart.

    Raises
    ------
    ModelRefused
        If the groups are not equal, or have more GPUs than there are layers.

    References
    ----------
    J. H. Park et al., "HetPipe: Enabling Large DNN Training on (Whimpy) Heterogeneous GPU Clusters
    through Integration of Pipelined Model Parallelism and Data Parallelism", USENIX ATC 2020.
    """
    clock = Clock(limits)
    members = _groups(instance, groups)
    layers = even_blocks(instance, len(members[0]))
    plan = Plan(stage_layers=layers, stage_devices=tuple(zip(*members, strict=True)))
    found = outcome(instance, plan, one_forward_one_backward_orders, clock)
    found.notes["own_makespan_s"] = _whole_microbatches_s(instance, plan, members)
    return found


def _groups(instance: SppInstance, groups: int) -> list[list[int]]:
    cluster, V = instance.cluster, instance.num_gpus
    if groups == 0 and isinstance(cluster, TwoLevelCluster):
        members = [list(gpus) for gpus in cluster.machine_gpus]
    else:
        number = max(1, groups)
        if V % number:
            raise ModelRefused(f"groups: {V} GPUs do not divide into {number} equal groups")
        size = V // number
        members = [list(range(k * size, (k + 1) * size)) for k in range(number)]
    if len({len(gpus) for gpus in members}) > 1:
        raise ModelRefused("groups: the machines have different numbers of GPUs")
    return members


def _whole_microbatches_s(instance: SppInstance, plan: Plan, members: list[list[int]]) -> float:
    """Return the iteration time where every group has ceil(M / groups) microbatches of its own."""
    reduce = shop_of(instance, plan)
    M = math.ceil(instance.num_microbatches / len(members))
    longest = 0.0
    for gpus in members:
        alone = Plan(stage_layers=plan.stage_layers, stage_devices=tuple((v,) for v in gpus))
        own = shop_of(instance, alone)
        shop = shop_of_times(
            [own.seconds(x) for x in own.fwd],
            [own.seconds(x) for x in own.bwd],
            [reduce.seconds(x) for x in reduce.allreduce],
            M,
            full_duplex=own.full_duplex,
        )
        orders = one_forward_one_backward_orders(shop)
        longest = max(longest, float(dispatch(shop, channels_first_come(orders)).makespan_s))
    return longest


def even_blocks(instance: SppInstance, stages: int) -> tuple[tuple[int, int], ...]:
    """Return consecutive blocks of layers whose longest forward and backward time is least.

    Raises
    ------
    ModelRefused
        If there are fewer layers.
    """
    L = instance.num_layers
    if stages > L:
        raise ModelRefused(f"layers: {L} for {stages} stages of one GPU")
    times = np.array([x.fwd_time_s + x.bwd_time_s for x in instance.layers])
    sums = np.concatenate([[0.0], np.cumsum(times)])
    longest: Floats = np.full((stages + 1, L + 1), math.inf)
    longest[0, 0] = 0.0
    for n in range(1, stages + 1):
        for end in range(n, L + 1):
            longest[n, end] = np.maximum(longest[n - 1, :end], sums[end] - sums[:end]).min()
    ends = [L]
    for n in range(stages, 0, -1):
        end = ends[-1]
        values = np.maximum(longest[n - 1, :end], sums[end] - sums[:end])
        ends.append(int(values.argmin()))
    return tuple(pairwise(reversed(ends)))
