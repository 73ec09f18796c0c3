"""The auto-parallel search: its eliminations are exact, its parts do what their names say."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.models.oneflow_sbp.algorithms import neighbourhood
from gadgetopt.models.oneflow_sbp.algorithms.auto_parallel import auto_parallel
from gadgetopt.models.oneflow_sbp.algorithms.inference import compiler_greedy
from gadgetopt.models.oneflow_sbp.algorithms.neighbourhood import feasible_start, improve
from gadgetopt.models.oneflow_sbp.algorithms.reduction import Reduction
from gadgetopt.models.oneflow_sbp.data.generate import presets
from gadgetopt.models.oneflow_sbp.evaluate import evaluate
from gadgetopt.models.oneflow_sbp.heuristics.search_variants import (
    auto_parallel_tuned,
    neighbourhoods,
)
from gadgetopt.models.oneflow_sbp.proving.exact.elimination import elimination
from gadgetopt.models.oneflow_sbp.subproblems.graph import FORBIDDEN, LabelGraph
from gadgetopt.system.methods import find_method
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits

RNG = np.random.default_rng(0)


def run(instance, **parameters):
    return auto_parallel(instance, Limits(), **parameters)


def value(instance, outcome):
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible
    return evaluation.objective


def random_graph(rng, nodes=6, edges=9, forbidden=0.15) -> LabelGraph:
    """Return a small label graph of random tables."""
    sizes = rng.integers(2, 4, nodes).tolist()
    tables = [rng.integers(0, 50, n) for n in sizes]
    pairs = [(u, v) for u in range(nodes) for v in range(u + 1, nodes)]
    chosen = [pairs[k] for k in rng.permutation(len(pairs))[:edges]]
    listed = []
    for u, v in chosen:
        table = rng.integers(0, 50, (sizes[u], sizes[v]))
        table[rng.random(table.shape) < forbidden] = FORBIDDEN
        listed.append((u, v, len(tables)))
        tables.append(table)
    return LabelGraph(
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


def brute_force(graph: LabelGraph) -> int:
    sizes = [range(len(d)) for d in graph.domains]
    return min(graph.value(labels) for labels in product(*sizes))


def left_over(reduced: Reduction) -> int:
    nodes = list(reduced.costs)
    sizes = [range(len(reduced.costs[o])) for o in nodes]
    return min(reduced.value(dict(zip(nodes, labels, strict=True))) for labels in product(*sizes))


@pytest.mark.parametrize("seed", range(30))
def test_eliminations_and_merging_keep_the_optimum(seed):
    graph = random_graph(np.random.default_rng(seed))
    best = brute_force(graph)
    reduced = Reduction(graph)
    reduced.reduce(100)
    if best >= FORBIDDEN:
        assert left_over(reduced) >= FORBIDDEN
        return
    assert left_over(reduced) == best
    nodes = list(reduced.costs)
    sizes = [range(len(reduced.costs[o])) for o in nodes]
    for labels in product(*sizes):
        given = dict(zip(nodes, labels, strict=True))
        if reduced.value(given) < FORBIDDEN:
            assert graph.value(reduced.unfolded(given)) == reduced.value(given)


@pytest.mark.parametrize("seed", range(20))
def test_a_feasible_start_is_found_where_there_is_one(seed):
    graph = random_graph(np.random.default_rng(seed), forbidden=0.4)
    labels = feasible_start(Reduction(graph), lambda: False)
    if labels is None:
        assert brute_force(graph) >= FORBIDDEN
    else:
        assert graph.value([labels[o] for o in range(len(labels))]) < FORBIDDEN


@pytest.mark.parametrize("seed", range(20))
def test_a_neighbourhood_of_all_nodes_is_searched_exhaustively(seed):
    graph = random_graph(np.random.default_rng(seed), nodes=4, edges=6, forbidden=0)
    reduced = Reduction(graph)
    labels = improve(reduced, dict.fromkeys(range(4), 0), 3, lambda: False)
    assert reduced.value(labels) == brute_force(graph)


@pytest.mark.parametrize("ring", [0, 1, 3])
def test_neighbourhoods_never_make_it_worse(ring):
    for seed in range(10):
        graph = random_graph(np.random.default_rng(seed), nodes=8, edges=14, forbidden=0)
        reduced = Reduction(graph)
        start = dict.fromkeys(range(8), 0)
        found = improve(reduced, start, ring, lambda: False)
        assert brute_force(graph) <= reduced.value(found) <= reduced.value(start)


@pytest.mark.parametrize(
    ("preset", "parameters"),
    [
        ("mlp_train", {"widths": "4,8,4", "batch": 8, "devices": 2}),
        ("mlp_train", {"widths": "64,96,64,32", "batch": 64, "devices": "2x2"}),
        ("wide_embedding", {}),
        ("two_placements", {}),
        ("transformer", {"layers": 1}),
    ],
)
def test_it_lies_between_the_optimum_and_the_compilers_pass(preset, parameters):
    instance = getattr(presets, preset)(RNG, **parameters)
    best = elimination(instance, Limits()).claimed_objective
    greedy = value(instance, compiler_greedy(instance))
    assert best <= value(instance, run(instance))
    assert best <= value(instance, neighbourhoods(instance, Limits(), start="first", ring=0))
    assert best <= value(instance, neighbourhoods(instance, Limits())) <= greedy


def test_h1_all_nodes_are_eliminated_and_the_result_is_optimal():
    instance = presets.mlp_train(RNG, widths="4,8,4", batch=8, devices=2, compute_ratio=0.2)
    outcome = run(instance)
    assert outcome.notes["nodes_left"] <= 2
    assert float(outcome.claimed_objective) == pytest.approx(537.6, abs=1e-12)


def test_more_weight_of_memory_takes_less_of_it():
    instance = presets.paper(RNG, layers=6)
    used = []
    for memory in ("off", "slight", "moderate", "heavy"):
        outcome = run(instance, memory=memory)
        used.append(evaluate(instance, outcome.solution).components["memory_bytes"])
    assert used == sorted(used, reverse=True)
    assert used[0] > used[-1]


def test_the_adaptive_weight_grows_until_memory_suffices():
    whole = presets.paper(RNG, layers=6)
    free = evaluate(whole, run(whole).solution).components["memory_bytes"]
    limited = whole.model_copy(update={"memory_limit_bytes": int(0.97 * free)})
    outcome = run(limited)
    assert evaluate(limited, outcome.solution).feasible
    weights = outcome.notes["memory_weights"]
    assert weights[:2] == [0.0, 0.1]
    assert all(b in (min(22.0, 2 * a), 22.0, 0.1) for a, b in pairwise(weights))
    assert value(limited, outcome) >= value(whole, run(whole))


def test_too_little_memory_gives_no_solution():
    instance = presets.paper(RNG, layers=3).model_copy(update={"memory_limit_bytes": 1000})
    outcome = run(instance)
    assert outcome.solution is None
    assert outcome.notes["memory_weights"] == [0.0, 22.0]


@pytest.mark.parametrize("parameters", [{"most_merged": -1}, {"ring": 7}, {"reserve": 0.5}])
def test_wrong_options_are_refused(parameters):
    with pytest.raises(ModelRefused):
        auto_parallel_tuned(presets.mlp_train(RNG), Limits(), **parameters)


def test_other_constants_are_those_of_the_search():
    for seed in range(5):
        instance = presets.paper(np.random.default_rng(seed), layers=3)
        own = run(instance)
        same = auto_parallel_tuned(instance, Limits(), most_merged=100, reserve=1.04 * 1.06)
        assert same.solution == own.solution
        assert same.notes == own.notes


@pytest.mark.parametrize(
    ("former", "now"),
    [
        ("auto_parallel:reduce=false:start=greedy", "neighbourhoods"),
        ("auto_parallel:reduce=true", "auto_parallel"),
        ("auto_parallel:memory=off:ring=2", "auto_parallel_tuned"),
    ],
)
def test_a_former_spelling_says_what_it_is_called_now(former, now):
    with pytest.raises(InputError, match=f"is now the method '{now}'"):
        find_method(problem("oneflow_sbp"), former)


def test_neighbours_are_chosen_in_parts_whose_tables_fit(monkeypatch):
    graph = Reduction(random_graph(np.random.default_rng(3), nodes=7, edges=18))
    o = max(graph.edges, key=lambda v: len(graph.edges[v]))
    around = list(graph.edges[o])
    assert len(next(neighbourhood._parts(graph, o, around, 3))) == 4
    for most in (1, 8, 64, 512):
        monkeypatch.setattr(neighbourhood, "MOST_CELLS", most)
        parts = list(neighbourhood._parts(graph, o, around, 3))
        assert [v for part in parts for v in part[1:]] == around
        for part in parts:
            assert part[0] == o
            assert len(part) == 2 or neighbourhood._largest_table(graph, part) <= most
    assert list(neighbourhood._parts(graph, o, around, 0)) == [[o]]


def test_wide_merged_nodes_do_not_fill_the_memory():
    instance = presets.mixture_of_experts(np.random.default_rng(98))
    outcome = auto_parallel_tuned(instance, Limits(time_s=60))
    assert outcome.limit_hit is None
    assert value(instance, outcome) <= value(instance, compiler_greedy(instance))
