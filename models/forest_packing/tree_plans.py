"""From trees and rates in floating point to an exact plan."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from fractions import Fraction

from .instance import ForestPackingInstance, Stage
from .network import Floats
from .packing import (
    Pair,
    Route,
    Tree,
    best_plan,
    couple,
    fit,
    read_rates,
    required_shares,
    total_rate,
)
from .price_oracles import FoundTree

#: Rates below this part of the largest are rounding errors of 0.
NEGLIGIBLE = 1e-13
#: Denominators of simple readings of rates, in units of capacity or of the bound.
DENOMINATORS = (1_000, 30_000)


def exact_plan(
    instance: ForestPackingInstance,
    trees: Sequence[FoundTree],
    rates: Floats,
    bound: Fraction | None = None,
) -> list[Pair]:
    """Return the best reading of rates in GB/s, shape (trees,), as an exact plan.

    Parameters
    ----------
    bound : Fraction, optional
        Rate that no plan exceeds. Rates whose readings as simple fractions add up to it are tried
        first: if they fit, the plan is optimal without any tolerance.
    """
    largest = float(rates.max(initial=0.0))
    used = [(t, x) for t, x in zip(trees, rates.tolist(), strict=True) if x > NEGLIGIBLE * largest]
    found = [tree for tree, _ in used]
    routes = [tree.route_tuples() for tree in found]

    def pairs(read: Sequence[Fraction]) -> list[Pair]:
        undirected, rooted = [], []
        for tree, r, x in zip(found, routes, read, strict=True):
            if tree.stage is None:
                undirected.append((r, x))
            else:
                rooted.append((tree.stage, Tree(tree.root, r, x)))
        return rooted_anywhere(instance, undirected) + _paired(instance, rooted)

    exact = [Fraction(x) for _, x in used]
    if bound:
        for unit in (instance.network.unit, bound):
            for denominator in DENOMINATORS:
                read = [(x / unit).limit_denominator(denominator) * unit for x in exact]
                if _total(found, read) < bound:
                    continue
                plan = fit(instance, pairs(read))
                if total_rate(plan) == bound:
                    return plan
    readings = read_rates([x for _, x in used], instance.network.unit)
    return best_plan(instance, [pairs(read) for read in readings])


def _total(trees: Sequence[FoundTree], rates: Sequence[Fraction]) -> Fraction:
    """Return the total rate of the stage that has less."""
    total: dict[Stage | None, Fraction] = {}
    for tree, x in zip(trees, rates, strict=True):
        total[tree.stage] = total.get(tree.stage, Fraction(0)) + x
    return min(total.values(), default=Fraction(0))


def _paired(instance: ForestPackingInstance, trees: Sequence[tuple[Stage, Tree]]) -> list[Pair]:
    by_stage = {stage: [t for s, t in trees if s == stage] for stage in instance.stages}
    if len(instance.stages) == 2:
        return couple(by_stage["reduce"], by_stage["broadcast"])
    if "reduce" in by_stage:
        return [Pair(t.root, t.routes, (), t.rate) for t in by_stage["reduce"]]
    return [Pair(t.root, (), t.routes, t.rate) for t in by_stage["broadcast"]]


def rooted_anywhere(
    instance: ForestPackingInstance, trees: Sequence[tuple[tuple[Route, ...], Fraction]]
) -> list[Pair]:
    """Root undirected trees: at their centres, or where shares of the rate must be.

    With given shares, trees are dealt out to the roots in order, cut where a root has its share.
    """
    shares = required_shares(instance)
    if shares is None:
        return [_rooted(instance, centre(routes), routes, x) for routes, x in trees]
    total = sum((x for _, x in trees), Fraction(0))
    pairs = []
    waiting = deque(trees)
    for root, share in shares.items():
        due = share * total
        while due > 0:
            routes, x = waiting.popleft()
            part = min(due, x)
            pairs.append(_rooted(instance, root, routes, part))
            due -= part
            if x > part:
                waiting.appendleft((routes, x - part))
    return pairs


def _rooted(
    instance: ForestPackingInstance, root: int, routes: Sequence[Route], rate: Fraction
) -> Pair:
    """Turn every route towards the root, or away from it where there is only a broadcast."""
    upward = tuple(
        route if route[-1] == parent else route[::-1]
        for parent, route in _by_depth(root, routes)
    )
    if "reduce" not in instance.stages:
        return Pair(root, (), tuple(route[::-1] for route in upward), rate)
    return Pair(root, upward, None if len(instance.stages) == 2 else (), rate)


def _by_depth(root: int, routes: Sequence[Route]) -> list[tuple[int, Route]]:
    """Return each route with its end that is nearer to the root, from the root on."""
    at = _at_workers(routes)
    out, queue, seen = [], deque([root]), {root}
    while queue:
        parent = queue.popleft()
        for route in at.get(parent, ()):
            child = route[0] if route[-1] == parent else route[-1]
            if child not in seen:
                seen.add(child)
                queue.append(child)
                out.append((parent, route))
    return out


def centre(routes: Sequence[Route]) -> int:
    """Return the worker of least height in an undirected tree, the smaller number of two."""
    at = _at_workers(routes)
    degree = {v: len(found) for v, found in at.items()}
    leaves = [v for v, d in degree.items() if d == 1]
    left = len(degree)
    while left > 2:
        left -= len(leaves)
        inner = []
        for v in leaves:
            degree[v] = 0
            for route in at[v]:
                u = route[0] if route[-1] == v else route[-1]
                degree[u] -= 1
                if degree[u] == 1:
                    inner.append(u)
        leaves = inner
    return min(leaves)


def _at_workers(routes: Sequence[Route]) -> dict[int, list[Route]]:
    at: dict[int, list[Route]] = {}
    for route in routes:
        at.setdefault(route[0], []).append(route)
        at.setdefault(route[-1], []).append(route)
    return at
