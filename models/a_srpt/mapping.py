r"""The mapping problem (M) in integers: the fastest mapping of one job onto given free GPUs.

Stages are placed one after the other. Servers that hold the same replicas so far and have equally
many GPUs left are interchangeable; of these, the first takes the most. A partial mapping is
abandoned once the slowest stage and ring that it can still reach are no better than the best
mapping known, or once the blocks of the stages to come do not fit into what is left. A search that
takes too many nodes ends with a proved lower bound instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from gadgetopt.pieces.knapsack.bins import blocks_of, distributions, fit_apart

from .iteration_time import MappingTimes

#: Partial mappings that a search may look at before it settles for a bound.
#: Tuned: `benchmarks/constants.py`.
MOST_NODES = 20_000

#: Replicas of every stage on every server.
Counts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Mapped:
    """Result of a search.

    Attributes
    ----------
    counts : tuple of tuple of int, shape (stages, servers)
        The best mapping found.
    units : int
        Its per-iteration time.
    bound : int
        No mapping is faster; equal to `units` if the search was complete.
    """

    counts: Counts
    units: int
    bound: int

    @property
    def proven(self) -> bool:
        """True if no mapping is faster."""
        return self.bound == self.units


def fastest_mapping(
    times: MappingTimes, capacities: Sequence[int], most_nodes: int = MOST_NODES
) -> Mapped:
    """Return the fastest mapping onto servers with these many free GPUs.

    Parameters
    ----------
    times : MappingTimes
    capacities : sequence of int, shape (servers,)
        Room of the servers, in units of `times.sizes`: replicas, each of as many GPUs as its block
        has, where all stages have the same. The job's blocks fit into it.
    most_nodes : int
    """
    needed = times.room
    for m, capacity in enumerate(capacities):
        if capacity >= needed:
            counts = tuple(
                tuple(k if at == m else 0 for at in range(len(capacities))) for k in times.replicas
            )
            return Mapped(counts, times.together, times.together)
    return _Search(times, capacities, most_nodes).run()


def servers_worth_using(replicas: int, capacities: Sequence[int]) -> int:
    """Return how many of the largest servers an optimal mapping on an empty cluster may need.

    Merging two servers' parts never slows a job, so two used servers hold more than the larger of
    them could; at most one is then no more than half full.

    Parameters
    ----------
    replicas : int
        Of the job, or the room that all of them take.
    capacities : sequence of int
        Room of the servers, in falling order.
    """
    needed, held = 1, 1
    while needed < len(capacities) and (
        sum(capacities[:needed]) < replicas or held + capacities[needed] // 2 + 1 <= replicas
    ):
        held += capacities[needed] // 2 + 1
        needed += 1
    return needed


class _Search:
    def __init__(self, times: MappingTimes, capacities: Sequence[int], most_nodes: int):
        self.times = times
        self.capacities = tuple(capacities)
        self.nodes_left = most_nodes
        #: Whether ways to place a stage were passed over, as no nodes were left.
        self.cut_short = False
        self.stages = len(times.replicas)
        self.best = times.longest + 1
        self.counts: list[tuple[int, ...]] = []
        self.abandoned = times.longest + 1  # least bound of the nodes that were given up
        #: Whether replicas may be left over though there is room enough in all.
        self.mixed = len(set(times.sizes)) > 1
        most = max(capacities)
        #: Per stage, the least that it and all later stages can reach.
        self.floor = [0] * (self.stages + 1)
        self.ring_floor = [0] * (self.stages + 1)
        for s in reversed(range(self.stages)):
            fits = times.replicas[s] * times.sizes[s] <= most
            whole = times.ring_whole[s] if fits else times.ring_split[s]
            self.floor[s] = max(self.floor[s + 1], times.stage_together[s])
            self.ring_floor[s] = max(self.ring_floor[s + 1], whole)

    def run(self) -> Mapped:
        self._place(0, list(self.capacities), [], self.floor[0], self.ring_floor[0])
        return Mapped(tuple(self.counts), self.best, min(self.best, self.abandoned))

    def _place(
        self, s: int, left: list[int], placed: list[tuple[int, ...]], slowest: int, ring: int
    ) -> None:
        """Place stage s in every way that may be better; the stages before it are placed."""
        if s == self.stages:
            self.best, self.counts = slowest + ring, list(placed)
            return
        rows = self._rows(s, left, _alike(placed, left))
        choices = []
        for row in islice(rows, max(1, self.nodes_left)):
            slowest_now, ring_now = self._with(s, placed, row, slowest, ring)
            choices.append((slowest_now + ring_now, row, slowest_now, ring_now))
        if next(rows, None) or self.cut_short:
            self.abandoned = min(self.abandoned, slowest + ring)
            self.cut_short = False
        self.nodes_left -= len(choices)
        choices.sort(key=lambda choice: choice[0])
        for bound, row, slowest_now, ring_now in choices:
            if bound >= self.best:
                return
            if self.nodes_left <= 0 and self.counts:
                self.abandoned = min(self.abandoned, bound)
                return
            placed.append(row)
            after = self._after(s, left, row)
            self._place(s + 1, after, placed, slowest_now, ring_now)
            placed.pop()

    def _rows(self, s: int, left: list[int], alike: list[bool]) -> Iterator[tuple[int, ...]]:
        """Yield the ways to place stage s that leave room for the blocks of all later stages.

        Once one has left none, it is asked after each server whether the others may; a way that
        ends there takes a node all the same. Without nodes, the ways end after the first one, to
        which most on each server leads.
        """
        size, sizes, replicas = self.times.sizes[s], self.times.sizes, self.times.replicas
        room = [free // size for free in left]
        if not self.mixed:
            yield from distributions(replicas[s], room, alike)
            return
        later = blocks_of(sizes[s + 1 :], replicas[s + 1 :])
        found = is_tight = False

        def may_go_on(row: Sequence[int], need: int) -> bool:
            nonlocal is_tight
            if found and self.nodes_left <= 0:
                self.cut_short = True
                return False
            k = len(row)
            if k < len(left) and not is_tight:
                return True
            may = fit_apart(later, self._after(s, left[:k], row), (size, need), left[k:])
            is_tight = is_tight or not may
            self.nodes_left -= not may
            return may

        for way in distributions(replicas[s], room, alike, may_go_on):
            found = True
            yield way

    def _after(self, s: int, left: Sequence[int], row: Sequence[int]) -> list[int]:
        """Return the room that is left beside stage s, here or on the first servers."""
        size = self.times.sizes[s]
        return [free - size * x for free, x in zip(left, row, strict=True)]

    def _with(
        self, s: int, placed: list[tuple[int, ...]], row: tuple[int, ...], slowest: int, ring: int
    ) -> tuple[int, int]:
        """Return the slowest stage and ring that remain within reach with stage s placed so."""
        times = self.times
        used = sum(1 for x in row if x)
        ring = max(
            ring,
            times.ring_whole[s] if used == 1 else times.ring_split[s],
            self.ring_floor[s + 1],
        )
        slowest = max(slowest, self.floor[s + 1])
        if s:
            before = placed[s - 1]
            two_before = placed[s - 2] if s > 1 else None
            for m, x in enumerate(before):
                if x:
                    left = times.saved_left[s - 1] * two_before[m] if two_before else 0
                    slowest = max(
                        slowest, times.alone[s - 1] - left - times.saved_right[s - 1] * row[m]
                    )
        # The next stage may still come to this one's servers, as far as it has replicas.
        following = times.replicas[s + 1] if s + 1 < self.stages else 0
        best_right = times.saved_right[s] * following
        for m, x in enumerate(row):
            if x:
                left = times.saved_left[s] * placed[s - 1][m] if s else 0
                slowest = max(slowest, times.alone[s] - left - best_right)
        return slowest, ring


def _alike(placed: list[tuple[int, ...]], left: list[int]) -> list[bool]:
    """Return, per server, whether it is interchangeable with the one before it."""
    columns = [(free, *(row[m] for row in placed)) for m, free in enumerate(left)]
    return [m > 0 and columns[m] == columns[m - 1] for m in range(len(left))]


def sparse(counts: Sequence[Sequence[int]]) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return a table of replicas, stage x server, as pairs (server, replicas) of every stage."""
    return tuple(tuple((m, x) for m, x in enumerate(row) if x) for row in counts)
