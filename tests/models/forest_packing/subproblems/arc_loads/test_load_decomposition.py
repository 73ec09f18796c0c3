"""Decomposition of loads into trees, and separation of the cuts that such loads must satisfy."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.forest_packing.proving.exact.separation import Separator
from gadgetopt.models.forest_packing.subproblems.arc_loads.cut_lp import CutLp
from gadgetopt.models.forest_packing.subproblems.arc_loads.load_decomposition import pack_loads
from gadgetopt.system.result import Limits

from ...networks import (
    BUILDERS,
    known,
)


def least_cut(n, workers, tails, heads, load, roots):
    """The least of g(delta^-(Q)) + w(Q) over all Q with a worker, by listing them."""
    least = np.inf
    for size in range(1, n + 1):
        for chosen in combinations(range(n), size):
            inside = np.zeros(n, dtype=bool)
            inside[list(chosen)] = True
            if inside[:workers].any():
                entering = load[inside[heads] & ~inside[tails]].sum()
                least = min(least, entering + roots[inside[:workers]].sum())
    return least


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_sets_are_found_if_and_only_if_some_cut_lacks_rate(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    workers = int(rng.integers(1, n + 1))
    tails, heads = np.nonzero(~np.eye(n, dtype=bool) & (rng.random((n, n)) < 0.7))
    load = rng.integers(0, 6, size=len(tails)).astype(float)
    roots = rng.integers(0, 4, size=workers).astype(float)
    least = least_cut(n, workers, tails, heads, load, roots)
    separator = Separator(n, workers, tails, heads)
    assert not separator.violated(load, roots, least)
    found = separator.violated(load, roots, least + 0.5)
    assert found
    for inside in found:
        entering = load[inside[heads] & ~inside[tails]].sum()
        assert inside[:workers].any()
        assert entering + roots[inside[:workers]].sum() < least + 0.5


def check_trees(instance, stage, trees, loads, roots):
    network = instance.network
    used = np.zeros(len(network.arcs))
    at_root = np.zeros(network.num_workers)
    for tree in trees:
        at_root[tree.root] += float(tree.rate)
        # Every other worker is the end of one route, and all switches are inside of routes.
        end = -1 if stage == "broadcast" else 0
        others = set(range(network.num_workers)) - {tree.root}
        assert sorted(route[end] for route in tree.routes) == sorted(others)
        for route in tree.routes:
            assert all(v >= network.num_workers for v in route[1:-1])
            for arc in pairwise(route):
                used[network.arc_index[arc]] += float(tree.rate)
    assert (used <= loads * (1 + 1e-7) + 1e-7).all()
    assert (at_root <= roots * (1 + 1e-7) + 1e-7).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(sorted(BUILDERS)))
def test_loads_of_the_cut_lp_are_packed_completely(seed, kind):
    rng = np.random.default_rng(seed)
    instance = BUILDERS[kind](rng, int(rng.integers(2, 5)), int(rng.integers(3)))
    network = instance.network
    lp = CutLp(instance)
    every = np.array(
        [[q >> v & 1 for v in range(network.num_nodes)] for q in range(2**network.num_nodes)],
        dtype=bool,
    )
    cuts = every[every[:, : network.num_workers].any(axis=1)]
    lp.add_cuts((stage, inside) for stage in lp.stages for inside in cuts)
    lp.solve(Limits())
    for stage in instance.stages:
        loads, roots = lp.loads(stage), lp.root_rates
        trees = pack_loads(instance, stage, loads, roots, Limits())
        check_trees(instance, stage, trees, loads, roots)
        assert float(sum(t.rate for t in trees)) == pytest.approx(lp.rate, rel=1e-7, abs=1e-9)


def test_fractions_are_loads_too():
    instance = known("H5")
    third = Fraction(1, 3)
    trees = pack_loads(instance, "broadcast", [2 * third] * 3, [third] * 3, Limits())
    assert float(sum(t.rate for t in trees)) == pytest.approx(1)


def test_nothing_is_packed_where_nothing_is_rooted():
    instance = known("H5")
    assert pack_loads(instance, "reduce", np.ones(3), np.zeros(3), Limits()) == []


def test_loads_that_lack_a_cut_are_packed_as_far_as_they_go():
    # All is rooted at node 0, and only 1/2 goes on from node 1 to node 2.
    instance = known("H5")
    loads, roots = np.array([1.0, 0.5, 0.0]), np.array([1.0, 0.0, 0.0])
    assert instance.network.arcs == ((0, 1), (1, 2), (2, 0))
    trees = pack_loads(instance, "broadcast", loads, roots, Limits())
    assert float(sum(t.rate for t in trees)) == pytest.approx(0.5)
