"""Presets: instances from sizes of networks and groups of devices (reconstructed)."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.system.declaring import generator

from ...instance import (
    MOST_MEMORY_BYTES,
    Costs,
    OneFlowSbpInstance,
    Placement,
)
from . import networks
from .training import Graph

#: Widths of the measurements that the derivation of this system reports.
_WIDTHS = (256, 512, 1024, 2048, 4096)
#: Floating-point operations and bytes a second for costs in seconds: about what a V100 reaches in
#: single precision, and its six NVLinks.
_FLOPS_PER_S, _LINK_BYTES_PER_S = 15 * 10**12, 150 * 10**9


@generator()
def quickstart(
    rng: np.random.Generator,
    *,
    layers: int = 1,
    width: int = 256,
    heads: int = 4,
    sequence: int = 128,
    batch: int = 8,
    devices: int | str = "4",
) -> OneFlowSbpInstance:
    """A block of a transformer on four GPUs, costs in seconds."""
    graph = networks.transformer(layers, width, heads, sequence, batch, words=0)
    return instance_of(graph, [devices], costs_of("seconds", 0))


@generator()
def paper(
    rng: np.random.Generator,
    *,
    layers: int = 10,
    batch: int = 512,
    devices: int | str = "8",
    unit: str = "oneflow",
    compute_ratio: float = 0.05,
    memory_limit_gb: float = 0.0,
) -> OneFlowSbpInstance:
    """Perceptrons of random widths from 256 to 4096 on eight devices."""
    widths = rng.choice(_WIDTHS, size=layers + 1).tolist()
    graph = networks.perceptron(widths, batch)
    return instance_of(graph, [devices], costs_of(unit, compute_ratio), memory_limit_gb)


@generator()
def mlp_train(
    rng: np.random.Generator,
    *,
    widths: str = "1024,4096,1024",
    batch: int = 512,
    devices: int | str = "8",
    unit: str = "oneflow",
    compute_ratio: float = 0.05,
    memory_limit_gb: float = 0.0,
) -> OneFlowSbpInstance:
    """A perceptron in training; widths such as 4,8,4."""
    graph = networks.perceptron(_numbers("widths", widths), batch)
    return instance_of(graph, [devices], costs_of(unit, compute_ratio), memory_limit_gb)


@generator()
def transformer(
    rng: np.random.Generator,
    *,
    layers: int = 4,
    width: int = 1024,
    heads: int = 16,
    sequence: int = 512,
    batch: int = 16,
    words: int = 32768,
    devices: int | str = "8",
    unit: str = "oneflow",
    compute_ratio: float = 0.05,
    memory_limit_gb: float = 0.0,
) -> OneFlowSbpInstance:
    """A transformer in training, from embedding to classifier."""
    if width % heads:
        raise InputError(f"heads: {heads} do not divide the width of {width}")
    graph = networks.transformer(layers, width, heads, sequence, batch, words)
    return instance_of(graph, [devices], costs_of(unit, compute_ratio), memory_limit_gb)


@generator()
def wide_embedding(
    rng: np.random.Generator,
    *,
    rows: int = 10**6,
    width: int = 64,
    fields: int = 16,
    hidden: int = 512,
    classes: int = 10**5,
    batch: int = 1024,
    devices: int | str = "8",
    unit: str = "oneflow",
    compute_ratio: float = 0.05,
    memory_limit_gb: float = 0.0,
) -> OneFlowSbpInstance:
    """A huge table of embeddings and a huge classifier around a small perceptron."""
    graph = networks.wide_embedding(rows, width, fields, hidden, classes, batch)
    return instance_of(graph, [devices], costs_of(unit, compute_ratio), memory_limit_gb)


@generator()
def two_placements(
    rng: np.random.Generator,
    *,
    widths: str = "1024,4096,4096,1024",
    batch: int = 512,
    devices: int | str = "4",
    other_devices: int | str = "4",
    unit: str = "oneflow",
    compute_ratio: float = 0.05,
    memory_limit_gb: float = 0.0,
) -> OneFlowSbpInstance:
    """A perceptron whose halves are trained on two groups of devices.

    Return a perceptron whose first layers are on one group of devices, the others on another.
    """
    graph = networks.perceptron(_numbers("widths", widths), batch, ("g0", "g1"))
    groups = [devices, other_devices]
    if len({len(hierarchy_of(text)) for text in groups}) > 1:
        raise InputError(
            f"other_devices: {other_devices!r}, expected as many levels as {devices!r}"
        )
    return instance_of(graph, groups, costs_of(unit, compute_ratio), memory_limit_gb)


@generator()
def mixture_of_experts(
    rng: np.random.Generator,
    *,
    layers: int = 2,
    groups: int = 8,
    tokens: int = 256,
    width: int = 512,
    experts: int = 8,
    hidden: int = 2048,
    capacity: int = 40,
    devices: int | str = "8",
    unit: str = "oneflow",
    compute_ratio: float = 0.05,
    memory_limit_gb: float = 0.0,
) -> OneFlowSbpInstance:
    """Blocks in which every token is sent to one of many experts."""
    graph = networks.mixture_of_experts(layers, groups, tokens, width, experts, hidden, capacity)
    return instance_of(graph, [devices], costs_of(unit, compute_ratio), memory_limit_gb)


def instance_of(
    graph: Graph, devices: Sequence[int | str], costs: Costs, memory_limit_gb: float = 0.0
) -> OneFlowSbpInstance:
    """Return the instance of a graph on groups of devices g0, g1, ...

    Parameters
    ----------
    graph : Graph
    devices : sequence of int or str
        Of every group: "8", or "2x4" for two groups of four.
    costs : Costs
    memory_limit_gb : float
        Of a device, in 10^9 bytes; 0 is no limit.
    """
    if not 0 <= memory_limit_gb <= MOST_MEMORY_BYTES / 10**9:
        raise InputError(f"memory_limit_gb: {memory_limit_gb}, expected from 0 to 1000000")
    return OneFlowSbpInstance(
        placements=tuple(
            Placement(name=f"g{k}", hierarchy=hierarchy_of(text)) for k, text in enumerate(devices)
        ),
        operators=tuple(graph.operators.values()),
        costs=costs,
        memory_limit_bytes=round(memory_limit_gb * 10**9) or None,
    )


def hierarchy_of(devices: int | str) -> tuple[int, ...]:
    """Return the hierarchy of a text such as "8" or "2x4"."""
    text = str(devices)
    if not re.fullmatch(r"[1-9][0-9]*(x[1-9][0-9]*)?", text):
        raise InputError(f"devices: {text!r}, expected a number such as 8, or 2x4 for two groups")
    return tuple(map(int, text.split("x")))


def costs_of(unit: str, compute_ratio: float) -> Costs:
    """Return costs in OneFlow's units, or in seconds on GPUs of one server."""
    if unit == "oneflow":
        return Costs.model_validate({"compute_ratio": compute_ratio})
    if unit != "seconds":
        raise InputError(f"unit: {unit!r}, expected 'oneflow' or 'seconds'")
    rates = {"flops_per_s": _FLOPS_PER_S, "link_bytes_per_s": _LINK_BYTES_PER_S}
    return Costs.model_validate({"unit": "seconds", **rates})


def _numbers(name: str, text: str) -> list[int]:
    parts = str(text).split(",")
    if len(parts) < 2 or not all(re.fullmatch(r"[1-9][0-9]{0,11}", part) for part in parts):
        raise InputError(
            f"{name}: {text!r}, expected at least two numbers such as 4,8,4, each below 1e12"
        )
    return list(map(int, parts))
