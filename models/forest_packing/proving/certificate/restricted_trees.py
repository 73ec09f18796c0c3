r"""Checks of bounds that hold only for restricted trees (F8): few, equal or shallow ones.

All is counted in Python's integers and fractions. A tree pair of rate x loads an arc n times with
:math:`n x`, in whichever stage, so that arcs carry

.. math:: \sum_p n_a(p)\, x_p \le c_a,

also where stages take turns. A tree enters (a reduction: leaves) every part of a partition but the
root's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from ...instance import (
    Bottleneck,
    EqualTrees,
    ForestPackingInstance,
    ShallowPrices,
    Stage,
)
from .roots import root_shares

#: Workers that the check of shallow trees takes; the work is 3^N. Tuned: `benchmarks/constants.py`.
MOST_WORKERS = 12
#: Numbers of trees that the check of equal trees goes through. Tuned: `benchmarks/constants.py`.
MOST_COUNTS = 4096

Capacities = dict[tuple[int, int], Fraction]


def equal_trees_bound(instance: ForestPackingInstance, proof: EqualTrees) -> Fraction:
    r"""Return the bound on at most K pairs of one rate that a partition for each number gives.

    j pairs of rate x cross between the parts of a partition P at least :math:`s j (|P| - 1)` times
    in the collective's s stages, and an arc has at most :math:`\lfloor c_a / x \rfloor` crossings.
    The largest such x gives the rate j x of j pairs. 2j pairs do as well as j pairs, so only
    K/2 < j <= K count; where root shares are given, only those j that give every root a whole
    number of pairs.

    Raises
    ------
    ValueError
        If the instance has no number of equal trees, a number has no partition or more than one,
        or the parts are not all nodes, each once and each part with a worker.
    """
    counts = _counts(instance)
    if len(proof.partitions) != len(counts):
        raise ValueError(f"partitions: {len(proof.partitions)}, expected {len(counts)}")
    capacities = _capacities(instance)
    best = Fraction(0)
    for i, (count, parts) in enumerate(zip(counts, proof.partitions, strict=True)):
        part_of = _part_of(instance, parts, f"partitions[{i}]")
        crossing = [c for (u, v), c in capacities.items() if part_of[u] != part_of[v]]
        needed = len(instance.stages) * count * (len(parts) - 1)
        if needed:
            best = max(best, count * _largest_share(crossing, needed))
        else:
            raise ValueError(f"partitions[{i}]: one part bounds nothing")
    return best


def _counts(instance: ForestPackingInstance) -> list[int]:
    """Return the numbers of pairs, one of which is optimal."""
    most = instance.tree_budget
    if not instance.equal_share or most is None:
        raise ValueError("kind: equal_trees, but the instance has no number of equal trees")
    if most > MOST_COUNTS:
        raise ValueError(f"kind: equal_trees of more than {MOST_COUNTS} trees")
    shares = root_shares(instance) or {}
    step = math.lcm(*(w.denominator for w in shares.values()))
    return [j for j in range(most // 2 + 1, most + 1) if j % step == 0]


def _largest_share(capacities: Sequence[Fraction], needed: int) -> Fraction:
    """Return the largest x for which the sum of floor(c / x) is at least what is needed."""
    total = sum(capacities, Fraction(0))
    if not total:
        return Fraction(0)
    # 1/x rises from where the sum without rounding suffices, always to the next whole number of
    # some capacity. Each step adds a crossing, and at most one for each capacity is missing.
    inverse = needed / total
    while sum(math.floor(c * inverse) for c in capacities) < needed:
        inverse = min((math.floor(c * inverse) + 1) / c for c in capacities)
    return 1 / inverse


def bottleneck_bound(instance: ForestPackingInstance, proof: Bottleneck) -> Fraction:
    """Return K times the largest capacity of an arc between some nodes and the others.

    With a worker on either side every tree has such an arc, so no pair has a larger rate.

    Raises
    ------
    ValueError
        If the instance has no tree budget, or all workers are on one side.
    """
    if instance.tree_budget is None:
        raise ValueError("kind: bottleneck, but the instance has no tree_budget")
    inside = set(proof.nodes)
    unknown = sorted(inside.difference(instance.workers, instance.switches))
    if unknown:
        raise ValueError(f"nodes: {unknown[0]} is neither a worker nor a switch")
    if not 0 < len(inside.intersection(instance.workers)) < len(instance.workers):
        raise ValueError("nodes: all workers are on one side")
    across = [c for (u, v), c in _capacities(instance).items() if (u in inside) != (v in inside)]
    return instance.tree_budget * max(across, default=Fraction(0))


def shallow_prices_bound(instance: ForestPackingInstance, proof: ShallowPrices) -> Fraction | None:
    r"""Return the bound of row prices on pairs whose heights add up to at most `max_depth` hops.

    A plan's loads cost at most :math:`\sum_\rho C_\rho y_\rho`, and each pair at root r at least
    :math:`\pi_r(y)`, the price of the cheapest pair so shallow, so that
    :math:`R \min_r \pi_r` or, with given shares, :math:`R \sum_r w_r \pi_r` is no more. A path
    through a worker is two hops, so paths through switches make all trees. None if all is free.

    Raises
    ------
    ValueError
        If the instance limits no depth, is not of this kind, has too many workers, or has no such
        row; or if a price is negative.
    """
    depth = _depth(instance)
    network = instance.network
    names = {row.name for row in network.rows}
    for name, price in proof.prices.items():
        if name not in names:
            raise ValueError(f"prices: the network has no row {name!r}")
        if price < 0:
            raise ValueError(f"prices[{name!r}]: {price} is negative")
    scale = math.lcm(*(y.denominator for y in proof.prices.values()))
    units = {name: int(y * scale) for name, y in proof.prices.items()}
    price_of = [units.get(row.name, 0) for row in network.rows]
    capital = sum((row.capacity * y for row, y in zip(network.rows, price_of, strict=True)), 0)
    arcs = {
        arc: sum(price_of[i] for i in rows)
        for arc, rows in zip(network.arcs, network.rows_of, strict=True)
    }
    by_root = _cheapest_pairs(instance, arcs, depth)
    shares = root_shares(instance)
    roots = range(network.num_workers) if shares is None else shares
    costs = {r: by_root[r] for r in roots if r in by_root}
    if not costs or (shares is not None and len(costs) < len(shares)):
        return Fraction(0)  # no pair so shallow spans the workers from a root that must have one
    if shares is None:
        cheapest = Fraction(min(costs.values()))
    else:
        cheapest = sum((w * costs[r] for r, w in shares.items()), Fraction(0))
    return Fraction(capital) / cheapest if cheapest else None


def _depth(instance: ForestPackingInstance) -> int:
    depth, workers = instance.max_depth, len(instance.workers)
    if depth is None:
        raise ValueError("kind: shallow_prices, but the instance has no max_depth")
    if instance.sequential or instance.in_network:
        raise ValueError("kind: shallow_prices, but stages take turns or switches copy and sum")
    if workers > MOST_WORKERS:
        raise ValueError(f"kind: shallow_prices for {workers} workers, at most {MOST_WORKERS}")
    return depth


def _cheapest_pairs(
    instance: ForestPackingInstance, prices: Mapping[tuple[int, int], int], depth: int
) -> dict[int, int]:
    """Return the price of the cheapest pair of at most this depth at each root that has one."""
    n, stages = instance.network.num_workers, instance.stages
    heights: dict[Stage, list[dict[int, int]]] = {}
    for stage in stages:
        paths = _paths(instance, prices)
        if stage == "reduce":
            paths = {(v, u): cost for (u, v), cost in paths.items()}
        heights[stage] = _shallow_trees(n, paths, min(n - 1, depth))
    best: dict[int, int] = {}
    for r in range(n):
        if len(stages) == 1:
            pairs = [heights[stages[0]][-1].get(r)]
        else:
            up, down = (heights[stage] for stage in stages)
            pairs = [
                up[h][r] + down[k][r]
                for h in range(len(up))
                for k in [min(len(down) - 1, depth - h)]
                if k >= 0 and r in up[h] and r in down[k]
            ]
        if found := [cost for cost in pairs if cost is not None]:
            best[r] = min(found)
    return best


def _paths(
    instance: ForestPackingInstance, prices: Mapping[tuple[int, int], int]
) -> dict[tuple[int, int], int]:
    """Return the prices of the cheapest paths between workers through switches (Floyd-Warshall)."""
    n = instance.network.num_workers
    cost = dict(prices)
    for k in instance.network.switches:
        into = [(u, c) for (u, v), c in cost.items() if v == k and u != k]
        out = [(v, c) for (u, v), c in cost.items() if u == k and v != k]
        for u, first in into:
            for v, second in out:
                known = cost.get((u, v))
                if u != v and (known is None or first + second < known):
                    cost[u, v] = first + second
    return {(u, v): c for (u, v), c in cost.items() if u < n and v < n}


def _shallow_trees(
    n: int, cost: Mapping[tuple[int, int], int], height: int
) -> list[dict[int, int]]:
    """Return, for every height from 0 on, what a cheapest out-tree so shallow costs by root.

    With the workers in S reached and h hops left, the next ones D each hang on the cheapest worker
    reached: F_0 of all workers is 0, F_h(S) the least of attaching D plus F_(h-1)(S with D).
    """
    everyone = (1 << n) - 1
    missing = 1 + sum(cost.values()) * n
    attach = [_attachments(n, cost, S, missing) for S in range(everyone + 1)]
    F = [missing] * everyone + [0]
    found = [{r: 0 for r in range(n) if 1 << r == everyone}]
    for _ in range(height):
        F = [
            min((price + F[S | D] for D, price in options), default=missing)
            for S, options in enumerate(attach)
        ]
        found.append({r: F[1 << r] for r in range(n) if F[1 << r] < missing})
    return found


def _attachments(
    n: int, cost: Mapping[tuple[int, int], int], S: int, missing: int
) -> list[tuple[int, int]]:
    """Return all sets outside S that can hang on workers in S, each with its price."""
    inside = [u for u in range(n) if S >> u & 1]
    options = [(0, 0)] if S else []
    for v in range(n):
        if not S >> v & 1:
            nearest = min((cost.get((u, v), missing) for u in inside), default=missing)
            if nearest < missing:
                options += [(D | 1 << v, price + nearest) for D, price in options]
    return options


def _capacities(instance: ForestPackingInstance) -> Capacities:
    """Return the capacity of each arc in GB/s between the instance's node numbers."""
    network = instance.network
    return {
        (network.labels[u], network.labels[v]): c
        for (u, v), c in zip(network.arcs, network.capacity, strict=True)
    }


def _part_of(
    instance: ForestPackingInstance, parts: Sequence[Sequence[int]], where: str
) -> dict[int, int]:
    """Return the part of every node that has links or is a worker."""
    part_of: dict[int, int] = {}
    for i, part in enumerate(parts):
        if set(instance.workers).isdisjoint(part):
            raise ValueError(f"{where}[{i}]: has no worker")
        for v in part:
            if part_of.setdefault(v, i) != i:
                raise ValueError(f"{where}[{i}]: node {v} is in another part too")
    missing = [v for v in instance.network.labels if v not in part_of]
    if missing:
        raise ValueError(f"{where}: node {missing[0]} is in no part")
    return part_of
