"""Belady's sweep, its dual, the flow and its potentials agree."""

import numpy as np
import pytest

from gadgetopt.models.bgl.cache.heuristics.network import keep_by_flow, prices_of_flow
from gadgetopt.models.bgl.cache.subproblems import sweep
from gadgetopt.models.bgl.cache.subproblems.intervals import intervals_of, intervals_of_uses


def random_intervals(seed):
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(1, 12))
    batches = [
        sorted(rng.choice(nodes, size=rng.integers(1, nodes + 1), replace=False).tolist())
        for _ in range(int(rng.integers(1, 20)))
    ]
    return batches, intervals_of(batches), int(rng.integers(0, 8))


def most_held(intervals, kept):
    held = np.zeros(intervals.boundaries + 1, dtype=int)
    for s, e in zip(intervals.start[kept], intervals.end[kept], strict=True):
        held[s:e] += 1
    return held.max(initial=0)


@pytest.mark.parametrize("seed", range(60))
def test_sweep_dual_and_flow_have_the_same_value(seed):
    _, intervals, capacity = random_intervals(seed)
    kept = sweep.keep_earliest_ends(intervals, capacity)
    assert most_held(intervals, kept) <= capacity
    priced = sweep.unit_prices(intervals, capacity)
    pairs = list(zip(intervals.start.tolist(), intervals.end.tolist(), strict=True))
    outside = sum(not any(s <= i < e for i in priced) for s, e in pairs)
    assert kept.sum() == capacity * len(priced) + outside
    saving = np.ones(len(pairs), dtype=np.int64)
    assert keep_by_flow(intervals, capacity, saving).sum() == kept.sum()


@pytest.mark.parametrize("seed", range(60))
def test_array_and_heap_keep_the_same(seed):
    _, intervals, capacity = random_intervals(seed)
    if capacity and len(intervals.node):
        on_heap = sweep._keep_on_heap(intervals, capacity)
        assert (sweep._keep_in_array(intervals, capacity) == on_heap).all()


@pytest.mark.parametrize("seed", range(60))
def test_prices_of_a_flow_prove_it_optimal(seed):
    _, intervals, capacity = random_intervals(seed)
    saving = np.random.default_rng(seed).integers(1, 9, size=len(intervals.node))
    kept = keep_by_flow(intervals, capacity, saving)
    prices = np.array(prices_of_flow(intervals, capacity, saving, kept), dtype=np.int64)
    assert (prices >= 0).all()
    below = np.concatenate([[0], np.cumsum(prices)])
    rent = below[intervals.end] - below[intervals.start]
    bound = capacity * prices.sum() + np.maximum(0, saving - rent).sum()
    assert bound == saving[kept].sum()


@pytest.mark.parametrize("seed", range(30))
def test_intervals_are_consecutive_uses(seed):
    batches, intervals, _ = random_intervals(seed)
    expected = set()
    last = {}
    for p, nodes in enumerate(batches):
        for v in nodes:
            if v in last:
                expected.add((v, last[v], p))
            last[v] = p
    triples = zip(intervals.node, intervals.start, intervals.end, strict=True)
    assert {tuple(map(int, t)) for t in triples} == expected
    assert (np.diff(intervals.end) >= 0).all()


def test_nodes_of_any_number_of_digits_have_intervals():
    found = intervals_of([[1, 10**40], [10**40], [1]])
    assert [(v, s, e) for v, s, e in zip(found.node, found.start, found.end, strict=True)] == [
        (10**40, 0, 1),
        (1, 0, 2),
    ]


def test_an_empty_sequence_has_no_intervals():
    empty = np.zeros(0, dtype=np.int64)
    assert len(intervals_of_uses(empty, empty, 1).node) == 0
