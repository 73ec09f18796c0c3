"""Kinds of rings of a job on a two-tier cluster: on one server, in one rack, over racks.

Each kind lists the servers and racks whose links the ring may load, and for every size the least
number of servers that it needs (reconstructed).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.errors import ModelRefused

from ...terms import (
    JobTerms,
    Terms,
    Tree,
)


@dataclass(frozen=True)
class RingKind:
    """A kind of rings of one job.

    Attributes
    ----------
    servers : tuple of int
        Servers that a ring over several servers may use; empty for rings on one server.
    racks : tuple of int
        Racks that a ring over racks may use; empty for other rings.
    least : dict of int to int
        The least number of servers of a ring, by its size.
    """

    servers: tuple[int, ...]
    racks: tuple[int, ...]
    least: dict[int, int]

    def most_on(self, job: JobTerms, server: int) -> int:
        """Return the largest number of workers on one of the servers; another has at least one."""
        return min(int(job.per_server[server]), max(self.least) - 1)


def ring_kinds(terms: Terms, job: JobTerms, largest: int) -> list[RingKind]:
    """Return the kinds of rings that a job may have.

    Parameters
    ----------
    terms : Terms
    job : JobTerms
    largest : int
        The largest ring of the job.

    Raises
    ------
    ModelRefused
        If the network is a graph.
    """
    if terms.tree is None:
        raise ModelRefused("the network is a graph, expected a two-tier cluster")
    alone = dict.fromkeys(range(1, min(largest, int(job.per_server.max(initial=0))) + 1), 1)
    kinds = [RingKind((), (), alone)] if alone else []
    by_rack = _reachable(terms.tree, job)
    for servers in by_rack.values():
        least = _least(job, servers, largest)
        if least:
            kinds.append(RingKind(servers, (), least))
    wide = tuple(k for k in by_rack if terms.tree.uplink[k] >= job.bandwidth)
    servers = tuple(s for k in wide for s in by_rack[k])
    least = _least(job, servers, largest) if len(wide) > 1 else {}
    if least:
        kinds.append(RingKind(servers, wide, least))
    return kinds


def _reachable(tree: Tree, job: JobTerms) -> dict[int, tuple[int, ...]]:
    """Return the servers of each rack that a ring over several servers may use."""
    found = np.flatnonzero((tree.access >= job.bandwidth) & (job.per_server > 0)).tolist()
    racks = sorted({int(tree.rack[s]) for s in found})
    return {k: tuple(s for s in found if tree.rack[s] == k) for k in racks}


def _least(job: JobTerms, servers: Sequence[int], largest: int) -> dict[int, int]:
    """Return the least number of servers, at least two, for each size that several can hold."""
    room = np.sort(job.per_server[list(servers)])[::-1].cumsum()
    if len(room) < 2:
        return {}
    sizes = range(2, min(largest, int(room[-1])) + 1)
    return {size: max(2, int(np.searchsorted(room, size)) + 1) for size in sizes}
