"""Min-marginals of random label graphs, and the labels that they rule out."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from gadgetopt.models.oneflow_sbp.proving.min_marginals import (
    below,
    min_marginals,
)
from gadgetopt.models.oneflow_sbp.proving.order import elimination_order
from gadgetopt.models.oneflow_sbp.subproblems.graph import FORBIDDEN

from .test_elimination import random_graph


def order_of(graph):
    return elimination_order([len(d) for d in graph.domains], graph.edges)


def least_with_each_label(graph):
    """Return the min-marginals by enumeration."""
    least = [np.full(len(d), FORBIDDEN) for d in graph.domains]
    for labels in itertools.product(*(range(len(d)) for d in graph.domains)):
        value = min(graph.value(labels), FORBIDDEN)
        for o, x in enumerate(labels):
            least[o][x] = min(least[o][x], value)
    return least


@pytest.mark.parametrize("seed", range(200))
def test_min_marginals_are_those_of_enumeration(seed):
    graph = random_graph(seed, nodes=1 + seed % 6)
    for order in (order_of(graph), list(range(len(graph.domains)))):
        found = min_marginals(graph, order)
        for mine, theirs in zip(found, least_with_each_label(graph), strict=True):
            assert mine.tolist() == theirs.tolist()


@pytest.mark.parametrize("seed", range(100))
def test_cheaper_assignments_that_fit_the_memory_keep_their_labels(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(seed, nodes=5)
    tables, memory = list(graph.tables), []
    for domain in graph.domains:
        memory.append(len(tables))
        tables.append(rng.integers(0, 9, size=len(domain)))
    limit = int(rng.integers(5, 30))
    graph = replace(graph, tables=tables, memory=memory, groups=[0] * 5, limit_bytes=limit)
    cutoff = int(rng.integers(0, 120))
    kept = below(graph, order_of(graph), [int(rng.integers(0, 6))], cutoff)
    cheaper = [
        labels
        for labels in itertools.product(*(range(len(d)) for d in graph.domains))
        if graph.value(labels) < cutoff and graph.memory_bytes(labels, 1)[0] <= limit
    ]
    assert kept is not None or not cheaper
    for labels in cheaper:
        assert all(x in kept.get(o, (x,)) for o, x in enumerate(labels))
