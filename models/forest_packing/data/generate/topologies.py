"""Networks: servers with their GPU links, data-centre fabrics, and plain graphs.

Bandwidths are in GB/s per direction. Hardware tables are those of public collective-communication
tools (msccl-tools, TACCL, TE-CCL, ForestColl). Nodes are numbered from 0, workers first: GPU g of
box b is worker b * (GPUs per box) + g.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...instance import (
    ForestPackingInstance,
    Link,
)

#: GPUs joined by two NVLinks in a DGX-1: the 8-cycle 0-1-3-2-6-7-5-4. Each GPU has six links.
DGX1_DOUBLE = ((0, 1), (0, 4), (1, 3), (2, 3), (2, 6), (4, 5), (5, 7), (6, 7))
DGX1_SINGLE = ((0, 2), (0, 3), (1, 2), (1, 5), (3, 7), (4, 6), (4, 7), (5, 6))
#: `nvidia-smi topo -m` numbers a DGX-1 V100 otherwise: its number of each node above.
DGX1_LISTING = (0, 3, 1, 2, 4, 7, 5, 6)

#: Dies of an MI250 box by the number of links between them, 50 GB/s each; each die has seven.
MI250_PAIRS = {
    4: ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11), (12, 13), (14, 15)),
    2: ((0, 4), (3, 7), (8, 12), (11, 15)),
    1: (
        *((0, 8), (1, 5), (1, 9), (1, 10), (2, 6), (2, 9), (2, 10), (3, 11)),
        *((4, 6), (5, 6), (5, 7), (9, 13), (10, 14), (12, 14), (13, 14), (13, 15)),
    ),
}

#: Pairs of the AMD8 table with 6 units; all others have 5.
AMD8_FAST = (
    *((0, 2), (0, 3), (0, 5), (1, 4), (1, 6), (1, 7)),
    *((2, 3), (2, 5), (3, 5), (4, 6), (4, 7), (6, 7)),
)


@dataclass(frozen=True)
class Topology:
    """The network part of an instance.

    Attributes
    ----------
    workers, switches : tuple of int
    links : tuple of Link
    """

    workers: tuple[int, ...]
    switches: tuple[int, ...]
    links: tuple[Link, ...]

    def instance(self, **fields: Any) -> ForestPackingInstance:
        """Return the instance on this network, the other fields as given or by default."""
        return ForestPackingInstance(
            workers=self.workers, switches=self.switches, links=self.links, **fields
        )

    def subset(self, gpus: Iterable[int]) -> Topology:
        """Return the network of a job on some GPUs: the other workers are dropped with their links.

        Raises
        ------
        ValueError
            If a number is not a GPU or given twice, or fewer than two are given.
        """
        kept = tuple(gpus)
        for w in kept:
            if w not in self.workers:
                raise ValueError(
                    f"gpus: {w} is not a GPU, expected numbers up to {max(self.workers)}"
                )
            if kept.count(w) > 1:
                raise ValueError(f"gpus: {w} is given twice")
        if len(kept) < 2:
            raise ValueError(f"gpus: {len(kept)} given, expected two or more")
        nodes = {*kept, *self.switches}
        links = tuple(x for x in self.links if x.src in nodes and x.dst in nodes)
        return Topology(tuple(sorted(kept)), self.switches, links)


def _graph(num_workers: int, num_switches: int, links: Iterable[Link]) -> Topology:
    n = num_workers
    return Topology(tuple(range(n)), tuple(range(n, n + num_switches)), tuple(links))


def _cables(pairs: Iterable[tuple[int, int]], bandwidth: float) -> list[Link]:
    return [Link(src=u, dst=v, bandwidth_gbyte_per_s=bandwidth, both=True) for u, v in pairs]


def _arc(src: int, dst: int, bandwidth: float) -> Link:
    return Link(src=src, dst=dst, bandwidth_gbyte_per_s=bandwidth)


def _boxed(pairs: Iterable[tuple[int, int]], box: int, size: int) -> list[tuple[int, int]]:
    return [(box * size + u, box * size + v) for u, v in pairs]


# -- servers ---------------------------------------------------------------------------------------


def dgx1_v100() -> Topology:
    """Return a DGX-1 with V100 GPUs: 8 GPUs, 24 NVLinks of 25."""
    return _graph(8, 0, _dgx1_links(0))


def dgx1_p100() -> Topology:
    """Return a DGX-1 with P100 GPUs: the 16 pairs of the V100 machine, one link of 20 each."""
    return _graph(8, 0, _cables((*DGX1_DOUBLE, *DGX1_SINGLE), 20.0))


def _dgx1_links(box: int) -> list[Link]:
    return [
        *_cables(_boxed(DGX1_DOUBLE, box, 8), 50.0),
        *_cables(_boxed(DGX1_SINGLE, box, 8), 25.0),
    ]


def ndv2(boxes: int = 2, nic: float = 12.5) -> Topology:
    """Return NDv2 boxes: DGX-1 V100s with one NIC each, in at GPU 1 and out at GPU 0.

    Two boxes are joined as TE-CCL sketches them, GPU 0 of each directly to GPU 1 of the other;
    more through one switch (reconstructed).
    """
    _at_least("boxes", boxes, 1)
    links = [x for b in range(boxes) for x in _dgx1_links(b)]
    return _with_nics(8, boxes, links, [(0, 1)], nic, first_switch=8 * boxes)


def dgx2(boxes: int = 1, nvlink: float = 150.0, nic: float = 12.5) -> Topology:
    """Return DGX-2 boxes: 16 GPUs around one NVSwitch each.

    Bandwidth 150 is nominal (six links of 25); TACCL and TE-CCL measured 125. Each odd GPU sends to
    the even GPU before it of the other box; of more than two boxes, through one switch per pair of
    GPUs (reconstructed).
    """
    _at_least("boxes", boxes, 1)
    n = 16 * boxes
    links = _stars(range(n, n + boxes), 16, nvlink)
    return _with_nics(
        16, boxes, links, [(2 * i + 1, 2 * i) for i in range(8)], nic, first_switch=n + boxes
    )


def _with_nics(
    size: int,
    boxes: int,
    links: list[Link],
    ports: Sequence[tuple[int, int]],
    nic: float,
    *,
    first_switch: int,
) -> Topology:
    """Join boxes by NICs: `ports` are the GPUs of a box that send and receive."""
    switches = first_switch - size * boxes
    if boxes == 2:
        links += [_arc(b * size + u, (1 - b) * size + v, nic) for b in (0, 1) for u, v in ports]
    elif boxes > 2:
        switches += len(ports)
        for s, (u, v) in enumerate(ports, first_switch):
            links += [_arc(b * size + u, s, nic) for b in range(boxes)]
            links += [_arc(s, b * size + v, nic) for b in range(boxes)]
    return _graph(size * boxes, switches, links)


def dgx_a100(boxes: int = 1, nvlink: float = 300.0, ib: float = 25.0) -> Topology:
    """Return DGX A100 boxes (NDv4): 8 GPUs around an NVSwitch, two switches between boxes.

    GPU g of every box is linked to InfiniBand switch g mod 2.
    """
    return _rails(boxes, nvlink, ib, rails=2)


def dgx_h100(boxes: int = 1, nvlink: float = 450.0, ib: float = 50.0) -> Topology:
    """Return DGX H100 boxes: as A100, with one InfiniBand rail per GPU of a box."""
    return _rails(boxes, nvlink, ib, rails=8)


def _rails(boxes: int, nvlink: float, ib: float, *, rails: int) -> Topology:
    _at_least("boxes", boxes, 1)
    n = 8 * boxes
    links = _stars(range(n, n + boxes), 8, nvlink)
    if boxes > 1:
        links += _cables([(g, n + boxes + g % rails) for g in range(n)], ib)
    return _graph(n, boxes + (rails if boxes > 1 else 0), links)


def mi250(boxes: int = 1, ib: float = 16.0) -> Topology:
    """Return boxes of 16 MI250 dies; between boxes every die has a link to one switch."""
    _at_least("boxes", boxes, 1)
    n = 16 * boxes
    links = [
        x
        for b in range(boxes)
        for multiplicity, pairs in MI250_PAIRS.items()
        for x in _cables(_boxed(pairs, b, 16), 50.0 * multiplicity)
    ]
    if boxes > 1:
        links += _cables([(g, n) for g in range(n)], ib)
    return _graph(n, 1 if boxes > 1 else 0, links)


def amd8() -> Topology:
    """Return the eight AMD GPUs of the msccl table, all pairs linked, in relative units."""
    pairs = itertools.combinations(range(8), 2)
    return _graph(8, 0, [x for p in pairs for x in _cables([p], 6.0 if p in AMD8_FAST else 5.0)])


def star(workers: int = 8, bandwidth: float = 300.0) -> Topology:
    """Return GPUs around one switch, such as an NVSwitch."""
    _at_least("workers", workers, 2)
    return _graph(workers, 1, _stars([workers], workers, bandwidth))


def _stars(centres: Iterable[int], size: int, bandwidth: float) -> list[Link]:
    """Link each next `size` workers to the next switch."""
    pairs = [(b * size + g, s) for b, s in enumerate(centres) for g in range(size)]
    return _cables(pairs, bandwidth)


# -- data-centre fabrics ---------------------------------------------------------------------------


def fat_tree(k: int = 4, host: float = 1.0, fabric: float = 1.0, core: float = 1.0) -> Topology:
    """Return the fat-tree of k-port switches: k pods, k^3/4 hosts (Al-Fares et al. 2008).

    Parameters
    ----------
    k : int
        Even; each pod has k/2 edge and k/2 aggregation switches, and there are (k/2)^2 core ones.
    host, fabric, core : float
        Bandwidths host - edge, edge - aggregation and aggregation - core. The three equal give
        full bisection; host twice the others gives an oversubscription of 2.
    """
    if k < 2 or k % 2:
        raise ValueError(f"k: {k}, expected an even number, 2 or more")
    half = k // 2
    hosts = k * half * half
    edge = [[hosts + pod * half + e for e in range(half)] for pod in range(k)]
    aggregation = [[hosts + k * half + pod * half + a for a in range(half)] for pod in range(k)]
    cores = [[hosts + 2 * k * half + a * half + c for c in range(half)] for a in range(half)]
    links: list[Link] = []
    for pod in range(k):
        for e in range(half):
            first = (pod * half + e) * half
            links += _cables([(first + h, edge[pod][e]) for h in range(half)], host)
            links += _cables([(edge[pod][e], a) for a in aggregation[pod]], fabric)
        for a in range(half):
            links += _cables([(aggregation[pod][a], c) for c in cores[a]], core)
    return _graph(hosts, 2 * k * half + half * half, links)


def bcube(n: int = 4, bandwidth: float = 1.0) -> Topology:
    """Return BCube(n, 1): n^2 servers with two NICs, 2n switches of n ports (Guo et al. 2009)."""
    _at_least("n", n, 2)
    servers = n * n
    pairs = [
        (i * n + j, switch)
        for i in range(n)
        for j in range(n)
        for switch in (servers + i, servers + n + j)
    ]
    return _graph(servers, 2 * n, _cables(pairs, bandwidth))


def dcell(n: int = 4, bandwidth: float = 1.0) -> Topology:
    """Return DCell_1(n): n + 1 cells of n servers around a switch (Guo et al. 2008).

    Server (i, j-1) has a cable to server (j, i) for cells i < j.
    """
    _at_least("n", n, 2)
    servers = n * (n + 1)
    inside = [(i * n + j, servers + i) for i in range(n + 1) for j in range(n)]
    between = [(i * n + j - 1, j * n + i) for i, j in itertools.combinations(range(n + 1), 2)]
    return _graph(servers, n + 1, _cables([*inside, *between], bandwidth))


# -- graphs without switches -----------------------------------------------------------------------


def torus(dims: Sequence[int] = (4, 4), bandwidth: float = 1.0) -> Topology:
    """Return a torus of any number of dimensions; one of size 2 has one cable, not two."""
    if not dims or min(dims) < 2:
        raise ValueError(f"dims: {tuple(dims)}, expected sizes of 2 or more")
    points = list(itertools.product(*(range(d) for d in dims)))
    index = {point: v for v, point in enumerate(points)}
    pairs: dict[tuple[int, int], None] = {}  # in order, each once
    for v, point in enumerate(points):
        for axis, d in enumerate(dims):
            u = index[(*point[:axis], (point[axis] + 1) % d, *point[axis + 1 :])]
            pairs[min(u, v), max(u, v)] = None
    return _graph(len(points), 0, _cables(pairs, bandwidth))


def hypercube(dimension: int = 4, bandwidth: float = 1.0) -> Topology:
    """Return the hypercube: 2^dimension workers, linked where their numbers differ in one bit."""
    _at_least("dimension", dimension, 1)
    n = 2**dimension
    bits = [2**i for i in range(dimension)]
    return _graph(
        n, 0, _cables([(v, v | bit) for v in range(n) for bit in bits if not v & bit], bandwidth)
    )


def complete(workers: int = 8, bandwidth: float = 1.0) -> Topology:
    """Return workers with a cable between every two."""
    _at_least("workers", workers, 2)
    return _graph(workers, 0, _cables(itertools.combinations(range(workers), 2), bandwidth))


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise ValueError(f"{name}: {value}, expected {least} or more")
