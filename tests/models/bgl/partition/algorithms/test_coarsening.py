"""BGL's blocks: fronts side by side, caps, leftovers, and merging."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.bgl.partition.algorithms.coarsening import (
    block_links,
    grow_blocks,
    merge_blocks,
)
from gadgetopt.models.bgl.partition.graph import Graph


def path(nodes):
    return Graph.of(nodes, [(v, v + 1) for v in range(nodes - 1)])


def grown_by_hand(graph, cap, sources, pops):
    """The rounds with queues, one node at a time."""
    block = [-1] * graph.num_nodes
    queues, size = [], []
    for b, v in enumerate(sources):
        block[v] = b
        queues.append([v])
        size.append(1)
    while any(queues):
        for _ in range(pops):
            popped = [q.pop(0) if q and size[b] < cap else None for b, q in enumerate(queues)]
            for b, v in enumerate(popped):
                if v is None:
                    continue
                near = sorted(graph.heads[graph.starts[v] : graph.starts[v + 1]].tolist())
                for u in near:
                    if block[u] < 0 and size[b] < cap:
                        block[u] = b
                        queues[b].append(u)
                        size[b] += 1
        queues = [q if size[b] < cap else [] for b, q in enumerate(queues)]
    return block


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 15))
def test_fronts_grow_as_by_hand(seed, pops, cap):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 14))
    edges = [(u, v) for u in range(n) for v in range(u + 1, n) if rng.random() < 0.3]
    graph = Graph.of(n, edges)
    sources = rng.permutation(n)[: int(rng.integers(1, 4))]
    by_hand = grown_by_hand(graph, cap, sources.tolist(), pops)
    block = grow_blocks(graph, cap, sources, pops)
    assert [b if b < len(sources) else -1 for b in block.tolist()] == by_hand


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_every_node_has_a_block_and_no_block_is_too_large(seed, cap):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    edges = [(u, v) for u in range(n) for v in range(u + 1, n) if rng.random() < 0.15]
    graph = Graph.of(n, edges)
    block = grow_blocks(graph, cap, rng.permutation(n)[:2], 1)
    assert (block >= 0).all()
    assert np.bincount(block).max() <= cap
    merged = merge_blocks(graph, block, max(cap, 4), 4)
    assert np.bincount(merged).max() <= max(cap, 4)
    assert np.bincount(merged).min() >= 1
    for b in range(block.max() + 1):  # merging only joins
        assert len(set(merged[block == b].tolist())) == 1


def test_two_fronts_meet_in_the_middle_of_a_path():
    assert grow_blocks(path(6), 3, np.array([0, 5]), 1).tolist() == [0, 0, 0, 1, 1, 1]


def test_a_full_block_stops_and_the_rest_begins_another():
    assert grow_blocks(path(5), 2, np.array([0]), 1).tolist() == [0, 0, 1, 1, 2]


def test_small_blocks_join_the_neighbour_with_most_edges():
    # Block 2 is node 4 with two edges to block 1 and one to block 0.
    graph = Graph.of(5, [(0, 1), (2, 3), (4, 0), (4, 2), (4, 3)])
    block = np.array([0, 0, 1, 1, 2])
    assert merge_blocks(graph, block, 3, 2).tolist() == [0, 0, 1, 1, 1]
    assert merge_blocks(graph, block, 2, 2).tolist() == [0, 0, 1, 1, 2]


def test_isolated_blocks_join_each_other():
    assert merge_blocks(Graph.of(4, []), np.arange(4), 2, 2).tolist() == pytest.approx([0, 0, 1, 1])


def test_links_count_edges():
    graph = Graph.of(4, [(0, 1), (1, 2), (0, 2), (2, 3)])
    assert block_links(graph, np.array([0, 0, 1, 1]), 2).toarray().tolist() == [[2, 2], [2, 2]]
