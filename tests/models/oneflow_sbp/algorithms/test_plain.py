"""The fast pass and the fast search are the printed ones."""

import math
from functools import partial

import numpy as np
import pytest

from gadgetopt.models.oneflow_sbp.algorithms import plain
from gadgetopt.models.oneflow_sbp.algorithms.auto_parallel import auto_parallel
from gadgetopt.models.oneflow_sbp.algorithms.inference import signatures_of
from gadgetopt.models.oneflow_sbp.algorithms.neighbourhood import feasible_start, improve
from gadgetopt.models.oneflow_sbp.algorithms.reduction import Reduction
from gadgetopt.models.oneflow_sbp.evaluate import evaluate
from gadgetopt.models.oneflow_sbp.subproblems.graph import FORBIDDEN, LabelGraph
from gadgetopt.system.result import Limits

from ..brute_force import listed_instance, random_instance


@pytest.mark.parametrize("block", range(10))
def test_the_fast_pass_takes_the_same_signatures_as_the_printed_one(block):
    for seed in range(20 * block, 20 * (block + 1)):
        for instance in (random_instance(seed), listed_instance(seed)):
            assert signatures_of(instance, {})[0] == plain.compiler_greedy(instance)


@pytest.mark.parametrize("drawn", [partial(random_instance, shared=False), listed_instance])
@pytest.mark.parametrize("block", range(10))
def test_the_fast_search_takes_the_same_signatures_as_the_printed_one(block, drawn):
    for seed in range(20 * block, 20 * (block + 1)):
        instance = drawn(seed)
        printed = plain.auto_parallel(instance)
        fast = auto_parallel(instance, Limits())
        assert (fast.solution is None) == (printed is None), seed
        if printed is not None:
            values = [evaluate(instance, s).objective for s in (fast.solution, printed)]
            assert values[0] == values[1], seed
            assert fast.solution == printed, seed


def dense_graphs(seed):
    """The same random tables, too dense to be eliminated, for the fast and the printed search."""
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(5, 8))
    sizes = rng.integers(2, 4, nodes).tolist()
    tables = [rng.integers(0, 1000, n) for n in sizes]
    printed, listed = plain.Graph(), []
    for o, table in enumerate(tables):
        printed.add_node(o, table.tolist())
    for u in range(nodes):
        for v in range(u + 1, nodes):
            if rng.random() < 0.85:
                table = rng.integers(0, 1000, (sizes[u], sizes[v]))
                table[rng.random(table.shape) < 0.15] = FORBIDDEN
                listed.append((u, v, len(tables)))
                tables.append(table)
                costs = [[math.inf if c == FORBIDDEN else c for c in row] for row in table.tolist()]
                printed.add_pair(u, v, costs)
    fast = LabelGraph(
        domains=[tuple(range(n)) for n in sizes],
        unary=list(range(nodes)),
        edges=listed,
        tables=tables,
        scale=1,
        exact=True,
        memory=list(range(nodes)),
        groups=[0] * nodes,
        limit_bytes=None,
        operators=nodes,
    )
    return fast, printed


@pytest.mark.parametrize("most", [0, 6, 100])
def test_merging_starts_and_neighbourhoods_are_the_printed_ones(most):
    for seed in range(60):
        graph, printed = dense_graphs(seed)
        reduced = Reduction(graph)
        reduced.reduce(most)
        labels = dict.fromkeys(reduced.costs, 0)
        if reduced.value(labels) >= FORBIDDEN:
            labels = feasible_start(reduced, lambda: False)
        expected = plain.chosen_labels(printed, most)
        assert (labels is None) == (expected is None)
        if labels is not None:
            found = reduced.unfolded(improve(reduced, labels, 3, lambda: False))
            if graph.value(found) < FORBIDDEN:
                assert dict(enumerate(found)) == expected
            else:  # there is nothing feasible, and all labels are alike
                assert dense_graphs(seed)[1].value(expected) == math.inf
