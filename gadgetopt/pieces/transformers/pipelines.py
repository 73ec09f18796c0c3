"""Chains of layers of a transformer on a cluster, for planners of pipelines (SPP, DAPPLE)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.instance import (
    CommModel,
    Duplex,
    Layer,
    PipelineInstance,
    PipelineOptions,
)

from .architecture import Transformer
from .importing import Made
from .options import LayerOptions, Target
from .times import LayerCosts, layer_costs

#: Bytes of the unit in which memory is reported. By definition.
_GBYTE = 10**9


class PlannerOptions(LayerOptions):
    """Options of importers of whole planning problems.

    Attributes
    ----------
    comm_model, duplex : str
        Those of the instance.
    uniform_replicas : bool
        Whether all stages have to have equally many GPUs.
    """

    comm_model: CommModel = "pair_slice"
    duplex: Duplex = "full"
    uniform_replicas: bool = False


def planning_problem(
    kind: type[PipelineInstance],
) -> Callable[[Transformer, PlannerOptions, Target], Made]:
    """Return what makes the instance of a type from a model, options and machines.

    One device of the instance is a group of `tensor_parallel` GPUs; bytes are those of one GPU.
    """

    def make(model: Transformer, options: PlannerOptions, target: Target) -> Made:
        costs = layer_costs(model, options.execution(model, target))
        memory = float(target.device.memory_bytes) if options.limit_memory else None
        instance = kind(
            layers=tuple(map(_layer, costs)),
            num_microbatches=options.microbatches,
            cluster=cluster_of(options, target),
            comm_model=options.comm_model,
            duplex=options.duplex,
            options=PipelineOptions(
                memory_bytes=memory,
                weights_factor=options.state_factor,
                uniform_replicas=options.uniform_replicas,
            ),
        )
        return Made(instance, details_of(costs), _warnings(costs, options, target))

    return make


def cluster_of(options: LayerOptions, target: Target) -> TwoLevelCluster:
    """Return the machines, a group of tensor-parallel GPUs as one device."""
    return TwoLevelCluster(
        gpus_per_machine=(target.gpus // options.tensor_parallel,) * target.machines,
        intra_bytes_per_s=float(target.device.link_bytes_per_s),
        inter_bytes_per_s=float(target.box.nic_bytes_per_s),
    )


def details_of(costs: Sequence[LayerCosts]) -> dict[str, Any]:
    """Return times of the largest layers, for the report."""

    def in_ms(layer: LayerCosts) -> str:
        times = (layer.fwd_s, layer.input_grad_s, layer.weight_grad_s)
        return " / ".join(f"{float(1000 * t):.3f}" for t in times)

    return {
        "layers": len(costs),
        "ms_of_last_block_forward_input_weights": in_ms(costs[-2]),
        "ms_of_head_forward_input_weights": in_ms(costs[-1]),
    }


def _layer(costs: LayerCosts) -> Layer:
    return Layer(
        fwd_time_s=float(costs.fwd_s),
        bwd_time_s=float(costs.bwd_s),
        param_bytes=float(costs.param_bytes),
        act_bytes=float(costs.boundary_bytes),
        stash_bytes=float(costs.stash_bytes),
    )


def _warnings(
    costs: Sequence[LayerCosts], options: PlannerOptions, target: Target
) -> tuple[str, ...]:
    found = []
    groups = target.gpus // options.tensor_parallel * target.machines
    if options.microbatch == 1 and groups > 1:
        found.append(
            "microbatch: 1 sequence cannot be divided over the replicas of a stage; plans with "
            "replicated stages cannot be exported, expected microbatch=2 or more"
        )
    state = options.state_factor * sum((c.param_bytes for c in costs), Fraction(0))
    memory = groups * target.device.memory_bytes
    if options.limit_memory and state > memory:
        found.append(
            f"memory: the training state needs {float(state / _GBYTE):.4g} of "
            f"{float(memory / _GBYTE):.4g} GB in all, so no plan exists"
        )
    return tuple(found)
