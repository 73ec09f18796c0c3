"""Outcomes of methods: a plan, a bound, and the bound's certificate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gadgetopt.numbers.tolerance import Number
from gadgetopt.system.result import MethodOutcome, TracePoint

from .instance import ForestPackingCertificate, ForestPackingInstance
from .packing import Pair, Route, to_solution, total_rate


def plan_outcome(
    instance: ForestPackingInstance,
    pairs: Iterable[Pair] | None,
    *,
    certificate: ForestPackingCertificate | None = None,
    dual_bound: Number | None = None,
    chunks: int | None = None,
    limit_hit: str | None = None,
    trace: tuple[TracePoint, ...] = (),
    phases_s: Mapping[str, float] | None = None,
    notes: Mapping[str, Any] | None = None,
    versions: Mapping[str, str] | None = None,
) -> MethodOutcome:
    """Return a method's outcome.

    A plan of unrestricted trees that breaks a restriction of the instance (number, share or depth)
    is left out, as its bound still holds.
    """
    pairs = None if pairs is None else list(pairs)
    if pairs is not None and not keeps_restrictions(instance, pairs):
        pairs = None
    return MethodOutcome(
        solution=None if pairs is None else to_solution(instance, pairs, chunks),
        claimed_objective=None if pairs is None else total_rate(pairs),
        dual_bound=dual_bound,
        certificate=certificate,
        limit_hit=limit_hit,
        trace=trace,
        phases_s=dict(phases_s or {}),
        notes={**({} if pairs is None else {"trees": len(pairs)}), **(notes or {})},
        versions=dict(versions or {}),
    )


def keeps_restrictions(instance: ForestPackingInstance, pairs: list[Pair]) -> bool:
    """Return True if a plan keeps the limits on number, share and depth of its trees."""
    if instance.tree_budget is not None and len(pairs) > instance.tree_budget:
        return False
    if instance.equal_share and len({p.rate for p in pairs}) > 1:
        return False
    workers = instance.network.num_workers
    return instance.max_depth is None or all(depth(p, workers) <= instance.max_depth for p in pairs)


def depth(pair: Pair, num_workers: int) -> int:
    """Return a pair's depth in hops: heights of the in-tree and the out-tree together."""
    backwards = tuple(route[::-1] for route in pair.reduce)
    return sum(_height(pair.root, routes, num_workers) for routes in (backwards, pair.out_routes))


def _height(root: int, routes: tuple[Route, ...], num_workers: int) -> int:
    """Return the height of an out-tree; every worker that a route passes makes it a hop longer."""
    children: dict[int, list[tuple[int, int]]] = {}
    for route in routes:
        hops = 1 + sum(v < num_workers for v in route[1:-1])
        children.setdefault(route[0], []).append((route[-1], hops))
    level, height = [(root, 0)], 0
    while level := [(v, below + hops) for u, below in level for v, hops in children.get(u, ())]:
        height = max(height, *(below for _, below in level))
    return height
