"""Schedules: heights, roots, slices and pipelines of packings."""

from fractions import Fraction

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.forest_packing.algorithms.forest_packing import forest_packing
from gadgetopt.models.forest_packing.algorithms.schedule import (
    Phase,
    best_chunks,
    chunked_time_s,
    depths,
    elements,
    phases,
    slices,
    subtree_heights,
)
from gadgetopt.models.forest_packing.packing import Pair
from gadgetopt.models.forest_packing.subproblems.roots import (
    directed_from,
    heights,
    rooted_pairs,
)
from gadgetopt.system.result import Limits

from ..networks import known


@st.composite
def trees(draw):
    n = draw(st.integers(2, 9))
    edges = [(draw(st.integers(0, v - 1)), v) for v in range(1, n)]
    return n, tuple(e[::-1] if draw(st.booleans()) else e for e in edges)


@given(trees())
@settings(deadline=None)
def test_heights_are_the_eccentricities_of_the_tree(tree):
    _, routes = tree
    assert heights(routes) == nx.eccentricity(nx.Graph(routes))


@given(trees(), st.data())
@settings(deadline=None)
def test_up_and_down_the_same_tree_are_equally_deep(tree, data):
    n, routes = tree
    root = data.draw(st.integers(0, n - 1))
    away = directed_from(root, routes)
    assert {frozenset(r) for r in away} == {frozenset(r) for r in routes}
    pair = Pair(root, tuple(r[::-1] for r in away), None, Fraction(1))
    depth = max(depths(root, away).values())
    assert max(subtree_heights(root, pair.reduce).values()) == depth


@given(st.lists(st.integers(1, 50), min_size=1, max_size=8), st.integers(0, 1000))
def test_slices_add_up_and_are_within_one_element_of_their_share(rates, total):
    rates = [Fraction(r) for r in rates]
    sizes = slices(rates, total)
    assert sum(sizes) == total
    assert all(abs(s - total * r / sum(rates)) < 1 for s, r in zip(sizes, rates, strict=True))


@given(st.integers(2, 30), st.floats(1e-3, 10), st.floats(1e-6, 1e-1))
def test_no_number_of_chunks_is_better_than_the_best(depth, fluid_s, alpha):
    plan = (Phase(fluid_s, depth),)
    best = best_chunks(plan, alpha)
    time = chunked_time_s(plan, best, alpha)
    around = [m for m in (best - 1, best + 1, best // 2, 2 * best) if m >= 1]
    assert all(time <= chunked_time_s(plan, m, alpha) * (1 + 1e-12) for m in around)
    # T(m*) without rounding.
    assert time >= (fluid_s**0.5 + ((depth - 1) * alpha) ** 0.5) ** 2 * (1 - 1e-12)


def test_without_latency_more_chunks_are_always_better():
    assert best_chunks((Phase(1.0, 4),), 0.0) is None
    assert chunked_time_s((Phase(1.0, 4),), 3, 0.0) == pytest.approx(2.0)


def test_the_centres_of_the_heterogeneous_triangle_are_its_roots():
    # Trees {01,12} 3.5, {01,02} 0.5, {12,02} 0.5: roots 1, 0, 2 and h = 2 hops, T = 2/9 (1 + 1/m).
    instance = known("H2")
    paths = [((0, 1), (1, 2)), ((0, 1), (0, 2)), ((1, 2), (0, 2))]
    rates = [Fraction(7, 2), Fraction(1, 2), Fraction(1, 2)]
    pairs = rooted_pairs(instance, list(zip(paths, rates, strict=True)), None)
    assert [p.root for p in pairs] == [1, 0, 2]
    plan = phases(instance, pairs)
    assert [p.depth for p in plan] == [2]
    assert chunked_time_s(plan, 10, 0.0) == pytest.approx(2 / 9 * 1.1)


def test_of_two_centres_the_one_with_less_share_is_the_root():
    instance = known("H3")
    paths = [((0, 1), (1, 2), (2, 3)), ((0, 1), (1, 2), (2, 3)), ((0, 1), (0, 3), (2, 3))]
    rates = [Fraction(2), Fraction(1), Fraction(1)]
    pairs = rooted_pairs(instance, list(zip(paths, rates, strict=True)), None)
    assert [p.root for p in pairs] == [1, 2, 0]


@given(st.lists(st.integers(1, 9), min_size=8, max_size=8))
@settings(deadline=None)
def test_given_shares_are_met_by_splitting_trees(weights):
    instance = known("DGX-1V")
    spanning = ((0, 1), (1, 3), (3, 2), (2, 6), (6, 7), (7, 5), (5, 4))
    shares = {r: Fraction(w, sum(weights)) for r, w in enumerate(weights)}
    rated = [(spanning, Fraction(2)), (spanning[::-1], Fraction(3))]
    pairs = rooted_pairs(instance, rated, shares)
    for r, w in shares.items():
        assert sum(p.rate for p in pairs if p.root == r) == 5 * w
    assert len(pairs) <= len(rated) + len(shares) - 1


def test_stages_that_take_turns_are_two_pipelines():
    # The star with a worker in its centre: T_seq = 4/3, of which each stage takes a part.
    instance = known("H6", stage_mode="sequential", hop_latency_s=0.01)
    outcome = forest_packing(instance, Limits())
    assert outcome.notes["fluid_time_s"] == pytest.approx(4 / 3)
    assert len(outcome.notes["pipeline_depth_hops"]) == 2
    assert outcome.solution.chunks >= 1
    assert outcome.notes["chunked_time_s"] > 4 / 3


def test_a_model_has_whole_elements():
    assert elements(known("H2", model_size_gbyte=0.1)) == 25_000_000
