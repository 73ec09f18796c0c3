"""Mappings onto free servers, each computed once per job type and tuple of free GPUs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..instance import ASrptInstance, JobType
from ..iteration_time import MappingTimes
from ..mapping import fastest_mapping, sparse
from .free_servers import FreeServers
from .heavy_edge import JobGraph, LocalPlacement, heavy_edge, heavy_edge_contract, job_graph
from .mapping_search import best_of, local_search


def _vertex(graph: JobGraph, times: MappingTimes, capacities: Sequence[int]) -> LocalPlacement:
    return heavy_edge(graph, capacities)


def _contraction(graph: JobGraph, times: MappingTimes, capacities: Sequence[int]) -> LocalPlacement:
    return heavy_edge_contract(graph, capacities)


def _searched(graph: JobGraph, times: MappingTimes, capacities: Sequence[int]) -> LocalPlacement:
    return local_search(graph, times, capacities, best_of(graph, times, capacities))


def _exact(graph: JobGraph, times: MappingTimes, capacities: Sequence[int]) -> LocalPlacement:
    return fastest_mapping(times, capacities).counts


#: Rules by name: the two heavy-edge mappings, the faster one of the two, that one improved by
#: moves, and the fastest mapping there is (as long as the search for it stays short).
MAPPINGS: dict[str, Callable[[JobGraph, MappingTimes, Sequence[int]], LocalPlacement]] = {
    "heavy_edge": _vertex,
    "heavy_edge_contract": _contraction,
    "best_of": best_of,
    "local_search": _searched,
    "exact": _exact,
}


class Mapper:
    """Computes mappings by one of the rules and keeps them.

    Parameters
    ----------
    instance : ASrptInstance
    rule : str
        One of `MAPPINGS`.
    """

    def __init__(self, instance: ASrptInstance, rule: str):
        self._times = instance.times
        self._types = instance.job_types
        self._rule = MAPPINGS[rule]
        self._graphs: dict[int, JobGraph] = {}
        self._known: dict[tuple[int, tuple[int, ...]], tuple[LocalPlacement, int]] = {}
        self._empty = FreeServers(instance.gpus_per_server)
        self._alone: dict[int, int] = {}
        self._split: dict[int, int] = {}

    def mapped(self, job_type: int, capacities: tuple[int, ...]) -> tuple[LocalPlacement, int]:
        """Return the local mapping onto servers with these free GPUs, and its time in units."""
        times = self._times[job_type]
        if len(capacities) == 1:
            return tuple((k,) for k in times.replicas), times.together
        key = (job_type, capacities)
        found = self._known.get(key)
        if found is None:
            room = tuple(c // self._types[job_type].block_unit for c in capacities)
            placement = self._rule(self._graph(job_type), times, room)
            found = self._known[key] = placement, times.units(sparse(placement))
        return found

    def on_empty_cluster(self, job_type: int) -> int:
        """Return the time of the mapping onto the empty cluster, in units: alpha~."""
        units = self._alone.get(job_type)
        if units is None:
            _, units = self.mapped_on_empty_cluster(job_type)
            self._alone[job_type] = units
        return units

    def mapped_on_empty_cluster(self, job_type: int) -> tuple[LocalPlacement, int]:
        """Return the local mapping onto servers of the empty cluster, and its time in units."""
        wanted, free = self._types[job_type], self._empty.free
        in_units = self._empty.in_blocks(wanted.block_unit)
        servers = in_units.chosen(wanted.num_gpus, wanted.blocks, consolidate=True)
        return self.mapped(job_type, tuple(free[m] for m in servers))

    def split_floor(self, job_type: int) -> int:
        """Return a lower bound on the time of any mapping onto more than one server, in units."""
        floor = self._split.get(job_type)
        if floor is None:
            floor = self._split[job_type] = split_floor(self._times[job_type])
        return floor

    def floor_among(self, job_type: int, most: int) -> int:
        """Return a lower bound on the time of any mapping onto servers with so many free GPUs.

        No server alone has room for the job.
        """
        room = max(1, most // self._types[job_type].block_unit)
        return max(floor_among(self._times[job_type], room), self.split_floor(job_type))

    def _graph(self, job_type: int) -> JobGraph:
        graph = self._graphs.get(job_type)
        if graph is None:
            graph = self._graphs[job_type] = graph_of(self._types[job_type])
        return graph


def split_floor(times: MappingTimes) -> int:
    """Return a lower bound on the time of a mapping onto more than one server, in units.

    Either the ring of some stage is split; or every stage is whole, and of two neighbours on
    different servers each misses the other.
    """
    together = times.stage_together
    slowest, ring = max(together), max(times.ring_whole)
    k = (0, *times.replicas, 0)
    rings = (
        slowest + max(ring, times.ring_split[s]) for s, n in enumerate(times.replicas) if n > 1
    )
    cuts = (
        max(
            slowest,
            together[s] + times.saved_right[s] * k[s + 2],
            together[s + 1] + times.saved_left[s + 1] * k[s + 1],
        )
        + ring
        for s in range(len(together) - 1)
    )
    return min((*rings, *cuts), default=slowest + ring)


def floor_among(times: MappingTimes, most: int) -> int:
    """Return a lower bound on the time of a mapping with so much room on a server at most.

    A larger stage is split, and beside a replica there is room for fewer of its neighbours.
    """
    k, sizes = (0, *times.replicas, 0), (1, *times.sizes, 1)
    slowest = ring = 0
    for s, replicas in enumerate(times.replicas):
        room = max(0, most - sizes[s + 1])
        saved = max(
            times.saved_left[s] * before
            + times.saved_right[s] * min(k[s + 2], (room - sizes[s] * before) // sizes[s + 2])
            for before in range(min(k[s], room // sizes[s]) + 1)
        )
        slowest = max(slowest, times.alone[s] - saved)
        whole = replicas * sizes[s + 1] <= most
        ring = max(ring, times.ring_whole[s] if whole else times.ring_split[s])
    return slowest + ring


def graph_of(job_type: JobType) -> JobGraph:
    """Return the job graph of a type."""
    unit = job_type.block_unit
    sizes = [block // unit for block in job_type.block_of_stage]
    return job_graph(job_type.replicas, job_type.activation_gbytes, job_type.gradient_gbytes, sizes)


def on_servers(
    placement: LocalPlacement, servers: Sequence[int]
) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return a local placement as pairs (server, replicas) of every stage."""
    return tuple(tuple((m, x) for m, x in zip(servers, row, strict=True) if x) for row in placement)


def gpus_held(job_type: JobType, placement: LocalPlacement) -> list[int]:
    """Return the GPUs that a job holds on each of the servers of a local placement."""
    sizes = job_type.block_of_stage
    return [
        sum(block * x for block, x in zip(sizes, column, strict=True))
        for column in zip(*placement, strict=True)
    ]
