"""Edge splitting removes switches, keeps the capacities and cuts no worker off."""

from __future__ import annotations

import itertools
from collections import Counter, deque
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.forest_packing.data.generate.topologies import star
from gadgetopt.models.forest_packing.subproblems.edge_splitting import split_off_switches
from gadgetopt.models.forest_packing.subproblems.rooted_cuts import (
    Digraph,
    gated_graph,
    tightest_cut,
)
from gadgetopt.models.forest_packing.subproblems.strength import capacity_matrix
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ..networks import BUILDERS, eulerian, symmetric

NO_TIME = Clock(Limits(time_s=0.0))


def scaled(network):
    """Capacities and trees per root, integer, of the best uniform allgather (A6.2)."""
    n = network.num_workers
    uniform = {r: Fraction(1, n) for r in range(n)}
    rate = tightest_cut(gated_graph(network, "broadcast")[0], uniform, range(n)).rate
    per_root = rate / n
    return capacity_matrix(network) * per_root.denominator, [per_root.numerator] * n


def assert_ways(num_workers, matrix, ways):
    load = Counter()
    for (u, t), way in ways.items():
        for route, units in way:
            assert (route[0], route[-1]) == (u, t)
            assert max(u, t) < num_workers <= min(route[1:-1], default=num_workers)
            assert len(set(route)) == len(route)
            assert units > 0
            for arc in itertools.pairwise(route):
                load[arc] += units
    assert all(units <= matrix[arc] for arc, units in load.items())


@given(st.integers(0, 2**32), st.sampled_from([symmetric, eulerian]))
def test_eulerian_networks_keep_their_rate(seed, build):
    rng = np.random.default_rng(seed)
    network = build(rng, int(rng.integers(2, 6)), int(rng.integers(1, 4))).network
    matrix, roots = scaled(network)
    n = network.num_workers
    ways = split_off_switches(n, matrix, roots)
    assert_ways(n, matrix, ways)
    room = [sum(units for _, units in way) for way in ways.values()]
    between = Digraph(n, [u for u, _ in ways], [t for _, t in ways], room)
    uniform = {r: Fraction(1, n) for r in range(n)}
    assert tightest_cut(between, uniform, range(n)).rate >= sum(roots)


@given(st.integers(0, 2**32), st.sampled_from(sorted(BUILDERS)))
def test_ways_stay_within_the_capacities(seed, builder):
    rng = np.random.default_rng(seed)
    network = BUILDERS[builder](rng, int(rng.integers(2, 5)), int(rng.integers(4))).network
    matrix, roots = scaled(network)
    assert_ways(network.num_workers, matrix, split_off_switches(network.num_workers, matrix, roots))


def test_a_star_becomes_complete():
    # 4 workers with 3 units each: one unit to each of the others.
    network = star(4, 3.0).instance().network
    ways = split_off_switches(4, capacity_matrix(network) * 3, [1] * 4)
    assert ways == {(u, t): deque([((u, 4, t), 1)]) for u in range(4) for t in range(4) if u != t}


def test_more_than_the_network_carries_is_an_error():
    network = star(4, 3.0).instance().network
    with pytest.raises(ValueError, match="root_multiplicity"):
        split_off_switches(4, capacity_matrix(network), [1] * 4)


def test_time_is_up_before_the_switches_are_gone():
    network = star(4, 3.0).instance().network
    with pytest.raises(TimeoutError):
        split_off_switches(4, capacity_matrix(network) * 3, [1] * 4, clock=NO_TIME)
