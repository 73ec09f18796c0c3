"""Elimination, mini-buckets, dominance and messages on random label graphs."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.oneflow_sbp.proving.dominance import undominated
from gadgetopt.models.oneflow_sbp.proving.elimination import (
    TooWide,
    eliminate,
)
from gadgetopt.models.oneflow_sbp.proving.messages import (
    Reparametrisation,
    Reweighting,
)
from gadgetopt.models.oneflow_sbp.proving.order import elimination_order
from gadgetopt.models.oneflow_sbp.proving.reweighted import Reweighter
from gadgetopt.models.oneflow_sbp.subproblems.graph import FORBIDDEN, LabelGraph


def random_graph(seed, *, nodes=6, most_labels=4, repeated=0):
    """Return a label graph; its nodes have `repeated` more labels that others' tables equal."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, most_labels + 1, size=nodes)
    tables, edges = [], []

    def table(*shape):
        made = rng.integers(0, 20, size=shape)
        made = np.where(rng.random(shape) < 0.15, FORBIDDEN, made)
        for axis in range(len(shape)):
            made = np.concatenate([made, made.take([0] * repeated, axis=axis)], axis=axis)
        tables.append(made.astype(np.int64))
        return len(tables) - 1

    unary = [table(n) for n in sizes]
    for u, v in itertools.combinations(range(nodes), 2):
        if rng.random() < 0.6:
            edges.extend([(u, v, table(sizes[u], sizes[v]))] * rng.integers(1, 3))
    domains = [tuple(range(n + repeated)) for n in sizes]
    tables.append(np.zeros(1, dtype=np.int64))
    return LabelGraph(
        domains, unary, edges, tables, Fraction(1), True, unary, [-1] * nodes, None, nodes
    )


def least(graph):
    ranges = (range(len(d)) for d in graph.domains)
    return min(graph.value(labels) for labels in itertools.product(*ranges))


def order_of(graph):
    return elimination_order([len(d) for d in graph.domains], graph.edges)


@pytest.mark.parametrize("repeated", [0, 9])
def test_elimination_is_exact_in_any_order(repeated):
    for seed in range(40 if repeated == 0 else 4):
        nodes = 6 if repeated == 0 else 3
        graph = random_graph(seed, nodes=nodes, repeated=repeated)
        optimum = least(graph)
        for order in (order_of(graph), list(np.random.default_rng(seed).permutation(nodes))):
            done = eliminate(graph, [int(o) for o in order])
            assert done.feasible == (optimum < FORBIDDEN)
            if done.feasible:
                assert done.value == optimum == graph.value(done.labels())


def test_mini_buckets_are_a_lower_bound():
    below = 0
    for seed in range(40):
        graph = random_graph(seed, nodes=7)
        optimum = least(graph)
        for most_cells in (1, 8, 40):
            done = eliminate(graph, order_of(graph), most_cells)
            assert min(done.value, FORBIDDEN) <= min(optimum, FORBIDDEN)
            below += done.value < optimum
    assert below > 0


def test_too_wide_is_said_before_it_is_done():
    with pytest.raises(TooWide):
        eliminate(random_graph(1), order_of(random_graph(1)), most_sums=3)


def test_an_elimination_takes_the_sums_that_it_may_and_no_more():
    for seed in range(20):
        graph = random_graph(seed)
        order, done = order_of(graph), eliminate(graph, order_of(graph))
        assert eliminate(graph, order, most_sums=done.sums).value == done.value
        with pytest.raises(TooWide):
            eliminate(graph, order, most_sums=done.sums - 1)


def test_without_dominated_labels_the_optimum_stays():
    removed = 0
    for seed in range(60):
        graph = random_graph(seed)
        kept = undominated(graph).kept
        left = graph.restricted(kept)
        removed += sum(map(len, graph.domains)) - sum(map(len, left.domains))
        assert min(least(left), FORBIDDEN) == min(least(graph), FORBIDDEN)
    assert removed > 0


def test_merged_pairs_cost_the_same():
    for seed in range(20):
        graph = random_graph(seed)
        merged = graph.merged()
        assert len({(u, v) for u, v, _ in merged.edges}) == len(merged.edges)
        assert min(least(merged), FORBIDDEN) == min(least(graph), FORBIDDEN)


def test_any_messages_bound_the_optimum_and_what_they_rule_out_is_not_below_the_cutoff():
    for seed in range(40):
        graph = random_graph(seed).merged()
        optimum = least(graph)
        if optimum >= FORBIDDEN:
            continue
        rng = np.random.default_rng(seed)
        sent = [
            tuple(rng.integers(-9, 9, size=len(graph.domains[o])) for o in (u, v))
            for u, v, _ in graph.edges
        ]
        moved = Reparametrisation(graph, sent)
        assert moved.bound <= optimum
        kept = moved.below(optimum + 1)
        assert kept is not None
        assert least(graph.restricted(kept)) == optimum


def test_sweeps_raise_the_bound():
    raised = 0
    for seed in range(30):
        graph = random_graph(seed).merged()
        optimum = least(graph)
        if optimum >= FORBIDDEN:
            continue
        state = Reweighting(graph)
        first = Reparametrisation(graph, state.messages()).bound
        for _ in range(30):
            state.sweep()
        last = Reparametrisation(graph, state.messages()).bound
        assert last <= optimum
        raised += last > first
    assert raised > 10


@pytest.mark.parametrize("repeated", [0, 3])
def test_sweeps_by_classes_of_labels_are_those_of_whole_tables(repeated):
    for seed in range(10):
        graph = random_graph(seed, repeated=repeated).merged()
        state = Reweighting(graph)
        to_first = [np.zeros(len(graph.domains[u])) for u, _, _ in graph.edges]
        to_second = [np.zeros(len(graph.domains[v])) for _, v, _ in graph.edges]
        for _ in range(3):
            state.sweep()
            sweep_of_whole_tables(graph, to_first, to_second)
        for kept, plain in zip(state.to_first, to_first, strict=True):
            assert np.array_equal(kept, plain)
        for kept, plain in zip(state.to_second, to_second, strict=True):
            assert np.array_equal(kept, plain)


def sweep_of_whole_tables(graph, to_first, to_second):
    """Pass messages forward and backward, each over all labels of both nodes."""
    nodes = range(len(graph.domains))
    for forward in (True, False):
        for o in nodes if forward else reversed(nodes):
            before = [e for e, (_, v, _) in enumerate(graph.edges) if v == o]
            after = [e for e, (u, _, _) in enumerate(graph.edges) if u == o]
            part = graph.tables[graph.unary[o]].astype(np.float64)
            for message in [*(to_second[e] for e in before), *(to_first[e] for e in after)]:
                part = part + message
            part = part * (1 / max(len(before), len(after), 1))
            for e in after if forward else before:
                table = graph.tables[graph.edges[e][2]].astype(np.float64)
                mine, theirs = (to_first, to_second) if forward else (to_second, to_first)
                rows = table if forward else table.T
                least = (rows + (part - mine[e])[:, None]).min(axis=0)
                theirs[e][:] = np.minimum(least - least.min(), float(FORBIDDEN // 4))


def test_messages_then_elimination_close_the_gap():
    for seed in range(30):
        graph = random_graph(seed, nodes=8)
        optimum = least(graph) if seed < 10 else eliminate(graph, order_of(graph)).value
        if optimum >= FORBIDDEN:
            continue
        found = Reweighter(graph, FORBIDDEN, 10**6, lambda: False).run(100, 0.0)
        assert found.bound == optimum == found.value == graph.value(found.labels)
