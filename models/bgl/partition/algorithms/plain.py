r"""BGL's multi-level partition of the paper, step by step.

Nothing here is fast: blocks and parts are lists that are searched. What the paper leaves open,
above all rounds, merging, orders and ties, is (reconstructed).

Letters, as in the paper: n nodes, T the training nodes, k parts, J hops of the score, P(i) and T(i)
the nodes and training nodes in part i so far, Gamma^j(B) the nodes at j hops from block B. `cap` is
the most nodes of a block (some 100,000 in the paper).
"""

from __future__ import annotations

import numpy as np

from ..instance import BglPartitionInstance, BglPartitionSolution

#: Of each node, its neighbours in ascending order.
Neighbours = list[list[int]]


def bgl(
    instance: BglPartitionInstance, rng: np.random.Generator, cap: int = 0, J: int = 2
) -> BglPartitionSolution:
    """Return BGL's partition, whose loads may exceed the caps, as the score is soft."""
    n, k = instance.num_nodes, instance.used_parts
    near = neighbours(instance)
    cap = cap or max(1, n // (2 * k))
    # 1 Coarsen: max(k, ceil(n / cap)) random sources, an id each
    sources = [int(v) for v in rng.permutation(n)[: min(n, max(k, -(-n // cap)))]]
    blocks: list[list[int]] = []
    while sources:
        blocks += grow(near, sources, cap, taken={v for block in blocks for v in block})
        # leftover nodes start new blocks
        sources = leftover(near, {v for block in blocks for v in block}, cap)
    # 2 Merge blocks below a minimum
    blocks = merge(near, blocks, cap, least=cap // 4)
    # 3 Assign blocks to parts
    part = assign(instance, near, blocks, J)
    # 4 Uncoarsen: every node inherits its block's part
    return BglPartitionSolution(part=tuple(part[v] for v in range(n)))


def neighbours(instance: BglPartitionInstance) -> Neighbours:
    """Return the neighbours of every node, whatever the direction of edges."""
    near: list[set[int]] = [set() for _ in range(instance.num_nodes)]
    for u, v in instance.edges:
        near[u].add(v)
        near[v].add(u)
    return [sorted(nodes) for nodes in near]


def grow(near: Neighbours, sources: list[int], cap: int, taken: set[int]) -> list[list[int]]:
    """Step 1: grow all breadth-first fronts side by side, one pop of each block in a round."""
    taken = taken | set(sources)
    blocks = [[v] for v in sources]
    queues = [[v] for v in sources]
    while any(queues):
        for block, queue in zip(blocks, queues, strict=True):
            if len(block) >= cap:
                queue.clear()  # a block stops at `cap` nodes
            if not queue:
                continue
            for u in near[queue.pop(0)]:
                if u not in taken and len(block) < cap:  # an unvisited neighbour takes the id
                    taken.add(u)
                    block.append(u)
                    queue.append(u)
    return blocks


def leftover(near: Neighbours, taken: set[int], cap: int) -> list[int]:
    """Return sources among the nodes left: of each component every cap-th (reconstructed)."""
    left = [v for v in range(len(near)) if v not in taken]
    sources: list[int] = []
    seen: set[int] = set()
    for v in left:
        if v in seen:
            continue
        component = [v]
        seen.add(v)
        for u in component:
            for w in near[u]:
                if w not in taken and w not in seen:
                    seen.add(w)
                    component.append(w)
        sources += sorted(component)[::cap]
    return sorted(sources)


def merge(near: Neighbours, blocks: list[list[int]], cap: int, least: int) -> list[list[int]]:
    """Step 2: merge blocks below `least` nodes, the smallest first (reconstructed).

    A block joins the adjacent block with most connecting edges, ties to the lower id, that has room
    for it. Isolated blocks join each other as they come.
    """
    merged: list[list[int]] = [list(block) for block in blocks]
    ids = range(len(blocks))

    def edges(b: int, c: int) -> int:
        """Return the number of edges between two blocks."""
        inside = set(merged[c])
        return sum(u in inside for v in merged[b] for u in near[v])

    alone: list[int] = []
    for b in sorted(ids, key=lambda b: (len(blocks[b]), b)):
        if not 0 < len(merged[b]) < least:
            continue
        adjacent = [c for c in ids if c != b and merged[c] and edges(b, c)]
        fitting = [c for c in adjacent if len(merged[b]) + len(merged[c]) <= cap]
        if fitting:
            c = max(fitting, key=lambda c: (edges(b, c), -c))
            merged[c] += merged[b]
            merged[b] = []
        elif not adjacent:
            alone.append(b)
    open_block = -1
    for b in alone:
        if open_block >= 0 and len(merged[open_block]) + len(merged[b]) <= cap:
            merged[open_block] += merged[b]
            merged[b] = []
        else:
            open_block = b
    return [sorted(block) for block in merged if block]


def assign(
    instance: BglPartitionInstance, near: Neighbours, blocks: list[list[int]], J: int
) -> dict[int, int]:
    """Step 3: block by block, the part of the largest score (4)."""
    n, k = instance.num_nodes, instance.used_parts
    train = set(instance.train_nodes)
    P: list[set[int]] = [set() for _ in range(k)]
    for B in in_order(near, blocks):
        score = []
        for i in range(k):
            beside = sum(len(P[i] & hop) for hop in hops(near, B, J))
            room = 1 - len(P[i]) * k / n
            train_room = 1 - len(P[i] & train) * k / max(1, len(train))
            # 1e-3 lets an empty start prefer emptier parts; a part without room is the last resort
            full = room <= 0 or train_room <= 0
            score.append(-np.inf if full else (beside + 1e-3) * room * train_room)
        # ties: fewer nodes, then the lower id
        i = min(range(k), key=lambda i: (-score[i], len(P[i]), i))
        P[i].update(B)
    return {v: i for i in range(k) for v in P[i]}


def hops(near: Neighbours, B: list[int], J: int) -> list[set[int]]:
    """Return Gamma^1(B), ..., Gamma^J(B)."""
    seen, front, found = set(B), set(B), []
    for _ in range(J):
        front = {u for v in front for u in near[v]} - seen
        seen |= front
        found.append(front)
    return found


def in_order(near: Neighbours, blocks: list[list[int]]) -> list[list[int]]:
    """Return the blocks breadth-first over the block graph, from the largest (reconstructed).

    Where the search ends early it goes on from the largest block that is left.
    """
    block_of = {v: b for b, block in enumerate(blocks) for v in block}
    adjacent = [sorted({block_of[u] for v in block for u in near[v]}) for block in blocks]
    order: list[int] = []
    for start in sorted(range(len(blocks)), key=lambda b: (-len(blocks[b]), b)):
        if start in order:
            continue
        queue = [start]
        for b in queue:
            queue += [c for c in adjacent[b] if c not in queue]
        order += queue
    return [blocks[b] for b in order]
