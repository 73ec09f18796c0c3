"""Greedy placement of rings on any network, in the remaining room.

Two-tier clusters are in `placement.py`. On a graph (reconstructed) the ring starts at the server
with the most room and fills it. It goes on to the nearest server with room that can be reached over
links with enough bandwidth left; ties go to the widest links. The bandwidth is taken on the way. At
last the ring returns to its start. If it cannot, the next server is tried as the start.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable

import numpy as np

from gadgetopt.numbers.arrays import Ints

from ..terms import JobTerms, Terms
from .loads import link_numbers, mapping_loads
from .placement import Room, place
from .routing import without_loops
from .slot_problem import Mapping


class GraphRoom:
    """Remaining room of a network in one slot.

    Attributes
    ----------
    free : array of int, shape (servers, resources)
        Units left of each resource.
    link : array of int, shape (links,)
        Mbit/s left.
    """

    def __init__(self, terms: Terms):
        self.terms = terms
        self.free: Ints = terms.capacity.copy()
        self.link: Ints = terms.link_mbps.copy()
        self.number: dict[tuple[int, int], int] = link_numbers(terms)
        self.onward: dict[int, list[int]] = {}
        for u, v in terms.links.tolist():
            self.onward.setdefault(u, []).append(v)

    def take(self, job: JobTerms, mapping: Mapping, sign: int = 1) -> None:
        """Take the room that a mapping uses; with sign -1 return it."""
        loads = mapping_loads(self.terms, job, mapping)
        self.free[loads.servers] -= sign * loads.units
        self.link[loads.links] -= sign * loads.mbps

    def place(self, job: JobTerms, size: int) -> Mapping | None:
        """Find room for a ring, without taking it."""
        needed = np.flatnonzero(job.demand)
        counts = (self.free[:, needed] // job.demand[needed]).min(axis=1)
        whole = np.flatnonzero(counts >= size)
        if len(whole):
            s = int(whole[np.argmin(counts[whole])])
            return Mapping(job.index, ((s, size),), ((),) * size)
        if counts.sum() < size:
            return None
        for start in sorted(np.flatnonzero(counts).tolist(), key=lambda s: (-counts[s], s)):
            found = self._ring_from(start, job, size, counts)
            if found is not None:
                return found
        return None

    def _ring_from(self, start: int, job: JobTerms, size: int, counts: Ints) -> Mapping | None:
        position = {v: s for s, v in enumerate(self.terms.servers)}
        workers = [(start, int(counts[start]))]
        routes: list[tuple[int, ...]] = [()] * (int(counts[start]) - 1)
        left, link = size - int(counts[start]), self.link.copy()
        at, used = self.terms.servers[start], {start}
        while left > 0:
            ends = {v for v, s in position.items() if s not in used and counts[s] > 0}
            route = self._nearest(at, ends, job.bandwidth, link)
            if route is None:
                return None
            self._load(route, job.bandwidth, link)
            at = route[-1]
            s = position[at]
            count = min(int(counts[s]), left)
            workers.append((s, count))
            routes += [route, *([()] * (count - 1))]
            used.add(s)
            left -= count
        back = self._nearest(at, {self.terms.servers[start]}, job.bandwidth, link)
        if back is None:
            return None
        return Mapping(job.index, tuple(workers), (*routes, back))

    def _nearest(
        self, start: int, ends: set[int], bandwidth: int, link: Ints
    ) -> tuple[int, ...] | None:
        """Return the shortest way to one of the ends; ties go to the widest links."""
        # Breadth first by layers; each node keeps the widest of its shortest ways.
        width, before = {start: np.iinfo(np.int64).max}, {start: -1}
        layer = deque([start])
        while layer:
            reached: dict[int, tuple[int, int]] = {}
            for u in layer:
                for v in self.onward.get(u, ()):
                    there = int(link[self.number[u, v]])
                    if v in width or there < bandwidth:
                        continue
                    narrow = min(width[u], there)
                    if v not in reached or narrow > reached[v][0]:
                        reached[v] = narrow, u
            for v, (narrow, u) in reached.items():
                width[v], before[v] = narrow, u
            found = sorted(ends & reached.keys(), key=lambda v: (-width[v], v))
            if found:
                way = [found[0]]
                while before[way[-1]] >= 0:
                    way.append(before[way[-1]])
                return tuple(way[::-1])
            layer = deque(sorted(reached))
        return None

    def _load(self, route: tuple[int, ...], bandwidth: int, link: Ints) -> None:
        for u, v in itertools.pairwise(route):
            link[self.number[u, v]] -= bandwidth


AnyRoom = Room | GraphRoom


def empty_room(terms: Terms) -> AnyRoom:
    """Return the room of an empty network, two-tier or not."""
    return GraphRoom(terms) if terms.tree is None else Room(terms)


def find_place(room: AnyRoom, job: JobTerms, size: int) -> Mapping | None:
    """Find room for a ring on any network, without taking it."""
    return room.place(job, size) if isinstance(room, GraphRoom) else place(room, job, size)


def cut(mapping: Mapping, size: int) -> Mapping:
    """Return the mapping cut to its first `size` workers.

    Hops still pass through the servers that are left out.
    """
    if mapping.size <= size:
        return mapping
    kept, left = [], size
    for server, workers in mapping.workers:
        if left > 0:
            kept.append((server, min(workers, left)))
        left -= workers
    routes = mapping.routes
    if routes is not None:
        routes = (
            ((),) * size if len(kept) == 1 else (*routes[: size - 1], _joined(routes[size - 1 :]))
        )
    return Mapping(mapping.job, tuple(kept), routes)


def _joined(routes: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """Join consecutive routes into one."""
    walk: list[int] = []
    for route in routes:
        walk += route[1:] if walk else route
    return without_loops(walk)
