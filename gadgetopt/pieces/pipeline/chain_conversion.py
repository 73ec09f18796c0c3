r"""From the graph of a profile to a chain of layers; what was dropped and merged is reported.

1. Nodes named "Input..." without predecessors are dropped, and sinks named ``__getitem__...``.
2. The others are ordered topologically, of the available ones always the first in the file (Kahn).
3. The boundary after position p carries the output of every node at p or before that some node
   after p consumes, each once:

   .. math:: d_p = \sum_{u:\ pos(u) \le p < \max pos(succ(u))} activation(u).

4. A node without time and parameters joins its predecessor in the order; the boundary after it
   remains.

The chain is exact for stages that are contiguous in that order. The order itself is a choice of the
model: it is reported.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from gadgetopt.errors import InputError

from .profiles import Profile


@dataclass(frozen=True)
class ConvertedChain:
    """A chain of layers for one minibatch, and where it comes from.

    Attributes
    ----------
    name : str
        Of the profile.
    fwd_time_s, bwd_time_s : tuple of float, (L,)
        Seconds of a minibatch on one device.
    param_bytes : tuple of float, (L,)
    act_bytes : tuple of float, (L,)
        Bytes that cross the boundary after each layer for one minibatch; 0 after the last.
    node_ids : tuple of tuple of str, (L,)
        Nodes of the profile in each layer, the merged ones after the one that they joined.
    dropped : tuple of str
        Nodes that belong to no layer.
    """

    name: str
    fwd_time_s: tuple[float, ...]
    bwd_time_s: tuple[float, ...]
    param_bytes: tuple[float, ...]
    act_bytes: tuple[float, ...]
    node_ids: tuple[tuple[str, ...], ...]
    dropped: tuple[str, ...]

    @property
    def num_layers(self) -> int:
        """L."""
        return len(self.fwd_time_s)

    def report(self) -> dict[str, Any]:
        """Return what was dropped and merged, and the order of the nodes."""
        merged = {ids[0]: list(ids[1:]) for ids in self.node_ids if len(ids) > 1}
        return {
            "layers": self.num_layers,
            "dropped_nodes": list(self.dropped),
            "merged_nodes": merged,
            "order": [ids[0] for ids in self.node_ids],
        }

    def scaled(self, part: int, whole: int) -> ConvertedChain:
        """Return the chain of a part of the minibatch: times and boundaries by part / whole."""
        return replace(
            self,
            fwd_time_s=tuple(t * part / whole for t in self.fwd_time_s),
            bwd_time_s=tuple(t * part / whole for t in self.bwd_time_s),
            act_bytes=tuple(d * part / whole for d in self.act_bytes),
        )


def chain_of(profile: Profile) -> ConvertedChain:
    """Return the chain of a profile.

    Raises
    ------
    InputError
        If the graph has a cycle or nothing is left of it.
    """
    successors: list[list[int]] = [[] for _ in profile.nodes]
    indegree = [0] * len(profile.nodes)
    for u, v in profile.edges:
        successors[u].append(v)
        indegree[v] += 1
    kept = [
        not (node.description.startswith("Input") and not indegree[k])
        and not (node.description.startswith("__getitem__") and not successors[k])
        for k, node in enumerate(profile.nodes)
    ]
    order = topological_order(profile.name, successors, indegree, kept)
    boundary = _boundaries(profile, successors, order)
    layers: list[list[int]] = []
    for u in order:
        node = profile.nodes[u]
        if layers and not (node.fwd_s or node.bwd_s or node.param_bytes):
            layers[-1].append(u)
        else:
            layers.append([u])
    position = {u: p for p, u in enumerate(order)}
    nodes = profile.nodes
    return ConvertedChain(
        name=profile.name,
        fwd_time_s=tuple(nodes[ids[0]].fwd_s for ids in layers),
        bwd_time_s=tuple(nodes[ids[0]].bwd_s for ids in layers),
        param_bytes=tuple(nodes[ids[0]].param_bytes for ids in layers),
        act_bytes=tuple(boundary[position[ids[-1]]] for ids in layers),
        node_ids=tuple(tuple(nodes[u].id for u in ids) for ids in layers),
        dropped=tuple(node.id for node, keep in zip(nodes, kept, strict=True) if not keep),
    )


def topological_order(
    name: str, successors: Sequence[Sequence[int]], indegree: Sequence[int], kept: Sequence[bool]
) -> list[int]:
    """Return the kept nodes so that all edges go forward, the first in the file first.

    Raises
    ------
    InputError
        If there is a cycle, or no node is kept.
    """
    waiting = list(indegree)
    ready = [u for u, n in enumerate(waiting) if n == 0]
    order = []
    while ready:
        u = heapq.heappop(ready)
        order.append(u)
        for v in successors[u]:
            waiting[v] -= 1
            if waiting[v] == 0:
                heapq.heappush(ready, v)
    if len(order) < len(waiting):
        raise InputError(f"{name}: the edges form a cycle, expected an acyclic graph")
    order = [u for u in order if kept[u]]
    if not order:
        raise InputError(f"{name}: no node is left beside inputs, expected layers")
    return order


def _boundaries(
    profile: Profile, successors: Sequence[Sequence[int]], order: Sequence[int]
) -> list[float]:
    """Return the bytes that cross the boundary after each position of the order."""
    position = {u: p for p, u in enumerate(order)}
    change = [0.0] * (len(order) + 1)
    for u, p in position.items():
        last = max((position.get(v, p) for v in successors[u]), default=p)
        if last > p:
            change[p] += profile.nodes[u].activation_bytes
            change[last] -= profile.nodes[u].activation_bytes
    carried, boundary = 0.0, []
    for p in range(len(order)):
        carried += change[p]
        boundary.append(max(0.0, carried))
    boundary[-1] = 0.0
    return boundary
