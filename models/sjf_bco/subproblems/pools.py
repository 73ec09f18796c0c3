"""GPU selection rules: FA-FFP and LBSGF of the paper, and those of its baselines."""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Iterable, Sequence

import numpy as np

from .placement import Batch


class LeastLoaded:
    """FA-FFP (Algorithm 2): the G_j available GPUs of least load, ties by server, then GPU.

    With `opened_first`, GPUs of unused servers come after all others (reconstructed: the text packs
    into used servers, the pseudo-code takes least load). O(G_j log N) per job: available GPUs that
    have been used are in a heap with key load * N + GPU.
    """

    batch: Batch
    limit: int
    load: list[int]

    def __init__(
        self,
        batch: Batch,
        load: list[int],
        limit: int,
        free: Iterable[int],
        *,
        opened_first: bool = False,
    ):
        self.batch, self.load, self.limit = batch, load, limit
        self.n: int = batch.total_gpus
        # Unopened servers have the GPUs from first_gpu[unopened] on, all free and without load.
        self.unopened: int = 0 if opened_first else len(batch.instance.server_gpus)
        idle = [] if opened_first else list(free)
        # GPUs without load come first and in order, so they need no heap.
        self.fresh: deque[int] = deque(sorted(g for g in idle if not load[g]))
        self.heap: list[int] = [load[g] * self.n + g for g in idle if load[g]]
        heapq.heapify(self.heap)

    def take(self, j: int) -> tuple[int, ...] | None:
        """Take the least loaded GPUs within the limit."""
        size, est = self.batch.gpus[j], self.batch.est[j]
        first = self.batch.first_gpu
        untouched = self.n - first[self.unopened]
        if len(self.heap) + len(self.fresh) + untouched < size:
            return None
        load, heap, n = self.load, self.heap, self.n
        room = self.limit - est
        unused = min(size, len(self.fresh)) if room >= 0 else 0
        chosen = [self.fresh.popleft() for _ in range(unused)]
        beyond = (room + 1) * n  # the keys of GPUs within the limit are smaller
        while len(chosen) < size and heap and heap[0] < beyond:
            chosen.append(heapq.heappop(heap) % n)
        missing = size - len(chosen)
        if missing and (room < 0 or missing > untouched):
            self.fresh.extendleft(reversed(chosen[:unused]))
            self.put(chosen[unused:])
            return None
        if missing:
            opened = first[self.unopened]
            chosen.extend(range(opened, opened + missing))
            while first[self.unopened] < opened + missing:
                self.unopened += 1
            self.put(range(opened + missing, first[self.unopened]))
        for g in chosen:
            load[g] += est
        return tuple(chosen)  # a tuple of integers is skipped by the garbage collector

    def put(self, gpus: Sequence[int]) -> None:
        """Return GPUs with their current load."""
        heap, load, n = self.heap, self.load, self.n
        for g in gpus:
            heapq.heappush(heap, load[g] * n + g)

    def free(self) -> Iterable[int]:
        """Return the GPUs in the heap and on unopened servers."""
        yield from self.fresh
        yield from (key % self.n for key in self.heap)
        yield from range(self.batch.first_gpu[self.unopened], self.n)


