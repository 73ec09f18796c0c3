"""Cuts that a point of the linear program violates, found exactly where that is polynomial.

- `path_cuts`: a pair of training nodes is no further apart than the way between them.
- `metric_cuts`: all cycles of one far step, by shortest paths.
- `odd_triangles`, `odd_cycles`: with two parts; the latter are all, by shortest paths in the graph
  of two layers (Barahona and Mahjoub 1986).
- `star_cuts`, `clique_cuts`: greedily.
- `node_cap_trees`: the node cap, along shortest paths.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from gadgetopt.numbers.arrays import Floats, Ints

from .certificate.cuts import (
    Clique,
    Cut,
    Cycle,
    Star,
    Tree,
)
from .cut_lp import CutLp

#: Violation from which on a cut is added, and a length that counts every step.
#: Tuned: `benchmarks/constants.py`.
VIOLATED, STEP = 1e-5, 1e-9
#: Most cuts of a kind and round. Tuned: `benchmarks/constants.py`.
MOST_TRIANGLES, MOST_CYCLES, MOST_NEAR = 300, 600, 8
#: Rounds in which many paths are cut add nothing else. Tuned: `benchmarks/constants.py`.
MANY = 20


def separate(lp: CutLp, metric: Floats | None = None) -> list[Cut]:
    """Return cuts that the last values, or others, violate, cheap kinds first."""
    if len(lp.nodes) < 3:
        return []
    metric = lp.metric if metric is None else metric
    found: list[Cut] = list(path_cuts(lp, metric))
    if len(found) >= MANY:
        return found
    if lp.caps.parts == 2:
        found += odd_triangles(lp, metric)
    else:
        found += star_cuts(lp, metric)
    found += clique_cuts(lp, metric)
    if len(found) >= MANY:
        return found
    distance, before = _shortest(metric)
    found += metric_cuts(lp, metric, distance, before)
    found += node_cap_trees(lp, distance, before)
    if not found and lp.caps.parts == 2:
        found += odd_cycles(lp, metric)
    return found


def _shortest(metric: Floats, sources: Ints | None = None) -> tuple[Floats, Ints]:
    ends = np.nonzero(np.isfinite(metric))
    graph = csr_array((metric[ends] + STEP, ends), shape=metric.shape)
    found: tuple[Floats, Ints] = dijkstra(graph, indices=sources, return_predecessors=True)
    return found


def path_cuts(lp: CutLp, metric: Floats) -> Iterator[Cut]:
    """Yield cycles of a pair of training nodes and the way between them over pairs with weight.

    The way from s ends where it meets the last training node u before t: d(s, u) is a column.
    """
    n = len(lp.nodes)
    a, b = lp.ends[: lp.weighted].T
    lengths = metric[a, b] + STEP
    graph = csr_array(
        (np.concatenate([lengths, lengths]), (np.concatenate([a, b]), np.concatenate([b, a]))),
        shape=(n, n),
    )
    distance, before = dijkstra(graph, indices=lp.trained, return_predecessors=True)
    is_trained = np.zeros(n, dtype=bool)
    is_trained[lp.trained] = True
    beyond = metric[np.ix_(lp.trained, lp.trained)] - distance[:, lp.trained]
    for row, column in zip(*np.nonzero(np.triu(beyond > VIOLATED, 1)), strict=True):
        s, t = int(lp.trained[row]), int(lp.trained[column])
        way, v = [s, t], int(before[row, t])
        while v != s:
            way.append(v)
            if is_trained[v]:
                break
            v = int(before[row, v])
        if len(way) > 2:
            yield Cycle(nodes=tuple(lp.nodes[way].tolist()), far=(0,))


def metric_cuts(lp: CutLp, metric: Floats, distance: Floats, before: Ints) -> Iterator[Cut]:
    """Yield the cycles of one far step that are violated most."""
    a, b = lp.ends.T
    beyond = metric[a, b] - distance[a, b]
    order = np.argsort(-beyond, kind="stable")[:MOST_CYCLES]
    for e in order[beyond[order] > VIOLATED].tolist():
        s, v = lp.ends[e].tolist()
        way = [s]
        while v != s:
            way.append(v)
            v = int(before[s, v])
        yield Cycle(nodes=tuple(lp.nodes[way].tolist()), far=(0,))


def odd_triangles(lp: CutLp, metric: Floats) -> list[Cut]:
    """Return the triangles of training nodes of which more than two sides are cut, two parts."""
    r = len(lp.trained)
    among = metric[np.ix_(lp.trained, lp.trained)]
    found: list[tuple[float, tuple[int, int, int]]] = []
    for i in range(r - 2):
        rest = among[i, i + 1 :]
        beyond = rest[:, None] + rest[None, :] + among[i + 1 :, i + 1 :] - 2
        js, ks = np.nonzero(np.triu(beyond > VIOLATED, 1))
        if len(js) > MOST_TRIANGLES:
            worst = np.argpartition(-beyond[js, ks], MOST_TRIANGLES)[:MOST_TRIANGLES]
            js, ks = js[worst], ks[worst]
        found += [
            (float(beyond[j, k]), (i, i + 1 + j, i + 1 + k))
            for j, k in zip(js.tolist(), ks.tolist(), strict=True)
        ]
    found.sort(key=lambda x: (-x[0], x[1]))
    numbers = lp.nodes[lp.trained]
    return [
        Cycle(nodes=tuple(numbers[list(corners)].tolist()), far=(0, 1, 2))
        for _, corners in found[:MOST_TRIANGLES]
    ]


def odd_cycles(lp: CutLp, metric: Floats) -> Iterator[Cut]:
    """Yield violated cycles of an odd number of far steps.

    In two layers of the graph a near step stays and costs d, a far one changes the layer and costs
    1 - d. A way from a node to itself in the other layer shorter than 1 is a violated cycle.
    """
    n = len(lp.nodes)
    a, b = lp.ends.T
    near = metric[a, b] + STEP
    far = 1 - metric[a, b] + STEP
    tails = np.concatenate([a, a + n, a, a + n])
    heads = np.concatenate([b, b + n, b + n, b])
    graph = csr_array((np.concatenate([near, near, far, far]), (tails, heads)), (2 * n, 2 * n))
    distance, before = dijkstra(
        graph, directed=False, indices=np.arange(n), return_predecessors=True, limit=1.0
    )
    length = distance[np.arange(n), n + np.arange(n)]
    for s in np.flatnonzero(length < 1 - VIOLATED).tolist():
        walk, v = [], s + n
        while v >= 0:
            walk.append(int(v))
            v = int(before[s, v])
        cut = _simple(lp, walk)
        if cut is not None:
            yield cut


def _simple(lp: CutLp, walk: list[int]) -> Cut | None:
    """Return the first simple cycle of a closed walk that changes the layer an odd number of times.

    A loop of even changes is left out of the walk; what remains is no longer.
    """
    n = len(lp.nodes)
    path: list[int] = []
    for v in walk:
        again = next((i for i, u in enumerate(path) if u % n == v % n), None)
        if again is None:
            path.append(v)
            continue
        if path[again] == v:
            del path[again + 1 :]
            continue
        loop = [*path[again:], v]
        far = tuple(i for i, (x, y) in enumerate(pairwise(loop)) if x // n != y // n)
        if len(loop) < 4:
            return None
        return Cycle(nodes=tuple(lp.nodes[[u % n for u in loop[:-1]]].tolist()), far=far)
    return None


def star_cuts(lp: CutLp, metric: Floats) -> Iterator[Cut]:
    """Yield nodes that are nearly with neighbours of several parts, more than two parts."""
    for c in range(len(lp.nodes)):
        near = np.flatnonzero(np.isfinite(metric[c]) & (metric[c] < 1 - 1e-6))
        near = near[(near != c) & np.isin(near, lp.trained)]
        if len(near) < 3:
            continue
        together = 1 - metric[np.ix_(near, near)]
        for first in range(len(near)):
            gain = 1 - metric[c, near]
            chosen, worth = [], 0.0
            v = first
            while gain[v] > 1e-9:
                worth += gain[v]
                chosen.append(v)
                gain = gain - together[v]
                gain[v] = -1.0
                v = int(np.argmax(gain))
            if worth > 1 + 1e-4 and len(chosen) >= 3:
                rays = sorted(lp.nodes[near[chosen]].tolist())
                yield Star(nodes=(int(lp.nodes[c]), *rays))


def clique_cuts(lp: CutLp, metric: Floats) -> Iterator[Cut]:
    """Yield groups of training nodes that are closer than their number allows."""
    cap = lp.caps.train_cap
    among = metric[np.ix_(lp.trained, lp.trained)]
    r = len(lp.trained)
    seen: set[tuple[int, ...]] = set()
    for first in range(r):
        chosen, cut = [first], 0.0
        reach = among[first].copy()
        reach[first] = np.inf
        for size in range(2, min(r, 2 * cap + 2, MOST_NEAR + cap) + 1):
            v = int(np.argmin(reach))
            cut += float(reach[v])
            chosen.append(v)
            reach += among[v]
            reach[v] = np.inf
            full, rest = divmod(size, cap)
            most = full * (cap * (cap - 1) // 2) + rest * (rest - 1) // 2
            if cut < size * (size - 1) // 2 - most - 1e-4:
                group = tuple(sorted(lp.nodes[lp.trained[chosen]].tolist()))
                if group not in seen:
                    seen.add(group)
                    yield Clique(nodes=group)
                break


def node_cap_trees(lp: CutLp, distance: Floats, before: Ints) -> Iterator[Cut]:
    """Yield the shortest ways from nodes whose part would hold more than its cap."""
    for s in range(len(lp.nodes)):
        near = np.flatnonzero(distance[s] < 1)
        if distance[s, near].sum() >= len(near) - lp.caps.node_cap - VIOLATED:
            continue
        order = near[np.argsort(distance[s, near], kind="stable")].tolist()
        at = {v: i for i, v in enumerate(order)}
        yield Tree(
            nodes=tuple(lp.nodes[order].tolist()),
            parents=tuple(at[int(before[s, v])] for v in order[1:]),
            trained=False,
        )
