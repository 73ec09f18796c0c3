"""Largest ring of a job that can be embedded alone in the empty cluster."""

from __future__ import annotations

import networkx as nx
import numpy as np

from ..terms import JobTerms, Terms, Tree


def largest_rings(terms: Terms) -> list[int]:
    r"""Return :math:`\kappa_i^{max}` of every job: exact on two-tier clusters, else an upper bound.

    On a two-tier cluster a ring stays on one server, or in one rack on servers whose access links
    carry it, or it spans racks whose uplinks carry it too. In a graph a ring over several servers
    stays within one strongly connected component of the wide enough links. (Reconstructed.)
    """
    cache: dict[tuple[int, tuple[int, ...], int], int] = {}
    out = []
    for job in terms.jobs:
        key = job.bandwidth, tuple(job.demand.tolist()), job.max_ring
        if key not in cache:
            cache[key] = (
                _on_tree(terms.tree, job) if terms.tree is not None else _on_graph(terms, job)
            )
        out.append(cache[key])
    return out


def _on_tree(tree: Tree, job: JobTerms) -> int:
    reachable = np.where(tree.access >= job.bandwidth, job.per_server, 0)
    racks = np.zeros(len(tree.uplink), dtype=np.int64)
    np.add.at(racks, tree.rack, reachable)
    over_racks = racks[tree.uplink >= job.bandwidth].sum()
    most = max(job.per_server.max(), racks.max(), over_racks)
    return min(job.max_ring, int(most))


def _on_graph(terms: Terms, job: JobTerms) -> int:
    wide: nx.DiGraph[int] = nx.DiGraph()
    wide.add_nodes_from(range(terms.num_nodes))
    wide.add_edges_from(terms.links[terms.link_mbps >= job.bandwidth].tolist())
    workers = dict(zip(terms.servers, job.per_server.tolist(), strict=True))
    components = nx.strongly_connected_components(wide)
    most = max(sum(workers.get(v, 0) for v in component) for component in components)
    return min(job.max_ring, most)
