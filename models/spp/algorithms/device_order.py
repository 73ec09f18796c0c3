"""RDO, recursive device ordering: an order of the GPUs by minimum cuts."""

from __future__ import annotations

import math

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats

from ..instance import SppInstance
from .block_costs import bandwidth_matrix

#: Sums of whole numbers below this are exact in doubles. By definition.
EXACT = 2.0**53

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
    Stoer and Wagner's algorithm at every level, O(V^3) in all where bounds spare its phases, else
    O(V^4). How the two orders are joined, and ties, are ours (reconstructed). A minimum cut may
    take a single GPU off a machine instead of a whole machine; its neighbours then become cheaper
    to cut and follow, so machines still stay together, but that rests on ties.

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
    first, second = minimum_cut(b, gpus)
    x, y = _ordered(b, first), _ordered(b, second)
    joined = [(x, y), (x, y[::-1]), (x[::-1], y), (x[::-1], y[::-1])]
    left, right = max(joined, key=lambda pair: b[pair[0][-1], pair[1][0]])
    return left + right


def minimum_cut(b: Floats, gpus: list[int]) -> tuple[list[int], list[int]]:
    """Return the two sides of a global minimum cut, the one with the smallest GPU first.

    Parameters
    ----------
    gpus : list of int
        Rising, at least two.

    Notes
    -----
    A phase of Stoer and Wagner begins at the smallest GPU and adds the one with most bandwidth to
    those added before, of equal ones the smallest; the last is cut off, and joins the one before
    it. The first of the least cuts of all phases is taken. Where a bound on all cuts shows that
    none is less, the other phases are left out: then a cut is O(V^2) instead of O(V^3).
    """
    inner = b[np.ix_(gpus, gpus)]
    least = _least_cut(inner)
    joined = [[v] for v in gpus]
    best, cut = math.inf, joined[0]
    for left in range(len(gpus), 1, -1):
        weight, last, before = _phase(inner)
        if weight < best:
            best, cut = weight, joined[last]
            if best <= least:
                break
        if left > 2:
            inner = _contracted(inner, before, last)
            joined[before] = joined[before] + joined[last]
            joined.pop(last)
    one = sorted(cut)
    chosen = set(one)
    other = [v for v in gpus if v not in chosen]
    return (one, other) if one[0] < other[0] else (other, one)


def _phase(inner: Floats) -> tuple[float, int, int]:
    """Return the cut of a phase, the last node added and the one before it."""
    weights = inner[0].copy()
    weights[0] = -math.inf  # added
    before = last = 0
    for _ in range(len(inner) - 1):
        before, last = last, int(weights.argmax())
        weight = float(weights[last])
        weights += inner[last]
        weights[last] = -math.inf
    return weight, last, before


def _contracted(inner: Floats, into: int, last: int) -> Floats:
    """Return the bandwidths with a node joined into another."""
    joined = inner.copy()
    joined[into] += inner[last]
    joined[:, into] = joined[into]
    joined[into, into] = 0.0
    kept = np.arange(len(inner)) != last
    return joined[np.ix_(kept, kept)]


def _least_cut(inner: Floats) -> float:
    """Return a bound on all cuts; 0 if bandwidths are not whole numbers, whose sums are rounded.

    A set of k <= V / 2 GPUs has at least the k (V - k) links out of it, and each of its GPUs at
    least its V - k narrowest ones.
    """
    n = len(inner)
    if not (inner == np.floor(inner)).all() or inner.sum() >= EXACT:
        return 0.0
    # Row by row the sums of the narrowest links; the first is that of a GPU to itself.
    narrowest = np.cumsum(np.sort(inner, axis=1)[:, 1:], axis=1)
    least = math.inf
    for k in range(1, n // 2 + 1):
        out = narrowest[:, n - k - 1]
        least = min(least, float(np.partition(out, k - 1)[:k].sum()))
    return least


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
