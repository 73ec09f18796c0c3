r"""Pipelines of chunks: the time of m chunks, and the period in which each is sent.

Algorithm A2, steps 4 and 5. Each tree's slice is cut into m equal chunks. In a period every
tree arc sends at most one chunk, which its tail must hold when the period begins. A period takes
:math:`T^*/m + \alpha`; h is the depth of the deepest tree pair, or, where the stages take turns, of
each stage's deepest tree:

.. math::
    T(m) = (m + h - 1) \Big(\frac{T^*}{m} + \alpha\Big), \qquad
    m^* = \sqrt{(h-1) T^* / \alpha}                                                  \tag{A2.5}
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from .instance import TreePair


@dataclass(frozen=True)
class Phase:
    """A pipeline that runs by itself: both stages overlapped, or one stage.

    Attributes
    ----------
    fluid_s : Fraction
        T*, the time with chunks of no size.
    depth : int
        h, hops from the first send to the last of one chunk, of the deepest tree.
    """

    fluid_s: Fraction
    depth: int


@dataclass(frozen=True)
class Simulation:
    """The course of a pipeline.

    Attributes
    ----------
    time_s : Fraction
        From the first send to the end of the last.
    periods : int
    fullest : Fraction
        Largest part of a period's T*/m for which a row is busy; at most 1.
    """

    time_s: Fraction
    periods: int
    fullest: Fraction


def chunked_time(phases: Iterable[Phase], chunks: int, hop_latency_s: Fraction) -> Fraction:
    """Return T(m) in s of phases one after the other (A2.5)."""
    return sum(
        ((chunks + p.depth - 1) * (p.fluid_s / chunks + hop_latency_s) for p in phases),
        Fraction(0),
    )


def best_chunks(phases: Sequence[Phase], hop_latency_s: Fraction) -> int | None:
    """Return m*, rounded to the better side; None if more chunks always take less time."""
    filling = sum(((p.depth - 1) * p.fluid_s for p in phases), Fraction(0))
    if filling == 0:
        return 1
    if hop_latency_s == 0:
        return None
    below = math.isqrt(math.floor(filling / (len(phases) * hop_latency_s)))
    return min(
        (m for m in (below, below + 1) if m > 0),
        key=lambda m: chunked_time(phases, m, hop_latency_s),
    )


def reduce_periods(tree: TreePair) -> dict[tuple[int, ...], int]:
    """Return the period in which each path of the in-tree sends the first chunk.

    A node sends a chunk in the period after the last of its children has: chunk j in period
    j + the node's height.
    """
    parent = {path[0]: path[-1] for path in tree.in_tree}
    height = dict.fromkeys((*parent, tree.root), 0)
    waiting: defaultdict[int, int] = defaultdict(int)
    for p in parent.values():
        waiting[p] += 1
    ready = [v for v in parent if not waiting[v]]
    for v in ready:  # grows as children finish
        if v == tree.root:
            break
        p = parent[v]
        height[p] = max(height[p], height[v] + 1)
        waiting[p] -= 1
        if not waiting[p]:
            ready.append(p)
    return {path: height[path[0]] for path in tree.in_tree}


def broadcast_periods(tree: TreePair, start: int) -> dict[tuple[int, ...], int]:
    """Return the period in which each path of the out-tree sends the first chunk.

    The root sends a chunk in period `start` or later, every other node in the period after it got
    it: chunk j in period j + start + the node's depth.
    """
    paths = tree.broadcast_tree
    children: defaultdict[int, list[int]] = defaultdict(list)
    for path in paths:
        children[path[0]].append(path[-1])
    depth, reached = {tree.root: 0}, [tree.root]
    for u in reached:  # grows as nodes are reached
        for v in children[u]:
            depth[v] = depth[u] + 1
            reached.append(v)
    return {path: start + depth[path[0]] for path in paths}


def simulate(
    trees: Sequence[TreePair],
    phases: Sequence[Phase],
    chunks: int,
    hop_latency_s: Fraction,
    slices_gbyte: Sequence[Fraction],
    rows_of: Mapping[tuple[int, int], Sequence[int]],
    capacity: Sequence[Fraction],
) -> Simulation:
    """Send every chunk of every tree in its period and check every row in every period.

    Parameters
    ----------
    trees : sequence of TreePair
        Trees that span.
    phases : sequence of Phase
        One if the stages overlap or there is one only, else the two stages.
    chunks : int
        m.
    slices_gbyte : sequence of Fraction
        D_p of each tree.
    rows_of : mapping
        Rows that each (tail, head) is in.
    capacity : sequence of Fraction
        Capacity of each row, GB/s.
    """
    scale = math.lcm(*(d.denominator for d in slices_gbyte))
    sizes = [int(d * scale) for d in slices_gbyte]
    # Per phase and row: by how much the load changes at the beginning of a period.
    changes: list[defaultdict[int, defaultdict[int, int]]] = [
        defaultdict(lambda: defaultdict(int)) for _ in phases
    ]
    last = [0] * len(phases)
    for tree, size in zip(trees, sizes, strict=True):
        up = reduce_periods(tree)
        summed = max(up.values(), default=-1) + 1
        turns = len(phases) == 2
        down = broadcast_periods(tree, 0 if turns else summed)
        for k, first in ((0, up), (len(phases) - 1, down)):
            last[k] = max(last[k], max(first.values(), default=0) + chunks)
            for path, period in first.items():
                for arc in pairwise(path):
                    for row in rows_of[arc]:
                        changes[k][row][period] += size
                        changes[k][row][period + chunks] -= size
    fullest = max(
        _fullest(of_row, capacity) / (scale * phase.fluid_s)
        for phase, of_row in zip(phases, changes, strict=True)
    )
    time_s = sum(
        (n * (p.fluid_s / chunks + hop_latency_s) for n, p in zip(last, phases, strict=True)),
        Fraction(0),
    )
    return Simulation(time_s, sum(last), fullest)


def _fullest(changes: Mapping[int, Mapping[int, int]], capacity: Sequence[Fraction]) -> Fraction:
    """Largest load over capacity of a row in any period.

    A chunk is 1/m of its slice and a period T*/m long: m cancels.
    """
    unit = math.lcm(*(c.denominator for c in capacity))
    largest, of_capacity = 0, 1
    for row, steps in changes.items():
        load, most, units = 0, 0, int(capacity[row] * unit)
        for period in sorted(steps):
            load += steps[period]
            most = max(most, load)
        if most * of_capacity > largest * units:
            largest, of_capacity = most, units
    return Fraction(largest * unit, of_capacity)
