"""Minimum arborescences against enumeration and networkx, for every root and kind of number."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.pieces.graphs.arborescence import MISSING, minimum_arborescences


def minimum_arborescence(cost, root):
    found = minimum_arborescences(cost)
    return found.cost[root], found.parents(root)


def is_arborescence(parent, root):
    n = len(parent)
    reached = {root}
    for _ in range(n):
        reached |= {v for v in range(n) if parent[v] in reached}
    return parent[root] == -1 and len(reached) == n


def cheapest(cost, root):
    """Enumerate all choices of parents."""
    n = len(cost)
    others = [v for v in range(n) if v != root]
    best = math.inf
    for chosen in itertools.product(range(n), repeat=n - 1):
        parent = [-1] * n
        for v, u in zip(others, chosen, strict=True):
            parent[v] = u
        if any(parent[v] == v for v in others) or not is_arborescence(parent, root):
            continue
        best = min(best, sum(cost[parent[v]][v] for v in others))
    return best


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_is_cheapest_from_every_root_with_missing_arcs_and_ties(data):
    n = data.draw(st.integers(1, 5))
    entry = st.one_of(st.integers(0, 4), st.just(math.inf))
    cost = np.array(data.draw(st.lists(entry, min_size=n * n, max_size=n * n)), dtype=float)
    cost = cost.reshape(n, n)
    np.fill_diagonal(cost, math.inf)
    together = minimum_arborescences(cost)
    for root in range(n):
        best = cheapest(cost, root)
        assert together.cost[root] == best
        found = together.parents(root)
        if best < math.inf:
            assert is_arborescence(found, root)
            others = [v for v in range(n) if v != root]
            assert sum(cost[found[v], v] for v in others) == best
        else:
            assert (found == -1).all()


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_networkx_on_random_floats(seed):
    rng = np.random.default_rng(seed)
    n = 20
    cost = rng.random((n, n))
    cost[rng.random((n, n)) < 0.7] = math.inf
    cost[np.arange(n), (np.arange(n) + 1) % n] = 3.0  # a cycle keeps every node in reach
    np.fill_diagonal(cost, math.inf)
    together = minimum_arborescences(cost)
    for root in (0, n - 1):
        graph = nx.DiGraph()
        graph.add_weighted_edges_from(
            (u, v, cost[u, v])
            for u in range(n)
            for v in range(n)
            if v != root and cost[u, v] < math.inf
        )
        best = nx.minimum_spanning_arborescence(graph).size(weight="weight")
        assert together.cost[root] == pytest.approx(best, rel=1e-12)


def test_integers_and_fractions_are_exact():
    rng = np.random.default_rng(5)
    n = 12
    cost = rng.integers(0, 2**60, size=(n, n))
    cost[rng.random((n, n)) < 0.3] = MISSING
    cost[np.arange(n), (np.arange(n) + 1) % n] = 2**60 + 1
    exact = cost.astype(object)
    exact[exact == MISSING] = math.inf
    thirds = np.array([[c if c == math.inf else Fraction(c, 3) for c in row] for row in exact])
    for root in range(n):
        value, parent = minimum_arborescence(cost, root)
        others = [v for v in range(n) if v != root]
        assert value == sum(int(cost[parent[v], v]) for v in others)
        assert minimum_arborescence(exact, root)[0] == value
        assert minimum_arborescence(thirds, root)[0] == Fraction(value, 3)


def test_negative_costs_are_fine():
    cost = np.array([[0, -5, 2], [1, 0, -3], [-4, 2, 0]])
    assert minimum_arborescence(cost, 0)[0] == -8


def test_input_is_left_alone_and_ties_are_decided_by_index():
    cost = np.ones((6, 6))
    before = cost.copy()
    first = minimum_arborescence(cost, 2)[1]
    assert (cost == before).all()
    assert (first == minimum_arborescence(cost, 2)[1]).all()
