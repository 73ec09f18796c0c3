"""Decomposition of a point of the augmented program into a convex combination of rings."""

from __future__ import annotations

import itertools
from collections import deque
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Floats

from ..terms import Terms
from .augmented_lp import AugmentedLp, RingCopies
from .slot_problem import Mapping, SlotProblem

#: Variables below this are zero. Tuned: `benchmarks/constants.py`.
ZERO = 1e-9


@dataclass(frozen=True)
class WeightedMapping:
    """A mapping and its weight in the combination."""

    weight: float
    mapping: Mapping


@dataclass(frozen=True)
class Decomposition:
    """Weighted mappings of every job of a slot problem.

    Attributes
    ----------
    mappings : tuple of tuple of WeightedMapping
        For each job; the weights sum to its mass. A mapping need not fit on its own.
    lost : float
        Mass that could not be peeled off because of solver tolerances.
    """

    mappings: tuple[tuple[WeightedMapping, ...], ...]
    lost: float


def decompose(problem: SlotProblem, lp: AugmentedLp, values: Floats) -> Decomposition:
    """Peel mappings off a point until no mass is left (reconstructed).

    In the layer of a hop, a place of the next worker is reachable over positive flow from the place
    of each worker. The least variable on the way is the weight of the mapping found, and at least
    one variable becomes zero.

    Parameters
    ----------
    problem : SlotProblem
    lp : AugmentedLp
    values : array, shape (columns,)
    """
    terms = problem.terms
    found: list[dict[Mapping, float]] = [{} for _ in problem.jobs]
    lost = 0.0
    for copies in lp.copies:
        x = np.where(values > ZERO, values, 0.0)
        index = problem.jobs[copies.job].job.index
        for w in range(len(copies.server)):
            layers = _Layers(terms, copies, w, x)
            while layers.mass > ZERO:
                peeled = layers.peel()
                if peeled is None:
                    lost += layers.mass
                    break
                weight, nodes, routes = peeled
                mapping = _mapping(terms, index, nodes, routes)
                found[copies.job][mapping] = found[copies.job].get(mapping, 0.0) + weight
    mappings = tuple(
        tuple(WeightedMapping(weight, mapping) for mapping, weight in of_job.items())
        for of_job in found
    )
    return Decomposition(mappings, lost)


class _Layers:
    """The variables of one copy of a ring, whose worker 0 is fixed to one server."""

    def __init__(self, terms: Terms, copies: RingCopies, w: int, values: Floats):
        self.size = copies.size
        self.mass = float(values[copies.mass[w]])
        self.anchor = terms.servers[copies.server[w]]
        node = [terms.servers[s] for s in copies.server.tolist()]
        self.place = [
            {v: x for v, x in zip(node, row, strict=True) if x > ZERO}
            for row in values[copies.place[w]].tolist()
        ]
        ends = terms.links[copies.link].tolist()
        self.flow: list[dict[int, dict[int, float]]] = []
        for row in values[copies.flow[w]].tolist():
            layer: dict[int, dict[int, float]] = {}
            for (u, v), x in zip(ends, row, strict=True):
                if x > ZERO:
                    layer.setdefault(u, {})[v] = x
            self.flow.append(layer)

    def peel(self) -> tuple[float, list[int], list[tuple[int, ...]]] | None:
        """Peel one ring off; None if tolerances block every way."""
        nodes, routes = [self.anchor], []
        weight = self.mass
        for a in range(self.size if self.size > 1 else 0):
            last = a == self.size - 1
            targets = {self.anchor} if last else set(self.place[a])
            route = _search(self.flow[a], nodes[-1], targets)
            if route is None:
                return None
            weight = min([weight, *(self.flow[a][u][v] for u, v in _hops(route))])
            if not last:
                weight = min(weight, self.place[a][route[-1]])
                nodes.append(route[-1])
            routes.append(route if len(route) > 1 else ())
        self.mass -= weight
        for a, route in enumerate(routes):
            for u, v in _hops(route):
                _reduce(self.flow[a][u], v, weight)
            if a < self.size - 1:
                _reduce(self.place[a], nodes[a + 1], weight)
        return weight, nodes, routes


def _search(
    flow: dict[int, dict[int, float]], start: int, targets: set[int]
) -> tuple[int, ...] | None:
    """Return the shortest path over positive flow to a target; it may be a single node."""
    before: dict[int, int | None] = {start: None}
    queue = deque([start])
    while queue:
        u = queue.popleft()
        if u in targets:
            path, at = [], u
            while at is not None:
                path.append(at)
                at = before[at]  # type: ignore[assignment]
            return tuple(reversed(path))
        for v in flow.get(u, ()):
            if v not in before:
                before[v] = u
                queue.append(v)
    return None


def _hops(route: tuple[int, ...]) -> list[tuple[int, int]]:
    return list(itertools.pairwise(route))


def _reduce(variables: dict[int, float], key: int, amount: float) -> None:
    variables[key] -= amount
    if variables[key] <= ZERO:
        del variables[key]


def _mapping(terms: Terms, job: int, nodes: list[int], routes: list[tuple[int, ...]]) -> Mapping:
    """Return a ring as a mapping; on two-tier clusters only the workers per server matter."""
    position = {v: s for s, v in enumerate(terms.servers)}
    if terms.tree is not None:
        counts: dict[int, int] = {}
        for v in nodes:
            counts[position[v]] = counts.get(position[v], 0) + 1
        rack = terms.tree.rack
        return Mapping(job, tuple(sorted(counts.items(), key=lambda x: (rack[x[0]], x[0]))))
    workers: list[tuple[int, int]] = []
    for v in nodes:
        if workers and workers[-1][0] == position[v]:
            workers[-1] = position[v], workers[-1][1] + 1
        else:
            workers.append((position[v], 1))
    return Mapping(job, tuple(workers), tuple(routes) if len(nodes) > 1 else ((),))
