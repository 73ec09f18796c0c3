"""Instances from configurations of transformers: blocks in even stages, backward split in two.

The GPUs are P groups, one behind the other; a group is `data_parallel` replicas of
`tensor_parallel` GPUs. The chain of layers is cut so that the longest stage is as short as it can
be. Times are whole ticks, the nearest ones, and bytes are rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.pieces.pipeline.profile_import import options_of
from gadgetopt.pieces.transformers.architecture import Transformer
from gadgetopt.pieces.transformers.importing import HELP, Made, import_configs
from gadgetopt.pieces.transformers.options import LayerOptions, Target
from gadgetopt.pieces.transformers.pipelines import details_of
from gadgetopt.pieces.transformers.times import LayerCosts, layer_costs
from gadgetopt.system.declaring import importer

from ...instance import PipelineSchedulesInstance, Route, Stage


class HfConfigOptions(LayerOptions):
    """Options of `hf_config`.

    Attributes
    ----------
    data_parallel : int
        Replicas of the pipeline, which AllReduce their gradients.
    chunks : int
        Stages of a device.
    placement : "loop" or "v"
        Stage s on device s mod P; or two chunks, there and back.
    objective, links : str
        Those of the instance.
    tick_us : float
        Times are whole multiples of it.
    """

    data_parallel: int = Field(default=1, ge=1, le=10**6)
    chunks: int = Field(default=1, ge=1, le=1000)
    placement: Literal["loop", "v"] = "loop"
    objective: Literal["makespan", "period"] = "makespan"
    links: Literal["lag", "full", "half"] = "lag"
    tick_us: float = Field(default=1.0, gt=0, le=1e6)

    @model_validator(mode="after")
    def _places(self) -> Self:
        if self.placement == "v" and self.chunks != 2:
            raise ValueError(f"placement: v needs chunks=2, not {self.chunks}")
        return self

    def device_of(self, stage: int, devices: int) -> int:
        """Return the device of a stage."""
        if self.placement == "v" and stage >= devices:
            return 2 * devices - 1 - stage
        return stage % devices


@importer(
    name="hf-config",
    summary="config.json of a transformer: its blocks in even stages, backward split",
    options=HfConfigOptions,
    help={
        **HELP,
        "data_parallel": "replicas of the pipeline, which AllReduce their gradients",
        "chunks": "stages of a device",
        "placement": "loop: stage s on device s mod P; v: two chunks, there and back",
        "objective": "makespan or period",
        "links": "lag, full or half",
        "tick_us": "times are the nearest whole multiples of it",
    },
)
def hf_config(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """Make an instance of each configuration of a transformer.

    Parameters
    ----------
    files : sequence of Path
    rng : numpy.random.Generator
        Not used: nothing is drawn.
    **options
        The fields of `HfConfigOptions`.

    Raises
    ------
    InputError
        If a file or an option cannot be used, or the stages of a device do not fit into it.
    """
    return import_configs(files, options_of(HfConfigOptions, options), _made)


@dataclass(frozen=True)
class _Group:
    """How the devices of the instance lie in the boxes.

    Attributes
    ----------
    gpus : int
        Of a device of the instance.
    gpus_per_machine : int
    target : Target
    """

    gpus: int
    gpus_per_machine: int
    target: Target

    def link(self, first_gpu: int, last_gpu: int) -> Fraction:
        """Return the bandwidth between two GPUs."""
        same = first_gpu // self.gpus_per_machine == last_gpu // self.gpus_per_machine
        device, box = self.target.device, self.target.box
        return device.link_bytes_per_s if same else box.nic_bytes_per_s

    def between(self, first: int, second: int) -> Fraction:
        """Return the bandwidth between two devices of the instance."""
        return self.link(first * self.gpus, second * self.gpus)

    def inside(self, device: int) -> Fraction:
        """Return the bandwidth among the replicas of a device of the instance."""
        return self.link(device * self.gpus, (device + 1) * self.gpus - 1)


def _made(model: Transformer, options: HfConfigOptions, target: Target) -> Made:
    costs = layer_costs(model, options.execution(model, target))
    gpus = options.tensor_parallel * options.data_parallel
    total = target.machines * target.gpus
    if total % gpus:
        raise InputError(f"data_parallel: groups of {gpus} do not divide {total} GPUs")
    devices = total // gpus
    group = _Group(gpus, target.gpus, target)
    ranges = even_stages([c.fwd_s + c.bwd_s for c in costs], devices * options.chunks)
    stages = tuple(_stage(costs, s, ranges, options, group) for s in range(len(ranges)))
    instance = PipelineSchedulesInstance(
        num_devices=devices,
        routes=(Route(num_microbatches=options.microbatches, stages=stages),),
        objective=options.objective,
        memory_bytes=_memory(costs, ranges, devices, options, target),
        links=options.links,
    )
    details = {
        **details_of(costs),
        "layers_of_stages": " ".join(f"{r.start}-{r.stop - 1}" for r in ranges),
        "units": f"times are whole multiples of {options.tick_us:g} us, bytes rounded up",
    }
    return Made(instance, details)


def even_stages(weights: Sequence[Fraction], stages: int) -> list[range]:
    """Return consecutive ranges, none empty, whose largest sum is as small as it can be.

    Raises
    ------
    InputError
        If there are more stages than layers.
    """
    count = len(weights)
    if stages > count:
        raise InputError(f"chunks: {stages} stages, but the model has {count} layers")
    sums = [Fraction(0)]
    for weight in weights:
        sums.append(sums[-1] + weight)
    # Of the first so many layers in k stages: the smallest largest sum, and where the last begins.
    best = {end: (sums[end], 0) for end in range(1, count + 1)}
    begins = [best]
    for k in range(2, stages + 1):
        best = {
            end: min((max(best[cut][0], sums[end] - sums[cut]), cut) for cut in range(k - 1, end))
            for end in range(k, count + 1)
        }
        begins.append(best)
    found, end = [], count
    for table in reversed(begins):
        cut = table[end][1]
        found.append(range(cut, end))
        end = cut
    return found[::-1]


def _stage(
    costs: Sequence[LayerCosts],
    number: int,
    ranges: Sequence[range],
    options: HfConfigOptions,
    group: _Group,
) -> Stage:
    own = [costs[n] for n in ranges[number]]
    devices = len(ranges) // options.chunks
    device = options.device_of(number, devices)
    tick = decimal_rational(options.tick_us) / 10**6
    last = number + 1 == len(ranges)
    transfer = Fraction(0)
    if not last:
        following = options.device_of(number + 1, devices)
        if following != device:
            transfer = own[-1].boundary_bytes / group.between(device, following)
    d = options.data_parallel
    exchanged = sum((c.param_bytes for c in own), Fraction(0)) * Fraction(2 * (d - 1), d)

    def ticks(seconds: Fraction, fewest: int = 0) -> Fraction:
        return max(round(seconds / tick), fewest) * tick

    return Stage(
        device=device,
        fwd_s=ticks(sum((c.fwd_s for c in own), Fraction(0)), 1),
        input_grad_s=ticks(sum((c.input_grad_s for c in own), Fraction(0)), 1),
        weight_grad_s=ticks(sum((c.weight_grad_s for c in own), Fraction(0))),
        transfer_s=ticks(transfer),
        act_bytes=Fraction(math.ceil(sum(c.stash_bytes for c in own))),
        weight_act_bytes=Fraction(math.ceil(sum(c.weight_stash_bytes for c in own))),
        allreduce_s=ticks(exchanged / group.inside(device)),
    )


def _memory(
    costs: Sequence[LayerCosts],
    ranges: Sequence[range],
    devices: int,
    options: HfConfigOptions,
    target: Target,
) -> tuple[Fraction, ...] | None:
    """Return the bytes that every device has for activations, None if nothing limits them.

    Raises
    ------
    InputError
        If the training state of a device's stages does not fit into it.
    """
    if not options.limit_memory:
        return None
    held = [Fraction(0)] * devices
    for number, layers in enumerate(ranges):
        params = sum((costs[n].param_bytes for n in layers), Fraction(0))
        held[options.device_of(number, devices)] += params * decimal_rational(options.state_factor)
    for device, state in enumerate(held):
        if state > target.device.memory_bytes:
            raise InputError(
                f"limit_memory: the training state of device {device} needs "
                f"{float(state / 10**9):.4g} GB, but it has {target.device.memory_gbyte:g}; "
                "expected more GPUs, tensor_parallel, a smaller weights_factor, "
                "or limit_memory=false"
            )
    return tuple(Fraction(math.floor(target.device.memory_bytes - state)) for state in held)
