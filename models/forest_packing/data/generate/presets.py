"""Presets: random overlays, hardware and data-centre networks, with contention.

The paper's settings were not available: its random overlays are reconstructed. Model sizes are
those of fp32 gradients in GB. Every preset takes `contention`: other jobs leave each link a random
part of its bandwidth, U[contention, 1]; 1 leaves all of it. Continuous draws are rounded to 0.01
GB/s, which keeps exact rates small fractions.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np

from gadgetopt.system.declaring import generator

from ...instance import (
    ForestPackingInstance,
    Link,
)
from . import topologies
from .topologies import Topology

#: Collectives without a root of their own.
Collective = Literal["allreduce", "allgather", "reduce_scatter"]
Distribution = Literal["uniform", "lognormal", "two_level"]

#: Gradients of each model in GB, fp32; "unit" is 1 GB.
MODEL_SIZE_GBYTE = {
    "unit": 1.0,
    "resnet50": 0.102,
    "vgg16": 0.553,
    "bert_base": 0.44,
    "bert_large": 1.36,
    "gpt2_xl": 6.2,
}

#: Topologies of `hardware`; the second entry is True if there can be several boxes.
HARDWARE: dict[str, tuple[Callable[..., Topology], bool]] = {
    "dgx1_v100": (topologies.dgx1_v100, False),
    "dgx1_p100": (topologies.dgx1_p100, False),
    "ndv2": (topologies.ndv2, True),
    "dgx2": (topologies.dgx2, True),
    "dgx_a100": (topologies.dgx_a100, True),
    "dgx_h100": (topologies.dgx_h100, True),
    "mi250": (topologies.mi250, True),
    "amd8": (topologies.amd8, False),
}

DISTRIBUTIONS: dict[str, Callable[[np.random.Generator], float]] = {
    "uniform": lambda rng: float(rng.integers(1, 101)),
    "lognormal": lambda rng: 20 * float(np.exp(rng.standard_normal())),
    "two_level": lambda rng: 1.0 if rng.random() < 0.2 else 20.0,
}

#: The unit to which bandwidths are rounded: none is drawn as 0.
_SMALLEST_GBYTE_PER_S = 0.01


@generator()
def quickstart(
    rng: np.random.Generator, *, workers: int = 5, contention: float = 1.0
) -> ForestPackingInstance:
    """A complete overlay of five workers, 1 to 20 GB/s.

    Return a small complete overlay whose cables have 1 to 20 GB/s.
    """
    pairs = itertools.combinations(range(workers), 2)
    links = _cables(pairs, lambda: float(rng.integers(1, 21)), symmetric=True)
    return _instance(_plain(workers, links), rng, "unit", contention)


@generator()
def paper(
    rng: np.random.Generator,
    *,
    workers: int = 8,
    distribution: Distribution = "uniform",
    symmetric: bool = True,
    model: str = "bert_large",
    contention: float = 1.0,
) -> ForestPackingInstance:
    """Complete overlays of random bandwidths (reconstructed).

    Return a complete overlay of random bandwidths: the paper's setting (reconstructed).

    Parameters
    ----------
    rng : numpy.random.Generator
    workers : int, default 8
        4, 8, 16, 32 and 64 are the sweep (reconstructed).
    distribution : "uniform", "lognormal" or "two_level", default "uniform"
        U{1..100}, 20 exp(N(0, 1)), or 1 with probability 0.2 and else 20.
    symmetric : bool, default True
        True if both directions of a cable have the same bandwidth; else they are independent.
    model : str, default "bert_large"
        Of `MODEL_SIZE_GBYTE`.
    contention : float, default 1
    """
    draw = DISTRIBUTIONS[_one_of("distribution", distribution, DISTRIBUTIONS)]
    pairs = itertools.combinations(range(workers), 2)
    links = _cables(pairs, lambda: draw(rng), symmetric=symmetric)
    return _instance(_plain(workers, links), rng, model, contention)


@generator()
def hardware(
    rng: np.random.Generator,
    *,
    topology: str = "dgx1_v100",
    boxes: int = 1,
    gpus: str = "",
    collective: Collective = "allreduce",
    root_mode: Literal["free", "uniform"] = "free",
    stage_mode: Literal["overlap", "sequential"] = "overlap",
    tree_budget: int = 0,
    equal_share: bool = False,
    model: str = "unit",
    contention: float = 1.0,
) -> ForestPackingInstance:
    """Boxes of GPUs, or the part of one that a job was given.

    Parameters
    ----------
    rng : numpy.random.Generator
    topology : str, default "dgx1_v100"
        Of `HARDWARE`.
    boxes : int, default 1
    gpus : str, default ""
        The GPUs of the job such as "0,1,4"; the others are dropped with their links without
        replacement: the rest are joined by NVLink and its switches only. Empty: all.
    collective, root_mode, stage_mode : str
        As in an instance; not "broadcast" and "reduce", which need a root.
    tree_budget : int, default 0
        The most trees; 0: any number.
    equal_share : bool, default False
        Whether all trees have the same rate.
    model : str, default "unit"
        Of `MODEL_SIZE_GBYTE`.
    contention : float, default 1
    """
    build, several = HARDWARE[_one_of("topology", topology, HARDWARE)]
    if boxes != 1 and not several:
        raise ValueError(f"boxes: {boxes}, expected 1 for {topology}")
    network = build(boxes) if several else build()
    if gpus:
        network = network.subset(_numbers("gpus", gpus, ","))
    return _instance(
        network,
        rng,
        model,
        contention,
        collective=collective,
        root_mode=root_mode,
        stage_mode=stage_mode,
        tree_budget=tree_budget or None,
        equal_share=equal_share,
    )


@generator()
def star(
    rng: np.random.Generator,
    *,
    workers: int = 8,
    bandwidth: float = 1.0,
    model: str = "unit",
    contention: float = 1.0,
) -> ForestPackingInstance:
    """Workers around one switch."""
    return _instance(topologies.star(workers, bandwidth), rng, model, contention)


@generator(summary="k-port switches and k^3/4 hosts")
def fat_tree(
    rng: np.random.Generator,
    *,
    k: int = 4,
    host: float = 1.0,
    fabric: float = 1.0,
    core: float = 1.0,
    model: str = "unit",
    contention: float = 1.0,
) -> ForestPackingInstance:
    """Return a fat-tree of k-port switches with k^3/4 hosts; host 2 oversubscribes it by 2."""
    return _instance(topologies.fat_tree(k, host, fabric, core), rng, model, contention)


@generator()
def bcube(
    rng: np.random.Generator,
    *,
    n: int = 4,
    bandwidth: float = 1.0,
    model: str = "unit",
    contention: float = 1.0,
) -> ForestPackingInstance:
    """BCube(n, 1)."""
    return _instance(topologies.bcube(n, bandwidth), rng, model, contention)


@generator()
def dcell(
    rng: np.random.Generator,
    *,
    n: int = 4,
    bandwidth: float = 1.0,
    model: str = "unit",
    contention: float = 1.0,
) -> ForestPackingInstance:
    """DCell_1(n)."""
    return _instance(topologies.dcell(n, bandwidth), rng, model, contention)


@generator()
def torus(
    rng: np.random.Generator,
    *,
    dims: str = "4x4",
    bandwidth: float = 1.0,
    model: str = "unit",
    contention: float = 1.0,
) -> ForestPackingInstance:
    """A torus of any dimensions.

    Return a torus; "8" is a ring of eight, "4x4x4" has three dimensions.
    """
    sizes = _numbers("dims", dims, "x")
    return _instance(topologies.torus(sizes, bandwidth), rng, model, contention)


@generator()
def hypercube(
    rng: np.random.Generator,
    *,
    dimension: int = 4,
    bandwidth: float = 1.0,
    model: str = "unit",
    contention: float = 1.0,
) -> ForestPackingInstance:
    """A hypercube."""
    return _instance(topologies.hypercube(dimension, bandwidth), rng, model, contention)


@generator()
def complete(
    rng: np.random.Generator,
    *,
    workers: int = 8,
    bandwidth: float = 1.0,
    model: str = "unit",
    contention: float = 1.0,
) -> ForestPackingInstance:
    """Equal cables between every two workers."""
    return _instance(topologies.complete(workers, bandwidth), rng, model, contention)


@generator()
def clustered(
    rng: np.random.Generator,
    *,
    clusters: int = 4,
    cluster_workers: int = 4,
    density: float = 0.8,
    between: float = 0.3,
    symmetric: bool = True,
    model: str = "unit",
    contention: float = 1.0,
) -> ForestPackingInstance:
    """Dense fast clusters, sparse slow cables between them.

    Parameters
    ----------
    rng : numpy.random.Generator
    clusters, cluster_workers : int, default 4
    density : float, default 0.8
        Part of the pairs of a cluster that have a cable; a path joins its workers in any case.
    between : float, default 0.3
        Part of the pairs of clusters that have a cable, between random workers; a path joins the
        clusters in any case.
    symmetric : bool, default True
        True if both directions of a cable have the same bandwidth.
    model, contention
        As in `paper`.
    """
    if clusters < 1 or cluster_workers < 1:
        raise ValueError("clusters, cluster_workers: expected 1 or more")
    size = cluster_workers
    links = []
    for c in range(clusters):
        inside = _sparse(size, density, rng)
        links += _cables(
            [(c * size + u, c * size + v) for u, v in inside],
            lambda: float(rng.integers(50, 101)),
            symmetric=symmetric,
        )
    joined = [
        (c * size + int(rng.integers(size)), d * size + int(rng.integers(size)))
        for c, d in _sparse(clusters, between, rng)
    ]
    links += _cables(joined, lambda: float(rng.integers(1, 11)), symmetric=symmetric)
    return _instance(_plain(clusters * size, links), rng, model, contention)


@generator()
def random_digraph(
    rng: np.random.Generator,
    *,
    workers: int = 6,
    switches: int = 0,
    density: float = 0.4,
    largest: int = 10,
    model: str = "unit",
    contention: float = 1.0,
) -> ForestPackingInstance:
    """A random strongly connected digraph.

    Each arc exists with probability `density`; a random directed cycle through all nodes is added.
    """
    n = workers + switches
    cycle = rng.permutation(n)
    arcs = {(int(u), int(v)) for u, v in zip(cycle, np.roll(cycle, -1), strict=True)}
    arcs |= {arc for arc in itertools.permutations(range(n), 2) if rng.random() < density}
    links = tuple(
        Link(src=u, dst=v, bandwidth_gbyte_per_s=float(rng.integers(1, largest + 1)))
        for u, v in sorted(arcs)
    )
    network = Topology(tuple(range(workers)), tuple(range(workers, n)), links)
    return _instance(network, rng, model, contention)


# -- shared parts -------------------------------------------------------------------------------


def contended(
    links: Iterable[Link], rng: np.random.Generator, contention: float
) -> tuple[Link, ...]:
    """Leave each link U[contention, 1] of its bandwidth, both directions of a cable the same."""
    if not 0 < contention <= 1:
        raise ValueError(f"contention: {contention}, expected above 0 and at most 1")
    links = tuple(links)
    if contention == 1:
        return links
    left = rng.uniform(contention, 1, size=len(links))
    return tuple(
        x.model_copy(
            update={"bandwidth_gbyte_per_s": _rounded(x.bandwidth_gbyte_per_s * float(part))}
        )
        for x, part in zip(links, left, strict=True)
    )


def _instance(
    network: Topology, rng: np.random.Generator, model: str, contention: float, **fields: Any
) -> ForestPackingInstance:
    size = MODEL_SIZE_GBYTE[_one_of("model", model, MODEL_SIZE_GBYTE)]
    left = Topology(network.workers, network.switches, contended(network.links, rng, contention))
    return left.instance(model_size_gbyte=size, **fields)


def _plain(workers: int, links: Iterable[Link]) -> Topology:
    return Topology(tuple(range(workers)), (), tuple(links))


def _cables(
    pairs: Iterable[tuple[int, int]], draw: Callable[[], float], *, symmetric: bool
) -> list[Link]:
    links = []
    for u, v in pairs:
        there = Link(src=u, dst=v, bandwidth_gbyte_per_s=_rounded(draw()), both=symmetric)
        links.append(there)
        if not symmetric:
            links.append(Link(src=v, dst=u, bandwidth_gbyte_per_s=_rounded(draw())))
    return links


def _sparse(n: int, density: float, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Draw pairs of 0..n-1 that connect them: a path 0-1-2-.. and each other pair by chance."""
    return [
        (u, v)
        for u, v in itertools.combinations(range(n), 2)
        if v == u + 1 or rng.random() < density
    ]


def _rounded(bandwidth: float) -> float:
    return max(_SMALLEST_GBYTE_PER_S, round(bandwidth, 2))


def _numbers(name: str, text: str, separator: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(separator))
    except ValueError:
        shown = separator.join("124")
        raise ValueError(f"{name}: {text!r}, expected numbers such as {shown}") from None


def _one_of(name: str, value: str, known: Iterable[str]) -> str:
    known = tuple(known)
    if value not in known:
        raise ValueError(f"{name}: {value!r}, expected one of {', '.join(known)}")
    return value
