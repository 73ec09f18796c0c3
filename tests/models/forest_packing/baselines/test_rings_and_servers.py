"""Baselines have the rates of their time formulas, and feasible plans."""

from __future__ import annotations

import contextlib
import itertools
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
from calling import called
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.models.forest_packing.baselines.ring_order import best_ring
from gadgetopt.models.forest_packing.baselines.rings_and_servers import (
    double_binary_tree,
    ps_multi,
    ps_multi_opt,
    ps_single,
    recursive_halving_doubling,
    ring,
    ring_bidirectional,
)
from gadgetopt.models.forest_packing.baselines.trees import greedy_peel, single_tree
from gadgetopt.models.forest_packing.data.generate.presets import paper
from gadgetopt.models.forest_packing.data.generate.topologies import (
    complete,
    dgx1_v100,
    hypercube,
    torus,
)
from gadgetopt.models.forest_packing.evaluate import evaluate
from gadgetopt.models.forest_packing.instance import ForestPackingInstance
from gadgetopt.models.forest_packing.subproblems.routing import Routing, fullest
from gadgetopt.models.forest_packing.subproblems.strength import (
    capacity_matrix,
    tree_packing_number,
)
from gadgetopt.system.result import Limits, MethodOutcome

from ..expected import RATES, SUBSETS, library_instance
from ..networks import (
    cables,
    digraph,
    known,
    random_instance,
    symmetric,
)

BASELINES: dict[str, Any] = {
    "ring": ring,
    "ring_bidirectional": ring_bidirectional,
    "best_ring": best_ring,
    "ps_single": ps_single,
    "ps_multi": ps_multi,
    "ps_multi_opt": ps_multi_opt,
    "double_binary_tree": double_binary_tree,
    "recursive_halving_doubling": recursive_halving_doubling,
    "single_tree": single_tree,
    "greedy_peel": greedy_peel,
}
AROUND_THE_DOUBLE_LINKS = "0,1,3,2,6,7,5,4"


def run(name: str, instance: ForestPackingInstance, **parameters: Any) -> MethodOutcome:
    return called(BASELINES[name], instance, Limits(), np.random.default_rng(0), **parameters)


def rate(name: str, instance: ForestPackingInstance, **parameters: Any) -> Fraction:
    """The evaluator's rate of a baseline's plan, which must be feasible and as claimed."""
    outcome = run(name, instance, **parameters)
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.violations == ()
    assert evaluation.objective == outcome.claimed_objective
    return evaluation.objective


#: Times for 1 GB, worked out by hand.
#: H2, cables 01:4, 12:4, 02:1. A ring: 2 * 2/3 / 1. Servers at 0, 1, 2: 1, 1/4, 1. Equal servers:
#: 02 carries the stars of 0 and 2, 2/3 in each direction. Best shares 1/9, 7/9, 1/9: 02 carries
#: 2/9, 01 and 12 8/9 of 4. Both binary trees use 02. The tree 01, 12 fills both, 02 is left over.
#: H3, cables 01:10, 23:10, 12:2, 03:1. The ring's slowest cable is 03: 2 * 3/4 / 1.
#: H4, a star around a switch: the ring uses every cable once.
#: H7, one-way rates: the ring 0-1-2 has 2, 2, 3 and 0-2-1 has 1, 1, 1.
HAND_CHECKED = [
    ("H2", "ring", {}, "4/3"),
    ("H2", "ring_bidirectional", {}, "2/3"),
    ("H2", "best_ring", {}, "4/3"),
    ("H2", "ps_single", {}, "1/4"),
    ("H2", "ps_multi", {}, "2/3"),
    ("H2", "ps_multi_opt", {}, "2/9"),
    ("H2", "double_binary_tree", {}, "1"),
    ("H2", "single_tree", {}, "1/4"),
    ("H2", "greedy_peel", {}, "1/4"),
    ("H3", "ring", {}, "3/2"),
    ("H3", "ring_bidirectional", {}, "3/4"),
    ("H3", "ps_multi", {}, "1"),
    ("H4", "ring", {}, "4/3"),
    ("H7", "ring", {}, "2/3"),
    ("H7", "ring", {"order": "0,2,1"}, "4/3"),
]

#: Optimal rate over the rate of a baseline on the library's networks.
RATIOS = [
    ("dgx1_v100", "ring", {"order": AROUND_THE_DOUBLE_LINKS}, "3"),
    ("dgx1_v100", "ring_bidirectional", {"order": AROUND_THE_DOUBLE_LINKS}, "3/2"),
    ("dgx1_v100", "best_ring", {}, "3"),
    ("dgx1_v100", "best_ring", {"bidirectional": True}, "3/2"),
    ("dgx1_v100", "ps_single", {}, "48/7"),
    ("dgx1_v100", "ps_multi", {}, "24/7"),
    ("dgx1_v100", "ps_multi_opt", {}, "16/7"),
    ("dgx1_v100", "greedy_peel", {}, "8/7"),
    ("mi250", "greedy_peel", {}, "8/7"),
    ("fat_tree_4", "ring", {}, "1"),
    ("bcube_4", "ring", {}, "2"),
    ("dcell_4", "ring_bidirectional", {}, "3"),
    # Not in the order of the servers' numbers, rings both ways are optimal on both.
    ("bcube_4", "best_ring", {"bidirectional": True}, "1"),
    ("dcell_4", "best_ring", {"bidirectional": True}, "1"),
    ("a100", "ring", {}, "1"),
    ("complete_8", "ps_multi", {}, "1"),
    ("hypercube_4", "recursive_halving_doubling", {}, "4"),
]


