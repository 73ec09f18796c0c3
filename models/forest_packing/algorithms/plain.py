r"""Forest packing, step by step: A1 packs trees by multiplicative weights, A2 makes a schedule.

Nothing here is fast. The paper's own approximation is not known; A1 is (reconstructed) as its
method, and A2 follows its schedule. PRICE, the cheapest tree under prices, is a subroutine: a
minimum spanning tree where the network is symmetric and has no switches.

Letters, as in the paper: row a (a link or a NIC) has capacity c_a and price y_a; n_a(p) is how
often tree p uses row a for each unit of its rate; x_p is the rate of tree p, R that of all, D the
size of the model, alpha the latency of a hop, m the chunks of a slice, h the hops of the deepest
tree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..instance import ForestPackingInstance
from ..subproblems.price_oracles import Column, FoundTree, make_oracle

#: Child, ..., parent or parent, ..., child: an edge of a tree with the switches in between.
Route = tuple[int, ...]


@dataclass
class Packing:
    """Trees with their rates x_p, and the least upper bound met on the optimal rate."""

    trees: list[FoundTree]
    x: list[float]
    best_ub: float


def pack(instance: ForestPackingInstance, eps: float = 0.1, target_gap: float = 0.0) -> Packing:
    """A1: near-optimal forest packing, for a collective whose stages overlap."""
    PRICE = make_oracle(instance)
    c = PRICE.capacity.tolist()
    rows = range(len(c))
    if not c:
        return Packing([], [], 0.0)  # a network without links
    M = len(c)
    # Only ratios of y matter, and delta underflows for a small epsilon: y starts at 1/c in place of
    # delta/c, and the end is told from logarithms.
    ln_delta = math.log(1 + eps) - math.log((1 + eps) * M) / eps
    y, exponent = [1 / c[a] for a in rows], 0.0
    load, total = [0.0 for _ in rows], 0.0
    best_ub = math.inf
    trees: dict[object, FoundTree] = {}
    x: dict[object, float] = {}
    while True:
        Dy = math.fsum(c[a] * y[a] for a in rows)
        p: Column | None = PRICE(np.array([y_a / Dy for y_a in y]))
        if p is None:
            return Packing([], [], 0.0)  # no tree spans the workers
        best_ub = min(best_ub, 1 / p.price)  # Dy / len
        if math.log(Dy) + exponent >= -ln_delta:
            break
        n = p.load.tolist()
        use = [n[a] / c[a] for a in rows]
        z = 1 / max(use)  # the least c_a / n_a
        for tree, part in p.trees:
            trees[tree.key] = tree
            x[tree.key] = x.get(tree.key, 0.0) + part * z
        total += z
        load = [load[a] + z * use[a] for a in rows]  # load_a / c_a
        y = [y[a] * (1 + eps * (z * use[a])) for a in rows]
        if Dy > 1e200:
            y, exponent = [y_a / 1e200 for y_a in y], exponent + math.log(1e200)
        rho = max(load)
        if best_ub / (total / rho) - 1 <= target_gap:
            break
    # congestion scaling: always feasible, never worse than the scaling of the theorem
    return Packing(list(trees.values()), [x_p / rho for x_p in x.values()], best_ub)


# -- A2, for trees without directions, whose root is free ----------------------------------------


def pruned(packing: Packing, theta: float = 1e-3) -> Packing:
    """A2.1: drop the trees with x_p < theta R."""
    R = sum(packing.x)
    kept = [p for p in range(len(packing.x)) if packing.x[p] >= theta * R]
    return Packing([packing.trees[p] for p in kept], [packing.x[p] for p in kept], packing.best_ub)


def roots(trees: Sequence[Sequence[Route]], x: Sequence[float], workers: int) -> list[int]:
    """A2.2: the centre of each tree; ties by the least rate rooted there so far, then by index."""
    w = [0.0] * workers
    found = []
    for routes, x_p in zip(trees, x, strict=True):
        heights = {v: height(routes, v) for route in routes for v in (route[0], route[-1])}
        r = min((v for v in heights if v < workers), key=lambda v: (heights[v], w[v], v))
        w[r] += x_p
        found.append(r)
    return found


def height(routes: Sequence[Route], root: int) -> int:
    """Return the most hops from a root to a node of its tree."""
    depth, at = {root: 0}, [root]
    for u in at:
        for route in routes:
            for v in (route[0], route[-1]):
                if u in (route[0], route[-1]) and v not in depth:
                    depth[v] = depth[u] + 1
                    at.append(v)
    return max(depth.values())


def slices(x: Sequence[float], elements: int) -> list[int]:
    """A2.3: contiguous slices of D x_p / R, in whole elements by the largest remainders."""
    R = sum(x)
    exact = [elements * x_p / R for x_p in x]
    sizes = [math.floor(e) for e in exact]
    by_remainder = sorted(range(len(x)), key=lambda p: (sizes[p] - exact[p], p))
    for p in by_remainder[: elements - sum(sizes)]:
        sizes[p] += 1
    return sizes


def periods(routes: Sequence[Route], root: int, j: int) -> dict[tuple[str, int], int]:
    """A2.4: the period in which each worker passes on chunk j, up and down the tree.

    Worker v != r sends it to its parent in period j + h^-(v), and gets it back in period
    j + H + d(u), where u is its parent.
    """
    depth, parent, at = {root: 0}, {root: root}, [root]
    for u in at:
        for route in routes:
            for v in (route[0], route[-1]):
                if u in (route[0], route[-1]) and v not in depth:
                    depth[v], parent[v] = depth[u] + 1, u
                    at.append(v)
    h = dict.fromkeys(at, 0)
    for v in reversed(at):
        if v != root:
            h[parent[v]] = max(h[parent[v]], h[v] + 1)
    H = h[root]
    up = {("up", v): j + h[v] for v in at if v != root}
    return up | {("down", v): j + H + depth[parent[v]] for v in at if v != root}


def chunks(T: float, h: int, alpha: float) -> tuple[int, float]:
    """A2.5: m*, rounded to the better side, and T(m*) = (m + h - 1) (T*/m + alpha) seconds."""
    m_star = math.sqrt((h - 1) * T / alpha)
    around = {max(1, math.floor(m_star)), max(1, math.ceil(m_star))}
    times = {m: (m + h - 1) * (T / m + alpha) for m in sorted(around)}
    m = min(times, key=lambda m: times[m])
    return m, times[m]


def forest_packing(
    instance: ForestPackingInstance, eps: float = 0.1, theta: float = 1e-3
) -> list[tuple[int, tuple[Route, ...], float]]:
    """Return A1 and A2.1-2: root, edges and rate of each tree."""
    packing = pruned(pack(instance, eps), theta)
    trees = [tree.route_tuples() for tree in packing.trees]
    found = roots(trees, packing.x, instance.network.num_workers)
    return list(zip(found, trees, packing.x, strict=True))
