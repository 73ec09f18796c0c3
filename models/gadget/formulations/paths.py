"""Simple paths between the servers of a job, over links that are wide enough for its ring."""

from __future__ import annotations

import itertools

import networkx as nx

from gadgetopt.errors import ModelRefused

from ..terms import Terms
from .joint import SlotScope

#: Limit on simple paths between the servers of a job; meshes have far more.
#: Tuned: `benchmarks/constants.py`.
MOST_PATHS = 20_000

#: Links of every simple path, by the positions of its ends in `Terms.servers`.
Paths = dict[tuple[int, int], list[tuple[int, ...]]]


def simple_paths(terms: Terms, bandwidth: int, servers: list[int]) -> Paths:
    """Return the simple paths between servers over links of at least a given bandwidth.

    Raises
    ------
    ModelRefused
        If there are more than `MOST_PATHS`.
    """
    number = {(u, v): e for e, (u, v) in enumerate(terms.links.tolist())}
    wide: nx.DiGraph[int] = nx.DiGraph()
    wide.add_nodes_from(range(terms.num_nodes))
    wide.add_edges_from(terms.links[terms.link_mbps >= bandwidth].tolist())
    position = {terms.servers[s]: s for s in servers}
    paths: Paths = {pair: [] for pair in itertools.permutations(servers, 2)}
    count = 0
    for u, s in position.items():
        for nodes in nx.all_simple_paths(wide, u, position.keys() - {u}):
            count += 1
            if count > MOST_PATHS:
                raise ModelRefused(f"more than {MOST_PATHS} simple paths between servers")
            links = tuple(number[arc] for arc in itertools.pairwise(nodes))
            paths[s, position[nodes[-1]]].append(links)
    return paths


def paths_of(scope: SlotScope, cache: dict[tuple[int, tuple[int, ...]], Paths]) -> dict[int, Paths]:
    """Return the paths of every job of a slot; identical jobs share them."""
    out = {}
    for i in scope.largest:
        servers = scope.servers(i)
        key = scope.terms.jobs[i].bandwidth, tuple(servers)
        if key not in cache:
            cache[key] = simple_paths(scope.terms, key[0], servers)
        out[i] = cache[key]
    return out
