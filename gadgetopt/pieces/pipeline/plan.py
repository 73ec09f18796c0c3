"""Plans: cuts of the chain into stages and their devices; what violates a plan; its memory."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.pipeline.instance import PipelineInstance
from gadgetopt.system.data import Data, NonNegativeInt
from gadgetopt.system.result import Violation


class Plan(Data):
    """Stages of a pipeline.

    Attributes
    ----------
    stage_layers : tuple of (int, int)
        Half-open range of layers of each stage, consecutive, from layer 0 to the last.
    stage_devices : tuple of tuple of int
        GPUs of each stage, disjoint.
    """

    stage_layers: tuple[tuple[NonNegativeInt, NonNegativeInt], ...]
    stage_devices: tuple[tuple[NonNegativeInt, ...], ...]

    @property
    def num_stages(self) -> int:
        """Number of stages S."""
        return len(self.stage_layers)

    @property
    def replicas(self) -> tuple[int, ...]:
        """Number of GPUs of each stage."""
        return tuple(len(devices) for devices in self.stage_devices)


def plan_violations(instance: PipelineInstance, plan: Plan) -> tuple[Violation, ...]:
    """Return what is wrong with a plan: coverage, devices, number of stages, memory."""
    broken = tuple(_structure(instance, plan))
    return broken or tuple(_limits(instance, plan))


def _structure(instance: PipelineInstance, plan: Plan) -> Iterator[Violation]:
    if len(plan.stage_layers) != len(plan.stage_devices):
        apart = abs(len(plan.stage_layers) - len(plan.stage_devices))
        yield Violation("stages have layers and devices", "stage_devices", apart)
    expected = 0
    for n, (first, end) in enumerate(plan.stage_layers):
        if first != expected:
            yield Violation("stages are consecutive", f"stage {n}", abs(first - expected))
        if end <= first:
            yield Violation("stages hold a layer", f"stage {n}", first - end + 1)
        expected = end
    if expected != instance.num_layers:
        apart = abs(expected - instance.num_layers)
        yield Violation("stages hold all layers", f"stage {len(plan.stage_layers) - 1}", apart)
    seen: dict[int, int] = {}
    for n, devices in enumerate(plan.stage_devices):
        if not devices:
            yield Violation("stages have a GPU", f"stage {n}", 1)
        for v in devices:
            if v >= instance.num_gpus:
                yield Violation("GPUs exist", f"stage {n}, GPU {v}", v - instance.num_gpus + 1)
            elif v in seen:
                yield Violation("GPUs belong to one stage", f"GPU {v}", 1)
            seen[v] = n


def _limits(instance: PipelineInstance, plan: Plan) -> Iterator[Violation]:
    options = instance.options
    unused = instance.num_gpus - sum(plan.replicas)
    if options.use_all_gpus and unused:
        yield Violation("all GPUs are used", "stage_devices", unused)
    if options.max_stages is not None and plan.num_stages > options.max_stages:
        yield Violation("number of stages", "stage_layers", plan.num_stages - options.max_stages)
    if options.uniform_replicas and len(set(plan.replicas)) > 1:
        apart = max(plan.replicas) - min(plan.replicas)
        yield Violation("stages have equally many GPUs", "stage_devices", apart)
    if options.memory_bytes is None:
        return
    for n, ((first, end), r) in enumerate(zip(plan.stage_layers, plan.replicas, strict=True)):
        fixed, each = stage_memory(instance, first, end, r)
        over = fixed + each - decimal_rational(options.memory_bytes)
        if over > 0:
            yield Violation("one microbatch fits in memory", f"stage {n}", over)


def stage_memory(
    instance: PipelineInstance, first: int, end: int, replicas: int
) -> tuple[Fraction, Fraction]:
    """Return the memory in bytes on each GPU of a stage: fixed, and per microbatch in flight."""
    chain, options = instance.chain, instance.options
    params = chain.param_sum_bytes[end] - chain.param_sum_bytes[first]
    fixed = decimal_rational(options.weights_factor) * params
    stash = (chain.stash_sum_bytes[end] - chain.stash_sum_bytes[first]) / replicas
    if not options.recompute:
        return fixed, stash
    entering = chain.act_bytes[first - 1] / replicas if first else Fraction(0)
    return fixed + stash, entering


def most_in_flight(instance: PipelineInstance, first: int, end: int, replicas: int) -> int:
    """Return how many microbatches a stage can have in flight: at most M, 0 if it does not fit."""
    options = instance.options
    most = instance.num_microbatches
    if options.max_in_flight is not None:
        most = min(most, options.max_in_flight)
    if options.memory_bytes is not None:
        fixed, each = stage_memory(instance, first, end, replicas)
        room = decimal_rational(options.memory_bytes) - fixed
        if room < 0:
            return 0
        if each > 0:
            most = min(most, room // each)
    return most
