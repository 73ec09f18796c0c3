"""Peeled arborescences span, add up to the demand and keep the capacities."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gadgetopt.pieces.graphs import arborescence_peeling
from gadgetopt.pieces.graphs.arborescence_peeling import (
    fits_words,
    peel_arborescences,
    peel_rooted_arborescences,
)
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits


def least_cut(n, arcs, capacity, root):
    """Enumerate the sets without the root: the least capacity that enters one."""
    return min(
        sum(c for (u, v), c in zip(arcs, capacity, strict=True) if inside[v] and not inside[u])
        for inside in product([False, True], repeat=n)
        if any(inside) and not inside[root]
    )


@st.composite
def networks(draw):
    """Nodes, arcs (some parallel, some into the root), capacities, root, and the most that fits."""
    n = draw(st.integers(2, 6))
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
    arcs = draw(st.lists(st.sampled_from(pairs), min_size=n, max_size=24))
    unit = draw(st.sampled_from([1, 7, 2**40]))
    capacity = [
        unit * c + d
        for c, d in draw(
            st.lists(
                st.tuples(st.integers(0, 6), st.integers(0, 1)),
                min_size=len(arcs),
                max_size=len(arcs),
            )
        )
    ]
    root = draw(st.integers(0, n - 1))
    most = least_cut(n, arcs, capacity, root)
    assume(most > 0)
    return n, arcs, capacity, root, most


def peeled(n, arcs, capacity, root, demand, clock=None):
    """Peel; assert that trees span from the root and fit; return the total rate and the packing."""
    tails, heads = np.array(arcs, dtype=np.int64).T.copy()
    sizes = np.array(capacity, dtype=np.int64)
    found = peel_arborescences(n, tails, heads, sizes, root, demand, clock)
    load = np.zeros(len(arcs), dtype=np.int64)
    for tree, rate in zip(found.trees, found.rates, strict=True):
        assert rate > 0
        reached = {root}
        for a in tree.tolist():
            u, v = arcs[a]
            assert u in reached
            assert v not in reached
            reached.add(v)
        assert len(reached) == n
        load[tree] += rate
    assert (load <= sizes).all()
    return sum(found.rates), found


@settings(deadline=None)
@given(networks())
def test_the_demand_that_every_cut_allows_is_packed_exactly(network):
    total, found = peeled(*network)
    assert found.complete
    assert total == network[-1]


@settings(deadline=None)
@given(networks(), st.integers(0, 100))
def test_a_smaller_demand_is_packed_too(network, percent):
    *rest, most = network
    demand = most * percent // 100
    assert peeled(*rest, demand)[0] == demand


@settings(deadline=None)
@given(networks())
def test_more_than_a_cut_allows_is_refused(network):
    *rest, most = network
    with pytest.raises(ValueError, match="reaches node"):
        peeled(*rest, most + 1)


@settings(deadline=None)
@given(networks())
def test_without_time_trees_still_fit_and_say_what_they_miss(network):
    total, found = peeled(*network, Clock(Limits(time_s=0.0)))
    assert found.complete == (total == network[-1])


def test_dense_network_needs_far_fewer_trees_than_arcs():
    n, rng = 24, np.random.default_rng(0)
    arcs = [(u, v) for u in range(n) for v in range(n) if u != v and v != 0]
    capacity = rng.integers(1, 101, size=len(arcs)).tolist()
    into = [sum(c for (_, v), c in zip(arcs, capacity, strict=True) if v == w) for w in range(1, n)]
    total, found = peeled(n, arcs, capacity, 0, min(into))
    assert total == min(into)
    assert len(found.trees) < len(arcs)


def test_sums_that_pass_64_bits_are_seen():
    assert fits_words(np.array([2**60, 2**59]))
    assert not fits_words(np.array([2**61, 2**61], dtype=object))
    assert not fits_words(np.array([2**62, 2**62, 2**62], dtype=np.int64))


@st.composite
def rooted_networks(draw):
    """Nodes, arcs and root rates for which a union of drawn trees is the capacity."""
    n = draw(st.integers(2, 6))
    capacity, rates = {}, [0] * n
    for _ in range(draw(st.integers(1, 6))):
        order = draw(st.permutations(range(n)))
        rate = draw(st.integers(1, 9))
        rates[order[0]] += rate
        for i in range(1, n):
            arc = order[draw(st.integers(0, i - 1))], order[i]
            capacity[arc] = capacity.get(arc, 0) + rate
    return n, list(capacity), list(capacity.values()), rates


@settings(deadline=None)
@given(rooted_networks())
def test_every_root_gets_trees_of_its_rate(network):
    n, arcs, capacity, rates = network
    tails, heads = np.array(arcs, dtype=np.int64).T.copy()
    roots, found = peel_rooted_arborescences(
        n, tails, heads, np.array(capacity), np.array(rates, dtype=np.int64)
    )
    load, given_rates = np.zeros(len(arcs), dtype=np.int64), [0] * n
    for root, tree, rate in zip(roots, found.trees, found.rates, strict=True):
        reached = {root}
        for a in tree.tolist():
            u, v = arcs[a]
            assert u in reached
            assert v not in reached
            reached.add(v)
        assert len(reached) == n
        load[tree] += rate
        given_rates[root] += rate
    assert given_rates == rates
    assert (load <= capacity).all()


@settings(deadline=None)
@given(rooted_networks())
def test_roots_that_send_more_than_a_cut_allows_are_refused(network):
    n, arcs, capacity, rates = network
    tails, heads = np.array(arcs, dtype=np.int64).T.copy()
    more = np.array(rates, dtype=np.int64)
    # The other nodes' arcs and rates hold less than that.
    more[0] += sum(capacity) + 1
    with pytest.raises(ValueError, match="reaches node"):
        peel_rooted_arborescences(n, tails, heads, np.array(capacity), more)


@settings(max_examples=200, deadline=None)
@given(networks())
def test_trees_end_where_there_is_room_for_one_set_only(drawn):
    # Two arcs that sets refuse in turn: each set was forgotten for the other's, without end.
    n, arcs, capacity, root, most = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arborescence_peeling, "MOST_SETS", 1)
        total, _ = peeled(n, arcs, capacity, root, most)
    assert total == most
