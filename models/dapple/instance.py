"""Instances and solutions of DAPPLE: a chain of layers on machines; stages, their GPUs, orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

from pydantic import SerializerFunctionWrapHandler, model_serializer, model_validator

from gadgetopt.errors import InputError
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.instance import PipelineInstance
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.system.data import Data, NonNegativeInt, PositiveInt, Solution, without


class DappleInstance(PipelineInstance):
    r"""Layers to be cut into stages on machines of identical GPUs, and M microbatches.

    The fields are those of `gadgetopt.pieces.pipeline.instance.PipelineInstance`, with a cluster of
    two levels.

    Attributes
    ----------
    layers : tuple of Layer
        Times and activations of one microbatch on one GPU.
    num_microbatches : int
        M, the global batch over the size of a microbatch.
    cluster : TwoLevelCluster
        Its bandwidths are :math:`B^{in}, B^{x}` of transfers, :math:`B_{ar}^{in}, B_{ar}^{x}` of
        AllReduce, and :math:`B^{xx}` towards a stage that spans machines.
    duplex : "half" or "full"
        "half": the two directions of a link share it, as one stage between two stages.
    comm_model : "planner_code" or "simple"
        Transfers as the public planner computes them, or of two values.
    options : PipelineOptions
        `max_in_flight` is D; `nvlink_rings` divides AllReduce inside a machine as the public
        planner does.
    max_copies : int
        Most copies of the whole pipeline, each of which takes an equal part of the microbatches;
        1 where the plan is one pipeline.
    """

    cluster: TwoLevelCluster
    comm_model: Literal["planner_code", "simple"] = "planner_code"
    max_copies: PositiveInt = 1

    @model_serializer(mode="wrap")
    def _without_what_is_not_asked(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write no `max_copies` of 1: files from before copies stay the same."""
        return without(write(self), self, "max_copies")


class Copy(Data):
    """A further copy of the pipeline: its GPUs, and the order of their blocks.

    Attributes
    ----------
    stage_devices : tuple of tuple of int
        GPUs of each stage, as many as the first pipeline has there.
    warmup, orders
        As of `DappleSolution`, for the microbatches of this copy.
    """

    stage_devices: tuple[tuple[NonNegativeInt, ...], ...]
    warmup: tuple[PositiveInt, ...] | None = None
    orders: tuple[tuple[int, ...], ...] | None = None

    @model_validator(mode="after")
    def _has_one_order(self) -> Self:
        _check_one_order(self.warmup, self.orders)
        return self


class DappleSolution(Solution):
    r"""Stages, their GPUs, and the order of their blocks, by warm-up numbers or stated.

    Attributes
    ----------
    stage_layers : tuple of (int, int)
        Half-open range of layers of each stage, consecutive, from layer 0 to the last.
    stage_devices : tuple of tuple of int
        GPUs of each stage, disjoint.
    warmup : tuple of int, optional
        :math:`K_i`: stage i runs so many forwards, then one backward and one forward in turn, then
        the other backwards. Links serve what comes first, backward first on ties, then the smaller
        microbatch.
    orders : tuple of tuple of int, optional
        Instead of `warmup`, of stage 0, link 0, stage 1, ...: +m is the forward block of
        microbatch m = 1..M, -m its backward block.
    copies : tuple of Copy
        Further copies of the pipeline, of the same layers; with R pipelines each one has M / R
        microbatches. Stage n of all of them exchanges its gradients together.
    """

    stage_layers: tuple[tuple[NonNegativeInt, NonNegativeInt], ...]
    stage_devices: tuple[tuple[NonNegativeInt, ...], ...]
    warmup: tuple[PositiveInt, ...] | None = None
    orders: tuple[tuple[int, ...], ...] | None = None
    copies: tuple[Copy, ...] = ()

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write no copies if there are none: files from before them stay the same."""
        return without(write(self), self, "copies")

    @model_validator(mode="after")
    def _has_one_order(self) -> Self:
        _check_one_order(self.warmup, self.orders)
        return self

    @property
    def pipelines(self) -> tuple[Copy, ...]:
        """All copies of the pipeline, the first one included."""
        first = Copy(stage_devices=self.stage_devices, warmup=self.warmup, orders=self.orders)
        return (first, *self.copies)

    @property
    def plan(self) -> Plan:
        """The plan without the orders, of one pipeline.

        Raises
        ------
        InputError
            If there are several.
        """
        if self.copies:
            raise InputError(f"copies: {len(self.copies) + 1} pipelines, expected one for this")
        return Plan(stage_layers=self.stage_layers, stage_devices=self.stage_devices)

    @classmethod
    def of(
        cls,
        plan: Plan,
        *,
        warmup: Sequence[int] | None = None,
        orders: Sequence[Sequence[int]] | None = None,
    ) -> DappleSolution:
        """Return the solution with these warm-ups, or these orders, on the machines of a plan."""
        return cls(
            stage_layers=plan.stage_layers,
            stage_devices=plan.stage_devices,
            warmup=None if warmup is None else tuple(warmup),
            orders=None if orders is None else tuple(map(tuple, orders)),
        )


def _check_one_order(warmup: object, orders: object) -> None:
    if (warmup is None) == (orders is None):
        given = "both" if orders is not None else "neither"
        raise ValueError(f"warmup: {given} of warmup and orders given, expected one of them")


def size(instance: DappleInstance) -> dict[str, int]:
    """Return the numbers that describe the size of an instance."""
    return {
        "layers": instance.num_layers,
        "gpus": instance.num_gpus,
        "machines": len(instance.cluster.gpus_per_machine),
        "microbatches": instance.num_microbatches,
    }
