"""Orders of the GPUs: RDO, recursive device ordering by minimum cuts, and simpler ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Literal

import networkx as nx
import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats

from ..instance import SppInstance
from .block_costs import bandwidth_matrix

#: Most GPUs of which all orders are tried, and most of which minimum cuts are computed.
MOST_PERMUTED, MOST_CUT = 8, 128

Order = Literal["rdo", "natural", "list", "best_of_all"]


def rdo(bandwidth_bytes_per_s: Floats) -> tuple[int, ...]:
    """Return the GPUs so that those with fast links between them stand next to each other.

    A global minimum cut divides the GPUs, and each side is ordered the same way. The two orders are
    joined, each as it is or reversed, where the link between the last GPU of the first and the
    first GPU of the second is fastest; of equal ones the first of (as they are), (second reversed),
    (first reversed) and (both reversed). The side with the smallest GPU number comes first.

    Parameters
    ----------
    bandwidth_bytes_per_s : ndarray, shape (V, V)
        Symmetric and positive off the diagonal.

    Notes
    -----
    Stoer and Wagner's algorithm at every level, O(V^4) in all. How the two orders are joined, and
    ties, are ours (reconstructed). A minimum cut may take a single GPU off a machine instead of a
    whole machine; its neighbours then become cheaper to cut and follow, so machines still stay
    together, but that rests on ties.

    References
    ----------
    Z. Luo et al., "Efficient Pipeline Planning for Expedited Distributed DNN Training", INFOCOM
    2022. M. Stoer, F. Wagner, "A Simple Min-Cut Algorithm", Journal of the ACM 44 (1997) 585-591.
    """
    b = bandwidth_bytes_per_s
    return tuple(_ordered(b, list(range(len(b)))))


def _ordered(b: Floats, gpus: list[int]) -> list[int]:
    if len(gpus) <= 2:
        return gpus
    graph = nx.Graph()
    graph.add_nodes_from(gpus)
    graph.add_weighted_edges_from((u, v, float(b[u, v])) for u in gpus for v in gpus if u < v)
    sides: tuple[Sequence[int], Sequence[int]] = nx.stoer_wagner(graph)[1]
    first, second = sorted(map(sorted, sides))
    x, y = _ordered(b, first), _ordered(b, second)
    joined = [(x, y), (x, y[::-1]), (x[::-1], y), (x[::-1], y[::-1])]
    left, right = max(joined, key=lambda pair: b[pair[0][-1], pair[1][0]])
    return left + right


def device_orders(
    instance: SppInstance, order: Order, gpu_order: str = ""
) -> Iterator[tuple[int, ...]]:
    """Yield the orders of the GPUs that a choice stands for, no two with the same links.

    Raises
    ------
    ModelRefused
        If a list is not one of all GPUs, or there are too many GPUs for all orders or for cuts.
    """
    V, b = instance.num_gpus, bandwidth_matrix(instance)
    if order == "natural":
        yield tuple(range(V))
    elif order == "rdo":
        if V > MOST_CUT:
            raise ModelRefused(f"order: 'rdo' for {V} GPUs, expected at most {MOST_CUT}")
        yield rdo(b)
    elif order == "list":
        yield _listed(gpu_order, V)
    elif V > MOST_PERMUTED:
        raise ModelRefused(f"order: 'best_of_all' for {V} GPUs, expected at most {MOST_PERMUTED}")
    else:
        seen = set()
        speeds = instance.cluster.gpu_speeds
        for gpus in itertools.permutations(range(V)):
            key = (b[np.ix_(gpus, gpus)].tobytes(), tuple(speeds[v] for v in gpus))
            if key not in seen:
                seen.add(key)
                yield gpus


def _listed(text: str, num_gpus: int) -> tuple[int, ...]:
    cells = [cell.strip() for cell in text.split(",")]
    gpus = [int(cell) for cell in cells if cell.isdecimal()]
    if len(gpus) != len(cells) or sorted(gpus) != list(range(num_gpus)):
        raise ModelRefused(f"gpu_order: {text!r}, expected the GPUs 0 to {num_gpus - 1}, each once")
    return tuple(gpus)