class LeastLoadedServers:
    """LBSGF (Algorithm 3): the least loaded GPUs of the least loaded servers.

    Servers are shortlisted by (mean load of their GPUs, index): the shortest prefix with at least
    lambda_j G_j GPUs, busy or not; all servers if there are fewer (reconstructed). A waiting job
    keeps its shortlist. Mean loads are compared as integers: the sum of loads times lcm(O) / O_s.
    Takes O(n log n) per job for n GPUs on the shortlist.
    """

    batch: Batch
    limit: int
    load: list[int]

    def __init__(self, batch: Batch, load: list[int], limit: int, free: Iterable[int]):
        self.batch, self.load, self.limit = batch, load, limit
        self.n: int = batch.total_gpus
        capacities = batch.instance.server_gpus
        common = math.lcm(*set(capacities))
        self.weight: list[int] = [common // c for c in capacities]
        self.total: list[int] = [
            sum(load[a:b]) for a, b in zip(batch.first_gpu, batch.first_gpu[1:], strict=False)
        ]
        self.heap: list[tuple[int, int]] = [
            (t * w, s) for s, (t, w) in enumerate(zip(self.total, self.weight, strict=True))
        ]
        heapq.heapify(self.heap)
        self.available: list[list[int]] = [[] for _ in capacities]
        self.put(list(free))
        self.shortlist: list[int] = []

    def take(self, j: int) -> tuple[int, ...] | None:
        """Choose from the job's shortlist, which is made when the job is first considered."""
        size, est, load, n = self.batch.gpus[j], self.batch.est[j], self.load, self.n
        capacities, available = self.batch.instance.server_gpus, self.available
        if not self.shortlist:
            held = 0
            while self.heap and held < self.batch.shortlist_gpus[j]:
                s = heapq.heappop(self.heap)[1]
                self.shortlist.append(s)
                held += capacities[s]
        if sum(len(available[s]) for s in self.shortlist) < size:
            return None
        room = self.limit - est
        keys = [load[g] * n + g for s in self.shortlist for g in available[s] if load[g] <= room]
        if len(keys) < size:
            return None
        keys.sort()
        chosen = [key % n for key in keys[:size]]
        taken = set(chosen)
        for g in chosen:
            load[g] += est
            self.total[self.batch.server_of[g]] += est
        for s in self.shortlist:
            available[s] = [g for g in available[s] if g not in taken]
            heapq.heappush(self.heap, (self.total[s] * self.weight[s], s))
        self.shortlist = []
        return tuple(chosen)

    def put(self, gpus: Sequence[int]) -> None:
        """Return GPUs to the lists of their servers."""
        available, server_of = self.available, self.batch.server_of
        for g in gpus:
            available[server_of[g]].append(g)

    def free(self) -> Iterable[int]:
        """Return the GPUs in the lists of the servers."""
        return (g for gpus in self.available for g in gpus)


class FirstFit:
    """FF: the first G_j available GPUs within the limit, by server, then GPU.

    A tournament tree stores the least load below each node, above any load for unavailable GPUs, so
    the next GPU within the limit is found in O(log N).
    """

    batch: Batch
    limit: int
    load: list[int]

    def __init__(self, batch: Batch, load: list[int], limit: int, free: Iterable[int]):
        self.batch, self.load, self.limit = batch, load, limit
        self.leaves: int = 1 << (batch.total_gpus - 1).bit_length()
        self.taken: int = batch.unlimited + 1  # more than any load
        self.least: list[int] = [self.taken] * (2 * self.leaves)
        for g in free:
            self.least[self.leaves + g] = load[g]
        for node in range(self.leaves - 1, 0, -1):
            self.least[node] = min(self.least[2 * node], self.least[2 * node + 1])

    def take(self, j: int) -> list[int] | None:
        """Take GPUs in order until the job has enough."""
        est = self.batch.est[j]
        room = min(self.limit, self.batch.unlimited) - est
        chosen: list[int] = []
        while len(chosen) < self.batch.gpus[j] and self.least[1] <= room:
            node = 1
            while node < self.leaves:
                node = 2 * node if self.least[2 * node] <= room else 2 * node + 1
            chosen.append(node - self.leaves)
            self._set(node, self.taken)
        if len(chosen) < self.batch.gpus[j]:
            self.put(chosen)
            return None
        for g in chosen:
            self.load[g] += est
        return chosen

    def put(self, gpus: Sequence[int]) -> None:
        """Return GPUs with their current load."""
        for g in gpus:
            self._set(self.leaves + g, self.load[g])

    def free(self) -> Iterable[int]:
        """Return the available GPUs."""
        return (g for g in range(self.batch.total_gpus) if self.least[self.leaves + g] < self.taken)

    def _set(self, node: int, value: int) -> None:
        least = self.least
        least[node] = value
        while node > 1:
            node //= 2
            least[node] = min(least[2 * node], least[2 * node + 1])


class RandomGpus:
    """RAND: random available GPUs within the limit. O(N) per job.

    With `by_server` the servers come in random order, and random GPUs of each are taken until the
    job has enough. Otherwise all sets of G_j candidates are equally likely (both reconstructed).
    """

    batch: Batch
    limit: int
    load: list[int]
    by_server: bool
    rng: np.random.Generator

    def __init__(
        self,
        batch: Batch,
        load: list[int],
        limit: int,
        free: Iterable[int],
        *,
        rng: np.random.Generator,
        by_server: bool,
    ):
        self.batch, self.load, self.limit = batch, load, limit
        self.rng, self.by_server = rng, by_server
        self.available: set[int] = set(free)

    def take(self, j: int) -> list[int] | None:
        """Draw the GPUs of the job from the candidates."""
        size, est = self.batch.gpus[j], self.batch.est[j]
        room = self.limit - est
        candidates = [g for g in sorted(self.available) if self.load[g] <= room]
        if len(candidates) < size:
            return None
        shuffled = [candidates[k] for k in self.rng.permutation(len(candidates))]
        if self.by_server:
            rank = self.rng.permutation(len(self.batch.instance.server_gpus)).tolist()
            shuffled.sort(key=lambda g: rank[self.batch.server_of[g]])
        chosen = shuffled[:size]
        self.available.difference_update(chosen)
        for g in chosen:
            self.load[g] += est
        return chosen

    def put(self, gpus: Sequence[int]) -> None:
        """Make GPUs candidates again."""
        self.available.update(gpus)

    def free(self) -> Iterable[int]:
        """Return the available GPUs."""
        return self.available
