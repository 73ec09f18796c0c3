"""The search over prefixes finds an order within a budget exactly where there is one."""

import itertools

import numpy as np
import pytest

from gadgetopt.models.bgl.cache.proving.prefix_search import PrefixSearch
from gadgetopt.models.bgl.cache.proving.reload_tables import Incidence, OutOfTimeError, SubsetTables
from gadgetopt.models.bgl.cache.subproblems.ordering import heavy_path, overlaps, reloads_of
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits


def random_batches(seed, most=6):
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(2, 11))
    batches = [
        sorted(rng.choice(nodes, size=rng.integers(1, nodes + 1), replace=False).tolist())
        for _ in range(int(rng.integers(1, most + 1)))
    ]
    return batches, int(rng.integers(0, 7))


def least_reloads(batches, capacity):
    orders = itertools.permutations(range(len(batches)))
    return min(reloads_of(batches, order, capacity) for order in orders)


@pytest.mark.parametrize("seed", range(60))
def test_the_least_budget_with_an_order_is_that_of_all_orders(seed):
    batches, capacity = random_batches(seed)
    best = least_reloads(batches, capacity)
    search = PrefixSearch(batches, capacity, Clock())
    assert search.root_bound() <= best
    if best:
        assert search.order_within(best - 1) is None
    order = search.order_within(best)
    assert sorted(order) == list(range(len(batches)))
    assert reloads_of(batches, order, capacity) == best


@pytest.mark.parametrize("seed", range(20))
def test_a_beam_finds_orders_only(seed):
    batches, capacity = random_batches(seed)
    found = PrefixSearch(batches, capacity, Clock()).order_within(60, width=3)
    assert found is None or sorted(found) == list(range(len(batches)))


def test_more_than_64_repeated_nodes_take_two_words():
    batches = [list(range(70)), [*range(30, 70), 100], list(range(40))]
    search = PrefixSearch(batches, 35, Clock())
    assert Incidence(batches).words == 2
    best = least_reloads(batches, 35)
    assert search.order_within(best - 1) is None
    assert reloads_of(batches, search.order_within(best), 35) == best


@pytest.mark.parametrize("seed", range(20))
def test_heaviest_paths_are_those_of_all_orders(seed):
    batches, capacity = random_batches(seed, most=5)
    weight = overlaps(batches)
    tables = SubsetTables(Incidence(batches), capacity, Clock())
    found = tables.heaviest_paths(weight)
    best = max(
        sum(weight[a, b] for a, b in itertools.pairwise(order))
        for order in itertools.permutations(range(len(batches)))
    )
    assert max(found[1 << b, b] for b in range(len(batches))) == best
    path = heavy_path(weight, 0)
    assert sorted(path) == list(range(len(batches)))


def test_without_time_the_search_says_so():
    batches, _ = random_batches(3)
    with pytest.raises(OutOfTimeError):
        PrefixSearch(batches, 2, Clock(Limits(time_s=0.0)))
