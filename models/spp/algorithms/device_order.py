"""RDO, recursive device ordering: an order of the GPUs by minimum cuts."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats

from ..instance import SppInstance
from .block_costs import bandwidth_matrix

#: Most GPUs of which minimum cuts are computed. Tuned: `benchmarks/constants.py`.
MOST_CUT = 128


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


def rdo_order(instance: SppInstance) -> tuple[int, ...]:
    """Return the GPUs of an instance by recursive device ordering.

    Raises
    ------
    ModelRefused
        If there are too many GPUs for minimum cuts.
    """
    V = instance.num_gpus
    if V > MOST_CUT:
        raise ModelRefused(f"order: 'rdo' for {V} GPUs, expected at most {MOST_CUT}")
    return rdo(bandwidth_matrix(instance))
