"""No order has so few reloads exactly where enumeration finds none; loops are plain Python's."""

import itertools
from functools import cache

import numpy as np
import pytest

from gadgetopt.models.bgl.cache.proving.certificate import orders as module
from gadgetopt.models.bgl.cache.proving.certificate.order_loops import (
    WORD,
    heaviest_path,
    least_to_come,
    ones,
    used_nodes,
)
from gadgetopt.models.bgl.cache.proving.certificate.orders import Prefixes, no_order_within


def random_batches(seed, most=6, most_nodes=11):
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(2, most_nodes))
    batches = [
        sorted(rng.choice(nodes, size=rng.integers(1, nodes + 1), replace=False).tolist())
        for _ in range(int(rng.integers(1, most + 1)))
    ]
    return batches, int(rng.integers(0, 7))


def reloads_of(batches, capacity):
    """Return the reloads of batches in their order: what is needed latest is dropped first."""
    held, known, reloads = set(), set(), 0
    for at, nodes in enumerate(batches):
        reloads += sum(v in known and v not in held for v in nodes)
        known |= set(nodes)
        held |= set(nodes)
        needed = {v: min((p for p in range(at + 1, len(batches)) if v in batches[p]), default=None)
                  for v in held}  # fmt: skip
        again = sorted((p, v) for v, p in needed.items() if p is not None)
        held = {v for _, v in again[:capacity]}
    return reloads


def least_reloads(batches, capacity):
    return min(reloads_of(order, capacity) for order in itertools.permutations(batches))


@pytest.mark.parametrize("seed", range(150))
def test_budgets_below_the_least_reloads_of_all_orders_are_excluded_and_no_others(seed):
    batches, capacity = random_batches(seed, 5 if seed % 3 else 6)
    best = least_reloads(batches, capacity)
    for budget in range(max(0, best - 3), best + 3):
        assert no_order_within(batches, capacity, budget) == (budget < best)


@pytest.mark.parametrize("seed", range(150))
def test_prefixes_alone_exclude_the_same(seed):
    batches, capacity = random_batches(seed, 5)
    best = least_reloads(batches, capacity)
    prefixes = Prefixes(batches, capacity)
    assert prefixes.priced_bound() <= best
    for budget in range(max(0, best - 2), min(best + 2, prefixes.repeats)):
        assert prefixes.any_within(budget) == (budget >= best)


@pytest.mark.parametrize("seed", range(8))
def test_nodes_of_several_words_count_alike(seed):
    rng = np.random.default_rng(seed)
    batches = [
        sorted(rng.choice(2 * WORD, size=WORD + 30, replace=False).tolist()) for _ in range(4)
    ]
    assert Prefixes(batches, 50).words.shape[1] >= 2
    best = least_reloads(batches, 90)
    for budget in (best - 1, best):
        assert no_order_within(batches, 90, budget) == (budget < best)


def test_ones_are_counted():
    rng = np.random.default_rng(0)
    for word in [0, 1, 2**WORD - 1, *rng.integers(0, 2**WORD, size=200).tolist()]:
        assert ones(word) == word.bit_count()


@pytest.mark.parametrize("seed", range(100))
def test_the_heaviest_path_is_that_of_all_orders(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 7))
    weight = rng.integers(0, 9, size=(count, count))
    weight = weight + weight.T
    heaviest = max(
        sum(weight[a, b] for a, b in itertools.pairwise(order))
        for order in itertools.permutations(range(count))
    )
    assert heaviest_path(weight) == heaviest


@pytest.mark.parametrize("seed", range(100))
def test_the_least_to_come_is_that_of_plain_python(seed):
    batches, capacity = random_batches(seed)
    count, most = len(batches), int(np.random.default_rng(seed).integers(0, 12))
    prefixes = Prefixes(batches, capacity)
    table = least_to_come(prefixes.words, used_nodes(prefixes.words), prefixes.capacity, most)
    full = frozenset(range(count))

    def used(some):
        return {v for b in some for v in batches[b]}

    @cache
    def plain(done, dropped):
        if done == full:
            return 0
        live = used(done) & used(full - done)
        ways = []
        for b in full - done:
            after = done | {b}
            still = min(dropped, len(live - set(batches[b])))
            need = len(used(after) & used(full - after)) - prefixes.capacity
            then = max(still, need)
            ways.append(then - still + (plain(after, then) if then <= most else 0))
        return min(*ways, most + 1)

    for done in itertools.chain.from_iterable(
        itertools.combinations(range(count), k) for k in range(count + 1)
    ):
        row = table[sum(1 << b for b in done)]
        assert row.tolist() == [*(plain(frozenset(done), d) for d in range(most + 1)), 0]


def test_too_many_states_and_batches_are_refused(monkeypatch):
    batches, capacity = [[k, k + 1, k + 2, (7 * k) % 20 + 3] for k in range(12)], 2
    batches = [sorted(set(nodes)) for nodes in batches]
    monkeypatch.setattr(module, "MOST_STATES", 3)
    with pytest.raises(ValueError, match="the check has more than 3 states"):
        Prefixes(batches, capacity).any_within(9)
    with pytest.raises(ValueError, match="21 batches, expected at most 20 for its check"):
        no_order_within([[1, 2]] * 21, 1, 0)
