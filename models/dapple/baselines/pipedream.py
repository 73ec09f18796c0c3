"""PipeDream's plan, run synchronously: the fastest slowest stage, one forward one backward."""

from __future__ import annotations

import itertools
from typing import Literal

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.pipeline.slowest_stage import Level, SlowestStagePlan, plan_slowest_stage
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..algorithms.schedules import Warmup
from ..instance import DappleInstance
from .parallel import early_backward_outcome

#: L^3 K^2 of the levels below the outermost, and L^2 K^2 of the outermost.
#: Tuned: `benchmarks/constants.py`.
MOST_STEPS = 10**10


@method(kind="baseline", reference="Narayanan et al. 2019")
def pipedream(
    instance: DappleInstance,
    *,
    network: Literal["flat", "hierarchical"] = "flat",
    transfers: bool = True,
    warmup: Warmup = "A",
) -> MethodOutcome:
    """The plan of the fastest slowest stage, with a flush after every iteration.

    Return the plan of PipeDream's optimiser for one microbatch, with a flush at the end.

    Parameters
    ----------
    instance : DappleInstance
    network : "flat" or "hierarchical", default "flat"
        All links of the bandwidth between machines, or machines first and their GPUs inside them.
    transfers : bool, default True
        If stages pay for their transfers.
    warmup : "A", "B" or "best", default "A"
        Warm-up policy; A is PipeDream's, as many microbatches as there are stages left.

    Raises
    ------
    ModelRefused
        If a hierarchical plan is wanted of machines of different sizes, the dynamic program is too
        large, or the plan breaks a limit of the instance.
    """
    found = _plan(instance, network, transfers=transfers)
    plan = Plan(
        stage_layers=tuple((first, end) for first, end, _ in found),
        stage_devices=tuple(gpus for _, _, gpus in found),
    )
    return early_backward_outcome(instance, plan, warmup)


Stages = list[tuple[int, int, tuple[int, ...]]]


def _plan(instance: DappleInstance, network: str, *, transfers: bool) -> Stages:
    cluster = instance.cluster
    sizes, L = cluster.gpus_per_machine, instance.num_layers
    across = Level(len(sizes), cluster.inter_bytes_per_s)
    levels = [Level(instance.num_gpus, cluster.inter_bytes_per_s)]
    steps = L**2 * instance.num_gpus**2
    if network == "hierarchical":
        if len(set(sizes)) > 1:
            raise ModelRefused(f"cluster.gpus_per_machine: {sizes}, expected machines of one size")
        levels = [Level(sizes[0], cluster.intra_bytes_per_s), across]
        steps = L**3 * sizes[0] ** 2
    if steps > MOST_STEPS:
        raise ModelRefused(
            f"{L} layers on {instance.num_gpus} GPUs are too many for the recurrence"
        )
    layers = instance.layers
    found = plan_slowest_stage(
        [x.fwd_time_s + x.bwd_time_s for x in layers],
        [x.param_bytes for x in layers],
        [x.act_bytes for x in layers],
        levels,
        transfers=transfers,
    )
    assert found is not None, "one stage on all GPUs is a plan"
    if network == "flat":
        return _consecutive(found)
    return _nested(found, sizes[0])


def _consecutive(found: SlowestStagePlan) -> Stages:
    """Return the stages on consecutive GPUs."""
    free = itertools.count()
    return [(a, b, tuple(itertools.islice(free, r))) for a, b, r in found.stages]


def _nested(found: SlowestStagePlan, size: int) -> Stages:
    """Return the stages inside machines, repeated in all machines of the outer stage."""
    stages: Stages = []
    machine = 0
    for (_, _, machines), inner in zip(found.stages, found.inner, strict=True):
        first = 0
        for a, b, gpus in inner.stages:
            taken = (
                k * size + v
                for k in range(machine, machine + machines)
                for v in range(first, first + gpus)
            )
            stages.append((a, b, tuple(taken)))
            first += gpus
        machine += machines
    return stages
