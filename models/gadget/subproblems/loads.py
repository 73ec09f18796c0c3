"""Loads of servers and links by mappings, feasible or not."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Ints

from ..terms import JobTerms, Terms, Tree
from .slot_problem import Mapping


@dataclass
class Loads:
    """Loads of a slot.

    Attributes
    ----------
    server : array of int, shape (servers, resources)
        Units of each resource.
    link : array of int, shape (links,)
        Mbit/s, in the order of `Terms.links`.
    """

    server: Ints
    link: Ints

    def add(self, other: Loads, sign: int = 1) -> None:
        """Add the loads of another slot; with sign -1 subtract them."""
        self.server += sign * other.server
        self.link += sign * other.link

    def put(self, mapping: MappingLoads, sign: int = 1) -> None:
        """Add the loads of a mapping; with sign -1 subtract them."""
        self.server[mapping.servers] += sign * mapping.units
        self.link[mapping.links] += sign * mapping.mbps

    def fit(self, terms: Terms, where: MappingLoads | None = None) -> bool:
        """Return True if no capacity is exceeded, or none of what a mapping loads."""
        everywhere = slice(None)
        servers, links = (where.servers, where.links) if where else (everywhere, everywhere)
        return bool(
            (self.server[servers] <= terms.capacity[servers]).all()
            and (self.link[links] <= terms.link_mbps[links]).all()
        )


@dataclass(frozen=True)
class MappingLoads:
    """Loads of one mapping: few of many servers and links.

    Attributes
    ----------
    servers, links : array of int
        Positions, each once.
    units : array of int, shape (servers here, resources)
    mbps : array of int, shape (links here,)
    """

    servers: Ints
    units: Ints
    links: Ints
    mbps: Ints


def no_loads(terms: Terms) -> Loads:
    """Return the loads of an empty slot."""
    return Loads(np.zeros_like(terms.capacity), np.zeros_like(terms.link_mbps))


def loads_of(terms: Terms, job: JobTerms, mapping: Mapping) -> Loads:
    """Return the loads of one mapping on all servers and links."""
    out = no_loads(terms)
    out.put(mapping_loads(terms, job, mapping))
    return out


def mapping_loads(terms: Terms, job: JobTerms, mapping: Mapping) -> MappingLoads:
    """Return the loads of one mapping where it has some.

    On a two-tier cluster every link that separates the servers is loaded once in each direction
    (proposition P2). On a graph every hop loads the links of its route.
    """
    workers: Counter[int] = Counter()
    for position, count in mapping.workers:
        workers[position] += count
    hops = _tree_hops(terms, terms.tree, sorted(workers)) if terms.tree else _hops(terms, mapping)
    servers, counts = _positions(workers)
    links, times = _positions(hops)
    return MappingLoads(servers, counts[:, None] * job.demand, links, times * job.bandwidth)


def _tree_hops(terms: Terms, tree: Tree, servers: list[int]) -> Counter[int]:
    # Links of server s are 2 s and 2 s + 1, those of rack k follow in the same way.
    if len(servers) == 1:
        return Counter()
    racks = sorted({int(tree.rack[s]) for s in servers})
    ends = servers + ([len(terms.servers) + k for k in racks] if len(racks) > 1 else [])
    return Counter(link for v in ends for link in (2 * v, 2 * v + 1))


def _hops(terms: Terms, mapping: Mapping) -> Counter[int]:
    hops: Counter[int] = Counter()
    number = link_numbers(terms) if mapping.routes else {}
    for route in mapping.routes or ():
        hops.update(number[pair] for pair in itertools.pairwise(route))
    return hops


def _positions(amounts: Counter[int]) -> tuple[Ints, Ints]:
    """Return the positions of amounts, and the amounts."""
    n = len(amounts)
    return np.fromiter(amounts, np.int64, n), np.fromiter(amounts.values(), np.int64, n)


def link_numbers(terms: Terms) -> dict[tuple[int, int], int]:
    """Return the positions of the links, by source and target."""
    return {(u, v): e for e, (u, v) in enumerate(terms.links.tolist())}


def overloads(terms: Terms, loads: Loads) -> tuple[tuple[float, ...], float]:
    """Return the largest ratio of load to capacity of servers for each resource, and of links."""
    node = tuple(
        _worst(load, capacity)
        for load, capacity in zip(loads.server.T, terms.capacity.T, strict=True)
    )
    return node, _worst(loads.link, terms.link_mbps)


def _worst(load: Ints, capacity: Ints) -> float:
    used = load > 0
    if not used.any():
        return 0.0
    with np.errstate(divide="ignore"):
        return float((load[used] / capacity[used]).max())
