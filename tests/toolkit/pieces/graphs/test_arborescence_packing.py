"""Packed arborescences span, are as many as asked for and keep the capacities."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gadgetopt.pieces.graphs.arborescence_packing import pack_arborescences
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

NO_TIME = Clock(Limits(time_s=0.0))


def check(num_nodes, capacity, roots, packed):
    """Assert that the trees are what `pack_arborescences` promises."""
    load, trees = Counter(), Counter()
    for tree in packed:
        assert tree.multiplicity > 0
        trees[tree.root] += tree.multiplicity
        reached = {tree.root}
        for u, v in tree.arcs:
            assert u in reached
            assert v not in reached
            reached.add(v)
            load[u, v] += tree.multiplicity
        assert len(reached) == num_nodes
    assert [trees[r] for r in range(num_nodes)] == list(roots)
    assert all(load[arc] <= capacity.get(arc, 0) for arc in load)


def least_cut_ratio(num_nodes, capacity, shares):
    """Enumerate sets Q: capacity into Q over the share rooted outside of it."""
    ratios = []
    for inside in product([False, True], repeat=num_nodes):
        outside = sum((w for r, w in shares.items() if not inside[r]), Fraction(0))
        if any(inside) and outside:
            entering = sum(c for (u, v), c in capacity.items() if inside[v] and not inside[u])
            ratios.append(entering / outside)
    return min(ratios)


@st.composite
def tight_packings(draw):
    """A digraph scaled so that its tightest cut is just enough for integer numbers of trees."""
    n = draw(st.integers(2, 6))
    weights = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any))
    unit = draw(st.sampled_from([1, 2**35, 2**70]))
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
    sizes = draw(st.lists(st.integers(0, 6), min_size=len(pairs), max_size=len(pairs)))
    capacity = {arc: size * unit for arc, size in zip(pairs, sizes, strict=True) if size}
    shares = {r: Fraction(w, sum(weights)) for r, w in enumerate(weights) if w}
    rate = least_cut_ratio(n, capacity, shares)
    assume(rate > 0)
    scale = math.lcm(*((w * rate).denominator for w in shares.values()))
    roots = [int(rate * scale * shares.get(r, 0)) for r in range(n)]
    return n, {arc: c * scale for arc, c in capacity.items()}, roots


@given(tight_packings())
def test_every_number_of_trees_within_the_cuts_is_packed(problem):
    n, capacity, roots = problem
    packed = pack_arborescences(n, list(capacity), list(capacity.values()), roots)
    check(n, capacity, roots, packed)


@given(tight_packings(), st.data())
def test_more_trees_than_any_node_can_receive_are_an_error(problem, data):
    n, capacity, roots = problem
    roots[data.draw(st.integers(0, n - 1))] += sum(capacity.values())
    with pytest.raises(ValueError, match="capacity"):
        pack_arborescences(n, list(capacity), list(capacity.values()), roots)


def test_a_cycle_holds_one_tree_per_root_for_every_n_minus_one_units():
    # Each tree of a directed cycle of 4 uses three of the four arcs.
    capacity = {(v, (v + 1) % 4): 3 for v in range(4)}
    packed = pack_arborescences(4, list(capacity), list(capacity.values()), [1] * 4)
    check(4, capacity, [1] * 4, packed)


def test_time_is_up_before_the_trees_are():
    with pytest.raises(TimeoutError):
        pack_arborescences(2, [(0, 1)], [1], [1, 0], clock=NO_TIME)
