"""Maximum flows against networkx, with capacities beyond 32 and 64 bits."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.numbers.arrays import Bools, Ints
from gadgetopt.pieces.graphs.flows import (
    BigInts,
    FlowNetwork,
    dense_max_flow,
    wide_integers,
)


def min_cut(
    num_nodes: int,
    tails: Sequence[int] | Ints,
    heads: Sequence[int] | Ints,
    capacity: Sequence[int] | BigInts,
    source: int,
    sink: int,
) -> tuple[int, Bools]:
    """Return the value of a minimum cut and its smallest source side, shape (num_nodes,).

    Capacities are integers of any size. For several cuts of one network make a `FlowNetwork` once.
    """
    flow = FlowNetwork(num_nodes, tails, heads).max_flow(capacity, source, sink)
    return flow.value, flow.source_side()


@st.composite
def digraphs(draw, largest_unit=2**70):
    n = draw(st.integers(2, 7))
    node = st.integers(0, n - 1)
    unit = draw(st.sampled_from([1, 2**20, 2**31, 2**45, largest_unit]))
    capacity = st.builds(lambda a, b: a * unit + b, st.integers(0, 6), st.integers(0, 3))
    return n, draw(st.lists(st.tuples(node, node, capacity), max_size=25))


def networkx_value(n, arcs):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    for u, v, c in arcs:
        if u != v:
            before = graph[u][v]["capacity"] if graph.has_edge(u, v) else 0
            graph.add_edge(u, v, capacity=before + c)
    return nx.maximum_flow_value(graph, 0, n - 1)


@given(digraphs())
def test_value_is_that_of_networkx_and_of_both_minimum_cuts(graph):
    n, arcs = graph
    tails, heads, capacity = [a[0] for a in arcs], [a[1] for a in arcs], [a[2] for a in arcs]
    flow = FlowNetwork(n, tails, heads).max_flow(capacity, 0, n - 1)
    assert flow.value == networkx_value(n, arcs)
    near, far = flow.source_side(), flow.sink_side()
    for side in (near, ~far):
        assert side[0]
        assert not side[n - 1]
        assert sum(c for u, v, c in arcs if side[u] and not side[v]) == flow.value
    assert not (near & far).any()  # the smallest source side is within every other


@given(digraphs())
def test_dense_and_sparse_networks_have_the_same_flow(graph):
    n, arcs = graph
    matrix = np.zeros((n, n), dtype=object)
    for u, v, c in arcs:
        matrix[u, v] += c
    np.fill_diagonal(matrix, 0)
    tails, heads = np.nonzero(np.ones((n, n)))
    value, side = min_cut(n, tails, heads, wide_integers(matrix.ravel()), 0, n - 1)
    dense = dense_max_flow(matrix, 0, n - 1)
    assert dense.value == value
    assert (dense.source_side() == side).all()


def test_unlimited_arcs_do_not_overflow():
    # 0 -> 1 -> 2 with 7 in the end, the first arc practically without limit.
    assert min_cut(3, [0, 1], [1, 2], [10**30, 7], 0, 2)[0] == 7


def test_sums_beyond_32_bits_are_exact():
    big = 2**30 - 1
    tails, heads = [0] * 6 + list(range(1, 7)), list(range(1, 7)) + [7] * 6
    assert min_cut(8, tails, heads, [big] * 12, 0, 7)[0] == 6 * big


def test_source_and_sink_must_differ():
    with pytest.raises(ValueError, match="sink"):
        min_cut(2, [0], [1], [1], 0, 0)
