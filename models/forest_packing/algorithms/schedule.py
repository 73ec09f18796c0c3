r"""Schedules of packings: slices of the data, and chunks in a pipeline.

Algorithm A2; its roots (step 2) are in `subproblems.roots`. Each tree serves a contiguous slice of
the data in proportion to its rate, cut into m equal chunks. Worker v sends chunk j to its parent in
period :math:`j + h^-(v)`, where h^- is its height in the in-tree (0 at leaves), and the arc (u, v)
of the out-tree carries chunk j in period
:math:`j + H + d(u)`, where :math:`H = h^-(r)` and d is the depth (0 at the root). So a tree pair
needs :math:`m + h_p - 1` periods, :math:`h_p = H + \max_v d(v)`, each of :math:`T^*/m + \alpha`
seconds, and with :math:`h = \max_p h_p`

.. math:: T(m) = (m + h - 1)\Big(\frac{T^*}{m} + \alpha\Big), \qquad
          m^* = \sqrt{(h - 1) T^* / \alpha}.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from gadgetopt.numbers.tolerance import Number, decimal_rational

from ..instance import ForestPackingInstance
from ..packing import Pair, Route, congestion, total_rate
from ..subproblems.roots import distances


@dataclass(frozen=True)
class Phase:
    """A pipeline that runs by itself: both stages if they overlap, else one of them.

    Attributes
    ----------
    fluid_s : float
        Seconds without latency and with infinitely many chunks.
    depth : int
        h: the most hops from where a tree's data start to where they end.
    """

    fluid_s: float
    depth: int


# -- slices: step 3 ----------------------------------------------------------------------------


def slices(rates: Sequence[Fraction], elements: int) -> list[int]:
    """Return how many of `elements` each tree serves: in proportion to its rate, whole numbers.

    Largest remainders get the elements that rounding down leaves over; ties by position.
    """
    total = sum(rates, Fraction(0))
    exact = [elements * rate / total for rate in rates]
    sizes = [math.floor(x) for x in exact]
    by_remainder = sorted(range(len(rates)), key=lambda p: (sizes[p] - exact[p], p))
    for p in by_remainder[: elements - sum(sizes)]:
        sizes[p] += 1
    return sizes


# -- chunks and time: steps 4 and 5 ------------------------------------------------------------


def depths(root: int, routes: Sequence[Route]) -> dict[int, int]:
    """Return the depth of each node of an out-tree, 0 at the root."""
    children: dict[int, list[int]] = {root: []}
    for route in routes:
        children.setdefault(route[0], []).append(route[-1])
        children.setdefault(route[-1], [])
    return distances(children, root)


def subtree_heights(root: int, routes: Sequence[Route]) -> dict[int, int]:
    """Return h^- of each node of an in-tree: the hops from the farthest leaf, 0 at leaves."""
    depth = depths(root, [route[::-1] for route in routes])
    height = dict.fromkeys(depth, 0)
    parent = {route[0]: route[-1] for route in routes}
    for v in sorted(depth, key=lambda v: -depth[v]):
        if v != root:
            height[parent[v]] = max(height[parent[v]], height[v] + 1)
    return height


def phases(instance: ForestPackingInstance, pairs: Sequence[Pair]) -> tuple[Phase, ...]:
    """Return the pipelines of a plan: one, or one for each of two stages that take turns."""
    model_size = float(instance.model_size_gbyte)
    rate = total_rate(pairs)
    if rate == 0:
        return ()
    reduce_depth = [max(subtree_heights(p.root, p.reduce).values()) for p in pairs]
    out_depth = [max(depths(p.root, p.out_routes).values()) for p in pairs]
    if not instance.sequential:
        both = max(a + b for a, b in zip(reduce_depth, out_depth, strict=True))
        return (Phase(model_size / float(rate), both),)
    reduce_part = congestion(instance, [_only(p, "reduce") for p in pairs])
    broadcast_part = congestion(instance, [_only(p, "broadcast") for p in pairs])
    return (
        Phase(model_size * float(reduce_part / rate), max(reduce_depth)),
        Phase(model_size * float(broadcast_part / rate), max(out_depth)),
    )


def _only(pair: Pair, stage: str) -> Pair:
    if stage == "reduce":
        return Pair(pair.root, pair.reduce, (), pair.rate)
    return Pair(pair.root, (), pair.out_routes, pair.rate)


def chunked_time_s(plan: Sequence[Phase], chunks: int, hop_latency_s: Number) -> float:
    """Return T(m), the sum of (m + h - 1)(T*/m + alpha) over the pipelines, seconds."""
    return sum((chunks + p.depth - 1) * (p.fluid_s / chunks + float(hop_latency_s)) for p in plan)


def best_chunks(plan: Sequence[Phase], hop_latency_s: Number) -> int | None:
    """Return m*, rounded to the better side; None without latency, where more is always better."""
    alpha = float(hop_latency_s)
    if alpha == 0 or not plan:
        return None
    ideal = math.sqrt(sum((p.depth - 1) * p.fluid_s for p in plan) / (len(plan) * alpha))
    around = {max(1, math.floor(ideal)), max(1, math.ceil(ideal))}
    return min(sorted(around), key=lambda m: chunked_time_s(plan, m, alpha))


def pipeline_notes(
    plan: Sequence[Phase], chunks: int | None, hop_latency_s: Number
) -> dict[str, object]:
    """Return the notes on the pipelines: h, T*, and T(m) if there are chunks."""
    notes: dict[str, object] = {
        "pipeline_depth_hops": [p.depth for p in plan],
        "fluid_time_s": sum(p.fluid_s for p in plan),
    }
    if chunks is not None:
        notes["chunked_time_s"] = chunked_time_s(plan, chunks, hop_latency_s)
    return notes


def elements(instance: ForestPackingInstance, bytes_each: int = 4) -> int:
    """Return the number of whole elements of the model (fp32 by default)."""
    return math.floor(decimal_rational(instance.model_size_gbyte) * 10**9 / bytes_each)
