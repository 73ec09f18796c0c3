"""Instances and solutions of SPP: a chain of layers on a cluster; stages, their GPUs and orders."""

from __future__ import annotations

from collections.abc import Sequence

from gadgetopt.pieces.pipeline.instance import PipelineInstance
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.system.data import NonNegativeInt, Solution


class SppInstance(PipelineInstance):
    """Layers to be cut into stages on a cluster of any connectivity, and M microbatches.

    The fields are those of `gadgetopt.pieces.pipeline.instance.PipelineInstance`: `layers`,
    `num_microbatches`, `cluster`, `duplex`, `comm_model` and `options`. Times and activations are
    those of one microbatch on one GPU of speed 1.
    """


class SppSolution(Solution):
    """Stages, their GPUs, and the order in which stages and channels serve the microbatches.

    Attributes
    ----------
    stage_layers : tuple of (int, int)
        Half-open range of layers of each stage, consecutive, from layer 0 to the last.
    stage_devices : tuple of tuple of int
        GPUs of each stage, disjoint.
    orders : tuple of tuple of int
        Of stage 0, channel 0, stage 1, ...: +m is the forward block of microbatch m = 1..M, -m its
        backward block. Blocks start as early as these orders allow.
    """

    stage_layers: tuple[tuple[NonNegativeInt, NonNegativeInt], ...]
    stage_devices: tuple[tuple[NonNegativeInt, ...], ...]
    orders: tuple[tuple[int, ...], ...]

    @property
    def plan(self) -> Plan:
        """The plan without the orders."""
        return Plan(stage_layers=self.stage_layers, stage_devices=self.stage_devices)

    @classmethod
    def of(cls, plan: Plan, orders: Sequence[Sequence[int]]) -> SppSolution:
        """Return the solution with these orders on the machines of a plan."""
        return cls(
            stage_layers=plan.stage_layers,
            stage_devices=plan.stage_devices,
            orders=tuple(map(tuple, orders)),
        )


def size(instance: SppInstance) -> dict[str, int]:
    """Return the numbers that describe the size of an instance."""
    return {
        "layers": instance.num_layers,
        "gpus": instance.num_gpus,
        "microbatches": instance.num_microbatches,
    }
