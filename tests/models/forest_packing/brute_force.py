"""The optimum of a tiny network by listing every tree: a linear program over all of them.

Import with `from .brute_force import ...`. Nothing but the fields of the instance is used. In- and
out-trees are separate columns with equal rates at every root: any two such packings can be paired.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from gadgetopt.models.forest_packing.instance import ForestPackingInstance

Path = tuple[int, ...]


@dataclass(frozen=True)
class Tree:
    """A tree of one stage: paths in the direction of the data."""

    stage: str
    root: int
    paths: tuple[Path, ...]


def capacities(instance: ForestPackingInstance) -> dict[tuple[int, int], float]:
    """GB/s of every arc; of both directions of a cable together in a half-duplex network."""
    c: dict[tuple[int, int], float] = {}
    for link in instance.links:
        ends = (link.src, link.dst)
        for arc in (ends, ends[::-1]) if link.both else (ends,):
            if link.bandwidth_gbyte_per_s:
                c[arc] = c.get(arc, 0.0) + link.bandwidth_gbyte_per_s
    return c


def rows(instance: ForestPackingInstance) -> list[tuple[str, float, set[tuple[int, int]]]]:
    """Every limit: name as the network's rows have it, capacity, arcs."""
    found = []
    c = capacities(instance)
    order = [*instance.workers, *instance.switches]
    for u, v in c:
        if instance.duplex == "full":
            found.append((f"{u}->{v}", c[u, v], {(u, v)}))
        elif order.index(u) < order.index(v):
            found.append((f"{u}--{v}", c[u, v], {(u, v), (v, u)}))
    for end, name, limits in (
        (1, "in", instance.nic_in_gbyte_per_s),
        (0, "out", instance.nic_out_gbyte_per_s),
    ):
        for node, limit in limits.items():
            arcs = {arc for arc in c if arc[end] == node}
            if arcs:
                found.append((f"nic {name} {node}", limit, arcs))
    return found


def worker_paths(instance: ForestPackingInstance) -> dict[tuple[int, int], list[Path]]:
    """Simple paths from each worker to each other with only switches inside."""
    c = capacities(instance)
    found: dict[tuple[int, int], list[Path]] = {}

    def extend(path: Path) -> None:
        for u, v in c:
            if u == path[-1] and v not in path:
                if v in instance.workers:
                    found.setdefault((path[0], v), []).append((*path, v))
                else:
                    extend((*path, v))

    for w in instance.workers:
        extend((w,))
    return found


def all_trees(instance: ForestPackingInstance) -> Iterator[Tree]:
    """Every tree of every stage and root that spans the workers."""
    if instance.in_network:
        links = {arc: [arc] for arc in capacities(instance)}
        inner = instance.switches  # may be in a tree or not
    else:
        links, inner = worker_paths(instance), ()
    for stage, root in product(instance.stages, instance.workers):
        choices = []
        for v in (*instance.workers, *inner):
            into = [p for (a, b), ps in links.items() for p in ps if v == (b, a)[stage == "reduce"]]
            if v in inner:
                into.append(())
            if v != root:
                choices.append(into)
        for paths in product(*choices):
            kept = tuple(p for p in paths if p)
            if _reaches_root(root, kept, stage):
                yield Tree(stage, root, kept)


def _reaches_root(root: int, paths: tuple[Path, ...], stage: str) -> bool:
    ends = [(p[0], p[-1]) if stage == "reduce" else (p[-1], p[0]) for p in paths]
    parent = dict(ends)
    reached = {root}
    while more := {v for v, p in parent.items() if p in reached} - reached:
        reached |= more
    return reached == {*parent, root}


@dataclass(frozen=True)
class Optimum:
    """The largest rate, trees with rates that attain it, duals of the rows by stage and name."""

    rate: float
    trees: tuple[tuple[Tree, float], ...]
    prices: dict[str, dict[str, float]]


def shares(instance: ForestPackingInstance) -> dict[int, float] | None:
    """w_r of the workers; None where free."""
    if instance.root_mode == "uniform":
        return {r: 1 / len(instance.workers) for r in instance.workers}
    if instance.root_mode == "fixed":
        return {r: float(r == instance.root) for r in instance.workers}
    if instance.root_share is not None:
        return dict(zip(instance.workers, instance.root_share, strict=True))
    return None


def optimum(instance: ForestPackingInstance) -> Optimum:
    """Return the optimum over all trees.

    max R, sum_r w_r = R, the trees of every stage rooted at r have rate w_r in all, and the rows
    hold; stages that take turns have s_1 + s_2 = 1 of them.
    """
    trees = list(all_trees(instance))
    limits, stages = rows(instance), instance.stages
    workers, n = instance.workers, len(trees)
    runs = [(s,) for s in stages] if instance.sequential else [stages]
    w = {r: n + i for i, r in enumerate(workers)}
    rate = n + len(workers)
    turn = {i: rate + 1 + i for i in range(len(runs))}
    ub: list[tuple[int, int, float]] = []
    b_ub = []
    for i, run in enumerate(runs):
        for _, capacity, arcs in limits:
            at = len(b_ub)
            for k, tree in enumerate(trees):
                if tree.stage in run:
                    uses = sum(arc in arcs for p in tree.paths for arc in pairwise(p))
                    if uses:
                        ub.append((at, k, uses))
            ub.append((at, turn[i], -capacity))
            b_ub.append(0.0)
    eq: list[tuple[int, int, float]] = []
    b_eq = []
    for stage, r in product(stages, workers):
        eq.append((len(b_eq), w[r], -1.0))
        eq += [(len(b_eq), k, 1.0) for k, t in enumerate(trees) if (t.stage, t.root) == (stage, r)]
        b_eq.append(0.0)
    eq += [(len(b_eq), w[r], 1.0) for r in workers] + [(len(b_eq), rate, -1.0)]
    b_eq.append(0.0)
    eq += [(len(b_eq), turn[i], 1.0) for i in turn]
    b_eq.append(1.0)
    for r, share in (shares(instance) or {}).items():
        eq += [(len(b_eq), w[r], 1.0), (len(b_eq), rate, -share)]
        b_eq.append(0.0)
    size = rate + 1 + len(runs)
    cost = np.zeros(size)
    cost[rate] = -1.0
    found = linprog(
        cost, A_ub=_sparse(ub, len(b_ub), size), b_ub=b_ub, A_eq=_sparse(eq, len(b_eq), size),
        b_eq=b_eq, method="highs",
    )  # fmt: skip
    assert found.status == 0, found.message
    duals = iter(-found.ineqlin.marginals)
    prices = {}
    for run in runs:
        of_run = {name: max(0.0, next(duals)) for name, _, _ in limits}
        prices |= dict.fromkeys(run, of_run)
    used = tuple((tree, x) for tree, x in zip(trees, found.x[:n], strict=True) if x > 1e-12)
    return Optimum(-found.fun, used, prices)


def optimal_rate(instance: ForestPackingInstance) -> float:
    """The largest rate, GB/s."""
    return optimum(instance).rate


def _sparse(entries: list[tuple[int, int, float]], height: int, width: int) -> coo_matrix:
    row, column, value = zip(*entries, strict=True) if entries else ((), (), ())
    return coo_matrix((value, (row, column)), shape=(height, width))
