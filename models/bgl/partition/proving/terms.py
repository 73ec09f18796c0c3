"""What an elimination branches on, and the weights that it adds up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..instance import BglPartitionInstance


@dataclass(frozen=True)
class Terms:
    """What the elimination of an instance adds up.

    Attributes
    ----------
    parts : int
    pairs : mapping
        For every branched node, its weights to other branched nodes.
    stars : mapping
        For every branched node, its weights to nodes that are not branched on.
    leaves : mapping
        For every branched node, its weights to nodes that have no other neighbour.
    trained : frozenset of int
        The branched nodes that are training nodes.
    train_cap, node_cap : int
    """

    parts: int
    pairs: Mapping[int, Mapping[int, int]]
    stars: Mapping[int, Mapping[int, int]]
    leaves: Mapping[int, Mapping[int, int]]
    trained: frozenset[int]
    train_cap: int
    node_cap: int

    @property
    def counts_nodes(self) -> bool:
        """True if nodes that are no training nodes are branched on, so that loads are two."""
        return len(self.trained) < len(self.pairs)


def terms_of(instance: BglPartitionInstance, *, every_node: bool = False) -> Terms:
    """Return the terms: training nodes with weight are branched on, or every node with weight.

    Where two nodes that are no training nodes share weight, every node is.
    """
    weights = instance.pair_weights
    trained = set(instance.train_nodes)
    listed = list(
        zip(weights.first.tolist(), weights.second.tolist(), weights.scaled.tolist(), strict=True)
    )
    every_node = every_node or any(a not in trained and b not in trained for a, b, _ in listed)
    pairs: dict[int, dict[int, int]] = {}
    stars: dict[int, dict[int, int]] = {}
    members: dict[int, int] = {}
    for v in sorted({v for a, b, _ in listed for v in (a, b)}):
        if every_node or v in trained:
            pairs[v], stars[v] = {}, {}
    for a, b, w in listed:
        if a in pairs and b in pairs:
            pairs[a][b] = pairs[b][a] = w
        else:
            branched, other = (a, b) if a in pairs else (b, a)
            stars[branched][other] = w
            members[other] = members.get(other, 0) + 1
    leaves: dict[int, dict[int, int]] = {}
    for v, rays in stars.items():  # a node with one neighbour goes where that is
        leaves[v] = {u: w for u, w in rays.items() if members[u] == 1}
        stars[v] = {u: w for u, w in rays.items() if members[u] > 1}
    return Terms(
        instance.used_parts,
        pairs,
        stars,
        leaves,
        frozenset(trained & set(pairs)),
        instance.train_cap,
        instance.node_cap,
    )
