"""Instances from configurations of transformers: the graph of their training on boxes of devices.

Costs are seconds: products at the share `mfu` of the device's peak, conversions over the link
inside a box, or between boxes where there are several, as the cost model has one rate for all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.pieces.pipeline.profile_import import options_of
from gadgetopt.pieces.transformers.architecture import Transformer
from gadgetopt.pieces.transformers.importing import MODEL_HELP, Made, import_configs
from gadgetopt.pieces.transformers.options import ModelOptions, Target
from gadgetopt.system.declaring import importer

from ...instance import Costs, OneFlowSbpInstance, Placement
from .hf_network import network


class HfConfigOptions(ModelOptions):
    """Options of `hf_config`.

    Attributes
    ----------
    batch : int
        Sequences of a step; 0: one for every device.
    blocks : int
        Of the model; 0: all. Blocks are alike, and so are their best signatures.
    levels : "auto", "one" or "two"
        One group of devices, or two levels, boxes and their devices; "auto": two where there are
        several boxes.
    limit_memory : bool
        False: the devices' memory limits nothing.
    """

    batch: int = Field(default=0, ge=0, le=10**6)
    blocks: int = Field(default=0, ge=0)
    levels: Literal["auto", "one", "two"] = "auto"
    limit_memory: bool = True


@importer(
    name="hf-config",
    summary="config.json of a transformer: the graph of its training on boxes of accelerators",
    options=HfConfigOptions,
    help={
        **MODEL_HELP,
        "batch": "sequences of a step; 0: one for every device",
        "blocks": "of the model, as blocks are alike; 0: all",
        "levels": "one or two (boxes and their devices); auto: two where there are several boxes",
        "limit_memory": "false: memory limits nothing",
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
        If a file or an option cannot be used.
    """
    return import_configs(files, options_of(HfConfigOptions, options), _made)


def _made(model: Transformer, options: HfConfigOptions, target: Target) -> Made:
    blocks = options.blocks or model.blocks
    if blocks > model.blocks:
        raise InputError(f"blocks: {blocks}, but the model has {model.blocks}")
    batch = options.batch or target.machines * target.gpus
    graph = network(model, options.sequence(model), batch, blocks)
    two = options.levels == "two" or (options.levels == "auto" and target.machines > 1)
    hierarchy = (target.machines, target.gpus) if two else (target.machines * target.gpus,)
    memory = int(target.device.memory_bytes) if options.limit_memory else None
    instance = OneFlowSbpInstance(
        placements=(Placement(name="g0", hierarchy=hierarchy),),
        operators=tuple(graph.operators.values()),
        costs=Costs(
            unit="seconds",
            flops_per_s=target.device.flop_per_s * decimal_rational(options.mfu),
            link_bytes_per_s=target.slowest_bytes_per_s,
        ),
        memory_limit_bytes=memory,
        variable_memory_factor=math.ceil(options.state_factor),
    )
    details = {"blocks": blocks, "batch": batch, "operators": len(instance.operators)}
    return Made(instance, details, _warnings(model, options, target, blocks))


def _warnings(
    model: Transformer, options: HfConfigOptions, target: Target, blocks: int
) -> tuple[str, ...]:
    found = []
    if blocks < model.blocks:
        found.append(f"blocks: {blocks} of {model.blocks}, so memory and time are not the model's")
    if target.machines > 1:
        found.append("links: all levels are as fast as the slower of box and network")
    if options.state_factor != math.ceil(options.state_factor):
        found.append(f"weights_factor: {options.state_factor:g}, rounded up to a whole number")
    return tuple(found)
