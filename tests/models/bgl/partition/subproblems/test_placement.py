"""Completion at the least cost, local search, repair of loads, and orders."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.bgl.partition.data.generate.presets import planted
from gadgetopt.models.bgl.partition.evaluate import evaluate
from gadgetopt.models.bgl.partition.instance import BglPartitionSolution
from gadgetopt.models.bgl.partition.proving.elimination_order import narrow_order
from gadgetopt.models.bgl.partition.proving.terms import terms_of
from gadgetopt.models.bgl.partition.subproblems import completion, local_search
from gadgetopt.models.bgl.partition.subproblems.balance import balanced
from gadgetopt.models.bgl.partition.subproblems.local_search import Weighted, improve
from gadgetopt.search.clock import Clock

from ..brute_force import INSTANCES


def test_the_other_nodes_are_placed_at_the_least_cost():
    tried = 0
    for instance in INSTANCES[:120]:
        if instance.weights == "edge":
            continue
        trained = list(instance.train_nodes)
        part_of = {t: r % instance.num_parts for r, t in enumerate(trained)}
        whole = completion.complete(instance, part_of)
        others = [v for v in range(instance.num_nodes) if v not in part_of]
        costs = []
        for parts in itertools.product(range(instance.num_parts), repeat=len(others)):
            full = {**part_of, **dict(zip(others, parts, strict=True))}
            part = tuple(full[v] for v in range(instance.num_nodes))
            found = evaluate(instance, BglPartitionSolution(part=part))
            if found.feasible:
                costs.append(found.objective)
        if whole is None:
            assert not costs
        else:
            assert instance.pair_weights.cut(whole) == min(costs)
            tried += 1
    assert tried > 60


def test_a_large_rest_is_placed_greedily_within_the_rooms(monkeypatch):
    monkeypatch.setattr(completion, "MOST_ENTRIES", 0)
    for instance in INSTANCES[:60]:
        if instance.weights == "requests":
            part_of = {t: r % instance.num_parts for r, t in enumerate(instance.train_nodes)}
            whole = completion.complete(instance, part_of)
            if whole is not None:
                assert evaluate(instance, BglPartitionSolution.of(whole)).feasible


def test_local_search_keeps_caps_and_never_ends_dearer():
    for seed in range(10):
        instance = planted(np.random.default_rng(seed), nodes=40, parts=3)
        weighted = Weighted.of(instance)
        part = np.arange(40) % 3
        trained = np.flatnonzero(weighted.trained)
        part[trained] = np.arange(len(trained)) % 3
        part = balanced(part, weighted.trained, weighted.pull(part), 14, 3)
        for memory in (False, True):
            rng = np.random.default_rng(0)
            better = improve(weighted, part, Clock(), rng, memory=memory)
            assert weighted.cut(better) <= weighted.cut(part)
            assert evaluate(instance, BglPartitionSolution.of(better)).feasible
            scaled = weighted.cut(better)
            assert instance.pair_weights.cut(better) * instance.pair_weights.scale == scaled


def test_local_search_is_the_same_with_and_without_a_full_matrix(monkeypatch):
    found = []
    for most_dense in (local_search.MOST_DENSE, 0):
        monkeypatch.setattr(local_search, "MOST_DENSE", most_dense)
        for seed in range(5):
            instance = planted(np.random.default_rng(seed), nodes=40, parts=3)
            weighted = Weighted.of(instance)
            part = balanced(np.arange(40) % 3, weighted.trained, np.zeros((40, 3)), 14, 3)
            better = improve(weighted, part, Clock(), np.random.default_rng(0))
            found.append(better.tolist())
    assert found[:5] == found[5:]


@given(st.integers(0, 10**6))
def test_repair_brings_any_partition_within_the_caps(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 40)), int(rng.integers(2, 6))
    trained = rng.random(n) < rng.random()
    node_cap, train_cap = -(-n // k), max(1, -(-int(trained.sum()) // k))
    part = rng.integers(0, k, n) if rng.random() < 0.7 else np.zeros(n, dtype=np.int64)
    found = balanced(part, trained, rng.integers(0, 9, (n, k)), node_cap, train_cap)
    assert np.bincount(found, minlength=k).max() <= node_cap
    assert np.bincount(found[trained], minlength=k).max(initial=0) <= train_cap


def test_orders_have_every_branched_node_once():
    for instance in INSTANCES[:60]:
        terms = terms_of(instance)
        assert sorted(narrow_order(terms)) == sorted(terms.pairs)


def first_order(terms, start):
    """Return the order from a first node, as the rule says it, node by node."""
    near = {v: set(others) for v, others in terms.pairs.items()}
    for v, u in itertools.combinations(near, 2):
        if terms.stars[v].keys() & terms.stars[u].keys():
            near[v].add(u)
            near[u].add(v)
    order, width_sum = [], 0

    def key(v):
        behind = {*order, v}
        after = {u for u in behind if near[u] - behind}
        return len(after), len(near[v] - behind), v

    while len(order) < len(near):
        rest = set(near) - set(order)
        beside = {u for v in order for u in near[v]} & rest
        first = {start} if not order else {min(rest, key=lambda v: (len(near[v]), v))}
        order.append(min(beside or first, key=key))
        frontier = {v for v in order if near[v] - set(order)}
        width_sum += terms.parts ** len(frontier)
    return width_sum, order


def test_orders_are_the_narrowest_of_those_from_some_first_nodes():
    for seed in range(4):
        instance = planted(np.random.default_rng(seed), nodes=40, train_share=0.3, outside=1.0)
        terms = terms_of(instance)
        assert len(terms.pairs) <= 12  # so that every node is a first one
        best = min(first_order(terms, start) for start in terms.pairs)
        assert narrow_order(terms) == best[1]


def test_an_order_that_is_stopped_has_every_branched_node_once():
    terms = terms_of(planted(np.random.default_rng(0), nodes=60, train_share=0.5))
    asked = itertools.count()
    order = narrow_order(terms, lambda: next(asked) >= 5)
    assert sorted(order) == sorted(terms.pairs)
