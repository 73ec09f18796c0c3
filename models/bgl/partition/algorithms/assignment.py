"""BGL's assignment of blocks to parts, by the product score (4)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from gadgetopt.numbers.arrays import Bools, Ints

from ..graph import Graph
from .coarsening import block_links

Order = Literal["bfs", "size"]

#: Added to the neighbour term, so that an empty start prefers emptier parts. By definition.
OFFSET = 1e-3


def assign_blocks(
    graph: Graph, block: Ints, trained: Bools, parts: int, hops: int, order: Order
) -> Ints:
    r"""Return the part of every node, step 3 of BGL.

    Blocks are taken in an order, and go where

    .. math:: \Big(\sum_{j=1}^{J} |P(i) \cap \Gamma^j(B)|\Big)
        \Big(1 - \frac{|P(i)|}{n/k}\Big) \Big(1 - \frac{|T(i)|}{|T|/k}\Big) \qquad (4)

    is largest. Ties go to the part of fewer nodes, then to the lower number. A part of which a
    factor is not positive is left out unless all are.
    """
    n, blocks = graph.num_nodes, int(block.max()) + 1
    adjacency = csr_array(
        (np.ones(len(graph.heads), dtype=bool), graph.heads, graph.starts), shape=(n, n)
    )
    by_block = np.argsort(block, kind="stable")
    begins = np.searchsorted(block[by_block], np.arange(blocks + 1))
    part = np.full(n, -1, dtype=np.int64)
    load, train_load = np.zeros(parts), np.zeros(parts)
    for b in block_order(graph, block, order).tolist():
        members = by_block[begins[b] : begins[b + 1]]
        beside = _neighbours_in_parts(adjacency, graph, members, part, parts, hops)
        room = 1 - load * parts / n
        train_room = 1 - train_load * parts / max(1, int(trained.sum()))
        score = (beside + OFFSET) * room * train_room
        score[(room <= 0) | (train_room <= 0)] = -np.inf
        i = min(range(parts), key=lambda i: (-score[i], load[i], i))
        part[members] = i
        load[i] += len(members)
        train_load[i] += int(trained[members].sum())
    return part


def block_order(graph: Graph, block: Ints, order: Order) -> Ints:
    """Return the blocks by size, or breadth-first over the block graph from the largest block.

    Where the search ends early it goes on from the largest block that is left.
    """
    blocks = int(block.max()) + 1
    size = np.bincount(block, minlength=blocks)
    by_size = np.argsort(-size, kind="stable")
    if order == "size":
        return by_size
    links = block_links(graph, block, blocks)
    seen = np.zeros(blocks, dtype=bool)
    found: list[int] = []
    for start in by_size.tolist():
        if seen[start]:
            continue
        seen[start] = True
        queue = [start]
        for b in queue:
            near = links.indices[links.indptr[b] : links.indptr[b + 1]]
            new = near[~seen[near]]
            seen[new] = True
            queue.extend(new.tolist())
        found.extend(queue)
    return np.array(found, dtype=np.int64)


def _neighbours_in_parts(
    adjacency: csr_array, graph: Graph, members: Ints, part: Ints, parts: int, hops: int
) -> np.ndarray:
    """Return how many nodes of each part lie 1 to `hops` hops from a block."""
    beside = np.zeros(parts)
    seen = np.zeros(len(part), dtype=bool)
    stamp = np.empty(len(part), dtype=np.int64)
    seen[members] = True
    frontier = members
    for _ in range(hops):
        if int(graph.degree[frontier].sum()) > len(graph.heads) // 4:
            inside = np.zeros(len(part), dtype=bool)
            inside[frontier] = True
            reached = np.flatnonzero((adjacency @ inside) & ~seen)
        else:
            near = graph.neighbours(frontier)[0]
            near = near[~seen[near]].astype(np.int64)
            # Each once: the last of the same numbers is the one whose place stays.
            stamp[near] = np.arange(len(near))
            reached = near[stamp[near] == np.arange(len(near))]
        if not len(reached):
            break
        seen[reached] = True
        owners = part[reached]
        beside += np.bincount(owners[owners >= 0], minlength=parts)
        frontier = reached
    return beside
