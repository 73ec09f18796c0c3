"""Greedy placement of rings on a two-tier cluster, in the remaining room.

The rule is (reconstructed). A ring over several servers loads exactly the access links of its
servers, and the uplinks of their racks if there are several, once in each direction (proposition
P2, reconstructed).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Ints

from ..terms import JobTerms, Terms, Tree
from .slot_problem import Mapping

#: Up to this many workers per server, servers are kept in heaps; beyond, they are scanned.
#: Tuned: `benchmarks/constants.py`.
MOST_HEAPS = 10_000


class Room:
    """Remaining room of a two-tier cluster in one slot.

    Attributes
    ----------
    tree : Tree
    free : array of int, shape (servers, resources)
        Units left of each resource.
    access, uplink : array of int, shapes (servers,) and (racks,)
        Mbit/s left in each direction.

    Raises
    ------
    ModelRefused
        If the network is a graph.
    """

    def __init__(self, terms: Terms):
        if terms.tree is None:
            raise ModelRefused("the network is a graph, expected a two-tier cluster")
        self.tree: Tree = terms.tree
        self.free: Ints = terms.capacity.copy()
        self.access: Ints = terms.tree.access.copy()
        self.uplink: Ints = terms.tree.uplink.copy()
        # If all workers are alike, servers are also kept in heaps by the workers that still fit.
        self._fit: _ByWorkers | None = None
        if terms.same_demand:
            fits = self.workers(terms.jobs[0]).tolist()
            if max(fits) <= MOST_HEAPS:
                self._fit = _ByWorkers(fits, max(fits))

    def copy(self) -> Room:
        """Return an independent copy."""
        room = object.__new__(Room)
        room.tree = self.tree
        room.free, room.access = self.free.copy(), self.access.copy()
        room.uplink = self.uplink.copy()
        room._fit = None if self._fit is None else self._fit.copy()
        return room

    def workers(self, job: JobTerms) -> Ints:
        """Return the number of workers of a job that fit on each server, shape (servers,)."""
        needed = np.flatnonzero(job.demand)
        if len(needed) == 1:
            r = needed[0]
            return self.free[:, r] // job.demand[r]
        return np.asarray((self.free[:, needed] // job.demand[needed]).min(axis=1))

    def fits(self, job: JobTerms, mapping: Mapping) -> bool:
        """Return True if a mapping of the job still fits."""
        servers, counts = _arrays(mapping)
        if (self.free[servers] < counts[:, None] * job.demand).any():
            return False
        links, racks = self._loaded(servers)
        return not (
            (self.access[links] < job.bandwidth).any() or (self.uplink[racks] < job.bandwidth).any()
        )

    def take(self, job: JobTerms, mapping: Mapping, sign: int = 1) -> None:
        """Take the room that a mapping uses; with sign -1 return it."""
        if self._fit is not None:
            for s, count in mapping.workers:
                self._fit.change(s, -sign * count)
        if len(mapping.workers) == 1:  # the usual case; no links are used
            s, count = mapping.workers[0]
            self.free[s] -= sign * count * job.demand
            return
        servers, counts = _arrays(mapping)
        self.free[servers] -= sign * counts[:, None] * job.demand
        links, racks = self._loaded(servers)
        self.access[links] -= sign * job.bandwidth
        self.uplink[racks] -= sign * job.bandwidth

    def best_fit(self, job: JobTerms, size: int) -> int | None:
        """Return the fullest server on which a whole ring fits; ties go to the first."""
        if self._fit is not None:
            return self._fit.best(size)
        counts = self.workers(job)
        enough = np.flatnonzero(counts >= size)
        return int(enough[np.argmin(counts[enough])]) if len(enough) else None

    def _loaded(self, servers: Ints) -> tuple[Ints, Ints]:
        """Return the servers and the racks whose links a ring over `servers` loads."""
        none = servers[:0]
        if len(servers) == 1:
            return none, none
        racks = np.unique(self.tree.rack[servers])
        return servers, racks if len(racks) > 1 else none


class _ByWorkers:
    """Heaps of servers by the number of workers that still fit; stale entries stay."""

    def __init__(self, workers: list[int], most: int):
        self.workers = workers
        self.heaps: list[list[int]] = [[] for _ in range(most + 1)]
        for s, count in enumerate(workers):
            self.heaps[count].append(s)

    def copy(self) -> _ByWorkers:
        # Room may be returned, so the number of heaps stays the same.
        return _ByWorkers(list(self.workers), len(self.heaps) - 1)

    def change(self, server: int, by: int) -> None:
        self.workers[server] += by
        heapq.heappush(self.heaps[self.workers[server]], server)

    def best(self, size: int) -> int | None:
        for count in range(size, len(self.heaps)):
            heap = self.heaps[count]
            while heap and self.workers[heap[0]] != count:
                heapq.heappop(heap)
            if heap:
                return heap[0]
        return None


def place(room: Room, job: JobTerms, size: int) -> Mapping | None:
    """Find room for a ring, without taking it (reconstructed).

    The ring goes on the fullest server that holds it; else into the rack where it needs the fewest
    servers; else over several racks, those with the most room first.

    Returns
    -------
    Mapping or None
    """
    single = room.best_fit(job, size)
    if single is not None:
        return Mapping(job.index, ((single, size),))
    if size < 2:
        return None
    counts = room.workers(job)
    usable = np.flatnonzero((counts > 0) & (room.access >= job.bandwidth))
    if counts[usable].sum() < size:
        return None
    rack = room.tree.rack[usable]
    # By rack; within a rack the emptiest servers first, ties by number.
    order = usable[np.lexsort((usable, -counts[usable], rack))]
    ordered_racks = room.tree.rack[order]
    begins = np.flatnonzero(np.r_[True, ordered_racks[1:] != ordered_racks[:-1]])
    ends = np.r_[begins[1:], len(order)]
    total = np.add.reduceat(counts[order], begins)
    best_rack: tuple[int, Ints] | None = None
    for k in np.flatnonzero(total >= size):
        servers = order[begins[k] : ends[k]]
        needed = int(np.searchsorted(np.cumsum(counts[servers]), size)) + 1
        if best_rack is None or needed < best_rack[0]:
            best_rack = needed, servers[:needed]
    if best_rack is not None:
        return _filled(job, best_rack[1], counts, size)
    racks = ordered_racks[begins]
    open_racks = np.flatnonzero(room.uplink[racks] >= job.bandwidth)
    if total[open_racks].sum() < size:
        return None
    by_room = open_racks[np.argsort(-total[open_racks], kind="stable")]
    servers = np.concatenate([order[begins[k] : ends[k]] for k in by_room])
    needed = int(np.searchsorted(np.cumsum(counts[servers]), size)) + 1
    return _filled(job, servers[:needed], counts, size)


def embed(room: Room, sizes: Iterable[tuple[JobTerms, int]]) -> list[Mapping] | None:
    """Place rings of given sizes one by one and take the room (reconstructed).

    Large rings go first; ties go to the larger bandwidth.

    Returns
    -------
    list of Mapping or None
        None as soon as one ring does not fit; part of the room is then taken.
    """
    mappings = []
    for job, size in sorted(sizes, key=lambda x: (-x[1], -x[0].bandwidth, x[0].index)):
        mapping = place(room, job, size)
        if mapping is None:
            return None
        room.take(job, mapping)
        mappings.append(mapping)
    return mappings


def _filled(job: JobTerms, servers: Ints, counts: Ints, size: int) -> Mapping:
    """Return the mapping that fills servers in the given order."""
    workers = []
    for s in servers.tolist():
        count = min(int(counts[s]), size)
        workers.append((s, count))
        size -= count
    return Mapping(job.index, tuple(workers))


def _arrays(mapping: Mapping) -> tuple[Ints, Ints]:
    pairs = np.array(mapping.workers, dtype=np.int64)
    return pairs[:, 0], pairs[:, 1]