@pytest.mark.parametrize(("network", "name", "parameters", "time_s"), HAND_CHECKED)
def test_hand_checked_times(network: str, name: str, parameters: Any, time_s: str) -> None:
    assert 1 / rate(name, known(network), **parameters) == Fraction(time_s)


@pytest.mark.parametrize(("file", "name", "parameters", "ratio"), RATIOS)
def test_ratios_on_hardware_and_fabrics(file: str, name: str, parameters: Any, ratio: str) -> None:
    found = rate(name, library_instance(file), **parameters)
    assert RATES[file].allreduce / found == Fraction(ratio)


@pytest.mark.parametrize("name", BASELINES)
@settings(max_examples=25)
@given(seed=st.integers(0, 10**6))
def test_every_plan_is_feasible_or_the_instance_is_refused(name: str, seed: int) -> None:
    instance = random_instance(seed, max_workers=6)
    with contextlib.suppress(ModelRefused):
        rate(name, instance)


@pytest.mark.parametrize("name", BASELINES)
@settings(max_examples=8)
@given(seed=st.integers(0, 10**6))
def test_no_baseline_beats_the_tree_packing_number(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    instance = symmetric(rng, int(2 ** rng.integers(1, 4)))
    network = instance.network
    strength = tree_packing_number(capacity_matrix(network)).value * network.unit
    assert 0 < rate(name, instance) <= strength


@pytest.mark.parametrize("stage_mode", ["overlap", "sequential"])
def test_a_ring_takes_its_slowest_links_time(stage_mode: Any) -> None:
    for seed in range(5):
        instance = paper(np.random.default_rng(seed), workers=7, symmetric=False)
        instance = instance.model_copy(update={"stage_mode": stage_mode})
        network = instance.network
        slowest = min(network.capacity[network.arc_index[v, (v + 1) % 7]] for v in range(7))
        assert rate("ring", instance) == slowest * Fraction(7, 12)
        back = min(network.capacity[network.arc_index[(v + 1) % 7, v]] for v in range(7))
        assert rate("ring_bidirectional", instance) == 2 * min(slowest, back) * Fraction(7, 12)


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("build", [symmetric, digraph])
def test_no_order_makes_a_better_ring_than_the_best(build: Any, bidirectional: bool) -> None:
    other = "ring_bidirectional" if bidirectional else "ring"
    for seed in range(4):
        instance = build(np.random.default_rng(seed), 5, seed % 2)
        if not Routing(instance.network).connected:
            continue
        first, *rest = instance.workers
        orders = (",".join(map(str, (first, *p))) for p in itertools.permutations(rest))
        best = max(rate(other, instance, order=order) for order in orders)
        assert rate("best_ring", instance, bidirectional=bidirectional) == best


def test_the_best_ring_goes_around_the_double_links_of_a_dgx1() -> None:
    order = run("best_ring", dgx1_v100().instance()).notes["order"]
    double = {(0, 1), (0, 4), (1, 3), (2, 3), (2, 6), (4, 5), (5, 7), (6, 7)}
    around = zip(order, (*order[1:], order[0]), strict=True)
    assert {tuple(sorted(arc)) for arc in around} == double


def test_without_a_ring_of_cables_data_run_through_other_workers() -> None:
    # GPUs 1-0-4 are a path of double links: 2 * 2/3 over 50 GB/s, 3/4 of the optimum.
    assert SUBSETS["dgx1_v100_0_1_4"] == 50
    assert rate("best_ring", library_instance("dgx1_v100_0_1_4")) == Fraction(75, 2)


def test_binary_trees_are_those_of_nccl() -> None:
    outcome = run("double_binary_tree", complete(8).instance())
    first, second = outcome.solution.trees
    parents = {path[0]: path[-1] for path in first.in_tree}
    assert (first.root, parents) == (0, {1: 2, 2: 4, 3: 2, 4: 0, 5: 6, 6: 4, 7: 6})
    mirrored = {path[0]: path[-1] for path in second.in_tree}
    assert mirrored == {7 - v: 7 - parent for v, parent in parents.items()}
    # A worker that passes data on in one tree is a leaf of the other.
    assert not set(parents.values()) & set(mirrored.values())
    shifted = run("double_binary_tree", complete(5).instance()).solution.trees
    assert [tree.root for tree in shifted] == [0, 1]


@pytest.mark.parametrize(
    ("collective", "factor"), [("allreduce", 2), ("allgather", 1), ("reduce_scatter", 1)]
)
def test_halving_takes_the_sum_of_its_steps(collective: Any, factor: int) -> None:
    # On a hypercube every step has links of its own: 1/2 + 1/4 + 1/8 of the data.
    instance = hypercube(3).instance(collective=collective)
    assert 1 / rate("recursive_halving_doubling", instance) == factor * Fraction(7, 8)
    # On a ring of 4 the step of distance 2 takes two hops: loads 2 and 1 of 1/2 and 1/4.
    around = torus((4,)).instance(collective=collective)
    assert 1 / rate("recursive_halving_doubling", around) == factor * (1 + Fraction(1, 4))


def test_a_single_tree_has_the_widest_bottleneck() -> None:
    for seed in range(10):
        instance = symmetric(np.random.default_rng(seed), 7)
        network = instance.network
        graph = nx.Graph()
        for (u, v), capacity in zip(network.arcs, network.capacity, strict=True):
            graph.add_edge(u, v, weight=capacity)
        widest = nx.maximum_spanning_tree(graph)
        assert rate("single_tree", instance) == min(w for *_, w in widest.edges(data="weight"))


@pytest.mark.parametrize("name", ["single_tree", "greedy_peel"])
@pytest.mark.parametrize("roots", [{"root_mode": "fixed", "root": 2}, {"root_mode": "uniform"}])
def test_undirected_trees_serve_any_roots_at_the_same_rate(name: str, roots: Any) -> None:
    instance = known("DGX-1V")
    asked = instance.model_copy(update=roots)
    assert rate(name, asked) == rate(name, instance)


def test_the_best_shares_of_servers_are_no_worse_than_equal_or_single_ones() -> None:
    for seed in range(5):
        instance = symmetric(np.random.default_rng(seed), 5, switches=seed % 3)
        best = rate("ps_multi_opt", instance)
        assert best >= max(rate("ps_multi", instance), rate("ps_single", instance))
        in_turns = instance.model_copy(update={"stage_mode": "sequential"})
        assert rate("ps_multi_opt", in_turns) >= rate("ps_multi", in_turns)


@pytest.mark.parametrize("name", BASELINES)
def test_a_disconnected_network_has_rate_zero(name: str) -> None:
    instance = ForestPackingInstance(workers=(0, 1, 2, 3), links=cables((0, 1, 1), (2, 3, 1)))
    assert rate(name, instance) == 0


def test_the_next_hop_is_the_one_of_smallest_index_on_a_shortest_path() -> None:
    network = torus((3, 3)).instance().network
    routing = Routing(network)
    assert routing.route(0, 4) == (0, 1, 4)
    assert routing.route(4, 0) == (4, 1, 0)
    graph = nx.DiGraph(network.arcs)
    for u, v in itertools.permutations(range(9), 2):
        shortest = sorted(nx.all_shortest_paths(graph, u, v))
        assert routing.route(u, v) == tuple(shortest[0])


def test_loads_of_routes_add_up_on_rows() -> None:
    half = ForestPackingInstance(
        workers=(0, 1, 2), links=cables((0, 1, 4), (1, 2, 2)), duplex="half"
    )
    assert fullest(half.network, [(0, 1), (1, 0), (0, 1, 2)]) == Fraction(3, 4)


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("ring", {"root_mode": "fixed", "root": 0}, "a ring has 8 roots with shares of its own"),
        ("ps_single", {"root_mode": "uniform"}, "a single parameter server has 1 root with"),
        ("ps_multi", {"root_mode": "fixed", "root": 0}, "equal parameter servers has 8 roots"),
        ("double_binary_tree", {"root_mode": "uniform"}, "a double binary tree has 2 roots"),
        (
            "recursive_halving_doubling",
            {"collective": "broadcast", "root_mode": "fixed", "root": 0},
            "recursive halving has 8 roots",
        ),
    ],
)
def test_a_plan_without_the_roots_asked_for_is_refused(
    name: str, fields: Any, message: str
) -> None:
    with pytest.raises(ModelRefused, match=message):
        run(name, known("DGX-1V").model_copy(update=fields))


def test_what_has_no_meaning_is_refused() -> None:
    with pytest.raises(ModelRefused, match="3 workers, expected a power of two"):
        run("recursive_halving_doubling", known("H2"))
    with pytest.raises(ModelRefused, match="links with two directions do not join the workers"):
        run("single_tree", known("H5"))
    with pytest.raises(InputError, match="order: '0,1', expected the numbers of all workers"):
        run("ring", known("H2"), order="0,1")


def test_when_time_runs_out_what_was_found_is_returned() -> None:
    instance = known("DGX-1V")
    for baseline in (best_ring, greedy_peel):
        outcome = called(baseline, instance, Limits(time_s=0), np.random.default_rng(0))
        assert outcome.limit_hit == "time_s"
        assert evaluate(instance, outcome.solution).objective > 0
