"""Loads of servers and links by mappings, feasible or not."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Ints

from ..terms import JobTerms, Terms
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
        """Add the loads of another mapping; with sign -1 subtract them."""
        self.server += sign * other.server
        self.link += sign * other.link

    def fit(self, terms: Terms) -> bool:
        """Return True if no capacity is exceeded."""
        return bool((self.server <= terms.capacity).all() and (self.link <= terms.link_mbps).all())


def no_loads(terms: Terms) -> Loads:
    """Return the loads of an empty slot."""
    return Loads(np.zeros_like(terms.capacity), np.zeros_like(terms.link_mbps))


def loads_of(terms: Terms, job: JobTerms, mapping: Mapping) -> Loads:
    """Return the loads of one mapping.

    On a two-tier cluster every link that separates the servers is loaded once in each direction
    (proposition P2). On a graph every hop loads the links of its route.
    """
    out = no_loads(terms)
    for position, count in mapping.workers:
        out.server[position] += count * job.demand
    if terms.tree is not None:
        # Links of server s are 2 s and 2 s + 1, those of rack k follow in the same way.
        used = sorted({position for position, _ in mapping.workers})
        racks = sorted({int(terms.tree.rack[s]) for s in used})
        ends = used if len(used) > 1 else []
        ends = ends + [len(terms.servers) + k for k in racks] if len(racks) > 1 else ends
        for v in ends:
            out.link[2 * v : 2 * v + 2] += job.bandwidth
        return out
    number = link_numbers(terms)
    for route in mapping.routes or ():
        for u, v in itertools.pairwise(route):
            out.link[number[u, v]] += job.bandwidth
    return out


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
