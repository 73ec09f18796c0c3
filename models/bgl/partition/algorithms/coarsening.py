"""BGL's blocks: breadth-first fronts that grow side by side, and the merging of small blocks."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from gadgetopt.numbers.arrays import Ints

from ..graph import Graph


def grow_blocks(graph: Graph, block_cap: int, sources: Ints, pops: int) -> Ints:
    """Return the block of every node, step 1 of BGL.

    Each source begins a block. In a round every block takes the first `pops` nodes of its queue,
    one after the other, and their unvisited neighbours join it, the block of the lowest number
    first, until it has `block_cap` nodes; what it cannot take is left to the others. Nodes that no
    front reaches begin blocks of their own, in each of their components as many as it fills, until
    none is left.
    """
    n = graph.num_nodes
    block = np.full(n, -1, dtype=np.int64)
    following = np.full(n, -1, dtype=np.int64)
    blocks = 0
    while len(sources):
        _grow(graph, block, following, sources, blocks, block_cap, pops)
        blocks += len(sources)
        sources = _leftover_sources(graph, block, block_cap)
    return block


def _grow(
    graph: Graph, block: Ints, following: Ints, sources: Ints, first: int, cap: int, pops: int
) -> None:
    m = len(sources)
    block[sources] = np.arange(first, first + m)
    head, tail, size = sources.copy(), sources.copy(), np.ones(m, dtype=np.int64)
    active = np.arange(m) if cap > 1 else np.empty(0, dtype=np.int64)
    while len(active):
        for _ in range(pops):
            popped = head[active]
            reached, position = graph.neighbours(popped)
            new = block[reached] < 0
            nodes, owner = reached[new].astype(np.int64), active[position[new]]
            nodes, owner = _claims(nodes, owner, cap - size)
            _append(block, following, nodes, owner, tail, size, first)
            head[active] = following[popped]
            active = active[(head[active] >= 0) & (size[active] < cap)]
            if not len(active):
                break


def _claims(nodes: Ints, owner: Ints, room: Ints) -> tuple[Ints, Ints]:
    """Return which nodes the blocks take that reach them, by block and then by node.

    The block of the lowest number takes a node, in ascending order as many as it has room for. What
    it has no room for is left to the next block that reaches it.

    Parameters
    ----------
    nodes, owner : ndarray of int
        Pairs of a node and a block that reaches it, by ascending block.
    room : ndarray of int
        How many nodes each block may still take.
    """
    while True:
        taken, at = np.unique(nodes, return_index=True)
        by = owner[at]
        order = np.argsort(by, kind="stable")
        taken, by = taken[order], by[order]
        begins = np.flatnonzero(np.r_[True, by[1:] != by[:-1]]) if len(by) else by
        counts = np.diff(np.r_[begins, len(by)])
        rank = np.arange(len(by)) - np.repeat(begins, counts)
        over = rank >= room[by]
        if not over.any():
            return taken, by
        # Blocks below the first that is full have taken what they will.
        full = by[over][0]
        left = (owner != full) | np.isin(nodes, taken[(by == full) & ~over])
        nodes, owner = nodes[left], owner[left]


def _append(
    block: Ints, following: Ints, nodes: Ints, owner: Ints, tail: Ints, size: Ints, first: int
) -> None:
    """Append nodes, sorted by owner, to the owners' queues, which are linked lists."""
    if not len(nodes):
        return
    block[nodes] = owner + first
    begins = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
    ends = np.r_[begins[1:], len(owner)] - 1
    same = owner[1:] == owner[:-1]
    following[nodes[:-1][same]] = nodes[1:][same]
    following[tail[owner[begins]]] = nodes[begins]
    tail[owner[begins]] = nodes[ends]
    size[owner[begins]] += ends - begins + 1


def _leftover_sources(graph: Graph, block: Ints, block_cap: int) -> Ints:
    """Return sources in each component of the unvisited nodes, as many as it fills blocks."""
    left = np.flatnonzero(block < 0)
    if not len(left):
        return left
    number = np.full(graph.num_nodes, -1, dtype=np.int64)
    number[left] = np.arange(len(left))
    heads, position = graph.neighbours(left)
    inside = number[heads] >= 0
    pairs = (np.ones(int(inside.sum()), dtype=bool), (position[inside], number[heads[inside]]))
    matrix = csr_array(pairs, shape=(len(left), len(left)))
    _, label = connected_components(matrix, directed=False)
    order = np.argsort(label, kind="stable")
    counts = np.bincount(label)
    rank = np.arange(len(left)) - np.repeat(np.cumsum(counts) - counts, counts)
    # Every block_cap-th node of a component, the first included.
    return np.sort(left[order[rank % block_cap == 0]])


def block_links(graph: Graph, block: Ints, blocks: int) -> csr_array:
    """Return how many edges connect each two blocks, twice on the diagonal."""
    tails = np.repeat(block, graph.degree)
    keys, counts = np.unique(tails * blocks + block[graph.heads], return_counts=True)
    return csr_array((counts, np.divmod(keys, blocks)), shape=(blocks, blocks))


def merge_blocks(graph: Graph, block: Ints, block_cap: int, least: int) -> Ints:
    """Merge blocks of fewer than `least` nodes, step 2 of BGL; blocks are numbered anew.

    The smallest block first joins the adjacent block to which most edges lead, ties going to the
    lower number, if both together have at most `block_cap` nodes. Blocks without such a neighbour
    join each other as they come.
    """
    blocks = int(block.max()) + 1
    size = np.bincount(block, minlength=blocks).tolist()
    links = block_links(graph, block, blocks)
    near: list[dict[int, int]] = [
        dict(zip(links.indices[a:b].tolist(), links.data[a:b].tolist(), strict=True))
        for a, b in zip(links.indptr[:-1].tolist(), links.indptr[1:].tolist(), strict=True)
    ]
    into = list(range(blocks))
    alone: list[int] = []
    for b in sorted(range(blocks), key=lambda b: (size[b], b)):
        if size[b] >= least:
            continue
        fitting = [c for c in near[b] if c != b and size[b] + size[c] <= block_cap]
        if not fitting:
            if all(c == b for c in near[b]):
                alone.append(b)
            continue
        c = max(fitting, key=lambda c: (near[b][c], -c))
        _join(near, size, into, b, c)
    open_block = -1
    for b in alone:
        if size[b] == 0 or size[b] >= least:
            continue
        if open_block >= 0 and size[open_block] + size[b] <= block_cap:
            _join(near, size, into, b, open_block)
        else:
            open_block = b
    root = np.array([_root(into, b) for b in range(blocks)])
    _, number = np.unique(root, return_inverse=True)
    merged: Ints = number[block]
    return merged


def _join(near: list[dict[int, int]], size: list[int], into: list[int], b: int, c: int) -> None:
    """Merge block b into c."""
    into[b] = c
    size[c] += size[b]
    size[b] = 0
    for d, edges in list(near[b].items()):
        near[d].pop(b, None)
        if d not in (b, c):
            near[c][d] = near[c].get(d, 0) + edges
            near[d][c] = near[d].get(c, 0) + edges
    near[b] = {}


def _root(into: list[int], b: int) -> int:
    while into[b] != b:
        b = into[b]
    return b
