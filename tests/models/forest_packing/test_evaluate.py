"""The evaluator: exact values of hand-checked plans, and every violation."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gadgetopt.models.forest_packing.evaluate import evaluate
from gadgetopt.models.forest_packing.instance import ForestPackingSolution, TreePair
from gadgetopt.models.forest_packing.packing import (
    Pair,
    Tree,
    congestion,
    couple,
    fit,
    to_solution,
    total_rate,
)
from gadgetopt.system.files import read_instance

from .brute_force import optimal_rate, optimum
from .networks import arcs, cables, known, random_instance

TINY = Path(__file__).parents[3] / "instances" / "forest_packing" / "tiny"
SEEDS = st.integers(0, 10_000)

#: Optima of the files in tiny/. Two independent routes by hand for each network; for the time of
#: an optimum rate R and 1 GB see the files' notes.
OPTIMA = {
    "h2_heterogeneous_triangle": "9/2",
    "h2_sequential": "9/2",
    "h2_allgather": "9",
    "h2_allgather_uniform": "15/2",
    "h3_two_fast_pairs": "3",
    "h4_star_with_a_switch": "3/4",
    "h4_in_network": "1",
    "h5_directed_cycle": "3/4",
    "h5_fixed_root": "1/2",
    "h5_allgather": "3/2",
    "h5_sequential": "3/4",
    "h6_worker_centre": "1",
    "h6_sequential": "3/4",
    "h6_allgather": "3/2",
    "h6_allgather_uniform": "4/3",
    "h7_asymmetric_triangle": "5/2",
    "h7_sequential": "9/4",
    "h7_uniform": "5/2",
    "h7_fixed_root_0": "2",
    "h7_fixed_root_1": "5/2",
    "h7_fixed_root_2": "2",
    "h7_allgather": "5",
    "h7_allgather_uniform": "9/2",
}


def tiny(name):
    return read_instance(TINY / f"{name}.json").data


def pair(root, in_tree, out_tree, rate):
    def paths(tree):
        return None if tree is None else tuple(tuple(int(v) for v in p) for p in tree.split())

    return TreePair(
        root=root,
        in_tree=paths(in_tree),
        out_tree=paths(out_tree),
        rate_gbyte_per_s=Fraction(rate),
    )


def plan(*trees, chunks=None):
    return ForestPackingSolution(trees=trees, chunks=chunks)


def broken(instance, solution):
    return {v.constraint for v in evaluate(instance, solution).violations}


# -- hand-checked plans ------------------------------------------------------------------------


def test_every_tiny_file_has_a_known_optimum():
    assert {file.stem for file in TINY.glob("*.json")} == set(OPTIMA)


@pytest.mark.parametrize("name", OPTIMA)
def test_hand_checked_optima_are_those_of_all_trees(name):
    assert optimal_rate(tiny(name)) == pytest.approx(float(Fraction(OPTIMA[name])), abs=1e-9)


H2_PLAN = (
    pair(1, "01 21", "10 12", "7/2"),
    pair(0, "10 20", "01 02", "1/2"),
    pair(2, "02 12", "20 21", "1/2"),
)


def test_h2_plan_fills_every_link():
    # 01: 3.5 + 0.5, 12: 3.5 + 0.5, 02: 0.5 + 0.5, in each direction.
    found = evaluate(tiny("h2_heterogeneous_triangle"), plan(*H2_PLAN, chunks=4))
    assert found.feasible
    assert found.objective == Fraction(9, 2)
    assert found.components == {
        "time_s": Fraction(2, 9),
        "congestion": 1,
        "mean_utilisation": 1.0,
        "max_utilisation": 1,
        "pipeline_depth": 2,
        "trees": 3,
        "roots_used": 3,
        # T(m) = 2/9 (1 + 1/m); without latency there is no best m.
        "simulated_time_s": Fraction(2, 9) * Fraction(5, 4),
    }


def test_h2_baselines_by_hand():
    h2 = tiny("h2_heterogeneous_triangle")
    # The best single tree has its bottleneck of 4 on each link; with 02 instead of 12 it has 1.
    assert evaluate(h2, plan(pair(1, "01 21", None, 4))).feasible
    assert broken(h2, plan(pair(0, "10 20", None, "1.01"))) == {"capacity"}
    # Four equal trees: 4 in all, the slowest link is left out.
    assert evaluate(h2, plan(*[pair(1, "01 21", None, 1)] * 4)).objective == 4


def test_h7_plan_fills_every_link():
    h7 = tiny("h7_asymmetric_triangle")
    trees = (
        pair(1, "20 01", "12 20", "5/4"),
        pair(0, "12 20", "01 12", "1/4"),
        pair(2, "01 12", "20 01", "1/4"),
        pair(0, "10 21", "21 02", "1/4"),
        pair(1, "21 02", "10 02", "1/4"),
        pair(2, "10 02", "10 21", "1/4"),
    )
    found = evaluate(h7, plan(*trees))
    assert found.feasible
    assert found.objective == Fraction(5, 2)
    assert found.components["mean_utilisation"] == 1.0
    assert found.components["congestion"] == 1
    assert found.components["time_s"] == Fraction(2, 5)
    assert found.components["pipeline_depth"] == 4


def test_h3_plan_fills_the_links_between_the_pairs():
    found = evaluate(
        tiny("h3_two_fast_pairs"), plan(pair(1, "01 21 32", None, 2), pair(0, "10 30 23", None, 1))
    )
    assert (found.feasible, found.objective) == (True, 3)


def test_h4_centres_use_their_cable_twice():
    h4 = tiny("h4_star_with_a_switch")
    quarter = [pair(0, "130 230", None, "1/4"), pair(1, "031 231", None, "1/4")]
    quarter.append(pair(2, "032 132", None, "1/4"))
    found = evaluate(h4, plan(*quarter))
    assert found.feasible
    assert (found.objective, found.components["mean_utilisation"]) == (Fraction(3, 4), 1.0)
    # The star itself needs a switch that copies and sums.
    steiner = plan(pair(0, "13 23 30", "03 31 32", 1))
    assert broken(h4, steiner) == {"tree"}
    summing = tiny("h4_in_network")
    assert evaluate(summing, steiner).objective == 1
    assert evaluate(summing, steiner).feasible
    assert broken(summing, plan(*quarter, quarter[0])) == {"capacity"}
    assert broken(summing, plan(pair(0, "13 23", "03 31 32", 1))) == {"tree"}


def test_h5_roots_share_the_arc_that_a_pair_uses_twice():
    h5 = tiny("h5_directed_cycle")
    trees = (
        pair(0, "12 20", "01 12", "1/4"),
        pair(1, "20 01", "12 20", "1/4"),
        pair(2, "01 12", "20 01", "1/4"),
    )
    assert evaluate(h5, plan(*trees)).feasible
    assert evaluate(h5, plan(*trees)).objective == Fraction(3, 4)
    one = pair(0, "12 20", "01 12", "1/2")
    assert evaluate(tiny("h5_fixed_root"), plan(one)).feasible
    assert broken(tiny("h5_fixed_root"), plan(*trees)) == {"root_share"}
    assert evaluate(tiny("h5_sequential"), plan(*trees)).feasible


def test_h6_stages_that_take_turns_need_a_third_more():
    # Rooted at leaf 1 a tree fills 1->0 and 0->2, 0->3; leaves at 1/2 each broadcast 3/2 in all.
    out = {r: f"{r}0 " + " ".join(f"0{v}" for v in (1, 2, 3) if v != r) for r in (1, 2, 3)}
    half = [pair(r, "", out[r], "1/2") for r in (1, 2, 3)]
    assert evaluate(tiny("h6_allgather"), plan(*half)).objective == Fraction(3, 2)
    assert evaluate(tiny("h6_allgather"), plan(*half)).feasible
    turns = [pair(r, " ".join(p[::-1] for p in out[r].split()), None, "1/4") for r in (1, 2, 3)]
    found = evaluate(tiny("h6_sequential"), plan(*turns))
    assert found.feasible
    assert found.components["time_s"] == Fraction(4, 3)
    centre = plan(pair(0, "10 20 30", None, 1))
    assert evaluate(tiny("h6_worker_centre"), centre).components["time_s"] == 1
    assert broken(tiny("h6_sequential"), centre) == {"turns"}
    # Uniform shares: every leaf takes in 3/4 of 4/3.
    uniform = [pair(0, "", "01 02 03", "1/3"), *(pair(r, "", out[r], "1/3") for r in (1, 2, 3))]
    found = evaluate(tiny("h6_allgather_uniform"), plan(*uniform))
    assert (found.feasible, found.objective) == (True, Fraction(4, 3))


def test_an_empty_plan_has_rate_0():
    found = evaluate(tiny("h7_uniform"), plan())
    assert (found.feasible, found.objective) == (True, 0)
    assert "time_s" not in found.components


def test_an_overloaded_plan_is_stretched_not_accepted():
    h2 = tiny("h2_heterogeneous_triangle")
    doubled = [t.model_copy(update={"rate_gbyte_per_s": 2 * t.rate_gbyte_per_s}) for t in H2_PLAN]
    found = evaluate(h2, plan(*doubled))
    assert found.components["time_s"] == Fraction(2, 9)
    assert {(v.where, v.amount) for v in found.violations} == {
        ("arc 0->1", 4), ("arc 1->0", 4), ("arc 1->2", 4), ("arc 2->1", 4), ("arc 0->2", 1),
        ("arc 2->0", 1),
    }  # fmt: skip


def test_latency_has_a_best_number_of_chunks():
    h2 = tiny("h2_heterogeneous_triangle").model_copy(update={"hop_latency_s": 0.002})
    found = evaluate(h2, plan(*H2_PLAN, chunks=7)).components
    # sqrt((2 - 1) * (2/9) / 0.002) = 10.54.
    times = {m: (m + 1) * (Fraction(2, 9) / m + Fraction(2, 1000)) for m in (7, 10, 11)}
    assert found["best_chunks"] == min((10, 11), key=times.get)
    assert found["chunked_time_s"] == min(times.values())
    assert found["simulated_time_s"] == times[7]


# -- unforgiving -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tree", "violation"),
    [
        (pair(1, "01 29", "10 12", 1), "unknown_node"),
        (pair(9, "01 21", "10 12", 1), "unknown_node"),
        (pair(1, "01 231", "10 12", 1), "unknown_link"),
        (pair(1, "01 23", "10 12", 1), "unknown_link"),
        (pair(1, "01 21", "10 102 12", 1), "tree"),
        (pair(1, "01", "10 12", 1), "tree"),
        (pair(1, "01 21", "10", 1), "tree"),
        (pair(1, "01 21 10", "10 12", 1), "tree"),
        (pair(0, "01 21", "10 12", 1), "tree"),
        (pair(3, "03 13 23", None, 1), "tree"),
        (pair(1, "03 31 21", None, 1), "tree"),
        (pair(2, "01 10", None, 1), "tree"),
        (pair(2, "00 12", None, 1), "unknown_link"),
        (pair(1, "", "10 12", 1), "stage"),
        (pair(1, "01 21", "", 1), "stage"),
        (pair(1, "", None, 1), "stage"),
        (pair(1, "01 21", "10 12", -1), "negative_rate"),
        (pair(1, "01 21", "10 12", 5), "capacity"),
    ],
)
def test_every_broken_tree_is_rejected_for_its_own_reason(tree, violation):
    # H2 with a switch 3 at worker 0.
    links = (*cables((0, 1, 4), (1, 2, 4), (0, 2, 1), (0, 3, 1)),)
    instance = known("H2").model_copy(update={"switches": (3,), "links": links})
    assert violation in broken(instance, plan(tree))
    assert evaluate(instance, plan(pair(1, "01 21", "10 12", 1))).feasible


@pytest.mark.parametrize("collective", ["reduce_scatter", "allgather"])
def test_one_stage_needs_its_tree_and_no_other(collective):
    instance = known("H2", collective=collective)
    up, down = ("01 21", ""), ("", "10 12")
    right, wrong = (up, down) if collective == "reduce_scatter" else (down, up)
    assert evaluate(instance, plan(pair(1, *right, 4))).feasible
    for trees in (wrong, ("01 21", "10 12"), ("01 21", None), ("", "")):
        assert broken(instance, plan(pair(1, *trees, 1))) == {"stage"}


def test_an_arc_of_one_direction_does_not_take_data_back():
    one_way = known("H5")
    assert broken(one_way, plan(pair(0, "12 20", None, "1/4"))) == {"unknown_link"}


def test_half_duplex_and_nics_are_rows_of_their_own():
    half = known("H2", duplex="half")
    assert evaluate(half, plan(pair(1, "01 21", None, 2))).feasible
    assert broken(half, plan(pair(1, "01 21", None, 3))) == {"capacity"}
    (into, *_) = evaluate(
        known("H2", nic_in_gbyte_per_s={1: 5.0}), plan(pair(1, "01 21", None, 3))
    ).violations
    assert (into.where, into.amount) == ("nic in 1", 1)
    (out, *_) = evaluate(
        known("H2", nic_out_gbyte_per_s={1: 5.0}), plan(pair(1, "01 21", None, 4))
    ).violations
    assert (out.where, out.amount) == ("nic out 1", 3)


def test_parallel_links_add_up_and_links_without_bandwidth_do_not_exist():
    links = (*cables((0, 1, 1), (1, 0, 1.5), (1, 2, 4), (0, 2, 0)), *arcs((0, 1, 0.5)))
    instance = known("H2").model_copy(update={"links": links})
    assert evaluate(instance, plan(pair(1, "01 21", None, "5/2"))).feasible
    assert broken(instance, plan(pair(0, "10 20", None, 1))) == {"unknown_link"}


def test_a_path_may_pass_a_worker_that_forwards():
    ring = known("H5")
    assert evaluate(ring, plan(pair(0, "120 20", "01 012", "1/4"))).feasible
    # Forwarding loads the links: 2->0 carries both gradients, 0->1 both copies.
    assert broken(ring, plan(pair(0, "120 20", "01 012", "3/4"))) == {"capacity"}


def test_restrictions_are_checked():
    budget = known("H2", tree_budget=2)
    assert broken(budget, plan(*H2_PLAN)) == {"tree_budget"}
    assert broken(known("H2", equal_share=True), plan(*H2_PLAN)) == {"equal_share"}
    chain = pair(0, "21 10", None, "1/2")
    assert evaluate(known("H2", max_depth=3), plan(*H2_PLAN)).feasible
    assert broken(known("H2", max_depth=3), plan(chain)) == {"max_depth"}


def test_shares_must_hold_exactly():
    weights = known("H2", root_mode="weights", root_share=(0.1, 0.9, 0.0))
    trees = [pair(0, "10 20", None, "1/10"), pair(1, "01 21", None, "9/10")]
    assert evaluate(weights, plan(*trees)).feasible
    trees[0] = pair(0, "10 20", None, Fraction(0.1))  # the double nearest to 1/10
    assert broken(weights, plan(*trees)) == {"root_share"}


# -- random networks ---------------------------------------------------------------------------


def brute_force_pairs(instance):
    """The trees of an optimum in tree pairs."""
    index = instance.network.index
    stages = {"reduce": [], "broadcast": []}
    for tree, rate in optimum(instance).trees:
        routes = tuple(tuple(index[v] for v in p) for p in tree.paths)
        stages[tree.stage].append(Tree(index[tree.root], routes, Fraction(rate)))
    if len(instance.stages) == 2:
        return couple(stages["reduce"], stages["broadcast"])
    made = [(t, t.routes, ()) for t in stages["reduce"]]
    made += [(t, (), t.routes) for t in stages["broadcast"]]
    return [Pair(t.root, up, down, t.rate) for t, up, down in made]


def random_plan(seed):
    instance = random_instance(seed, 3, 2) if seed % 3 else random_instance(seed, 4, 0)
    return instance, fit(instance, brute_force_pairs(instance))


@given(SEEDS)
@settings(max_examples=60)
def test_optimal_trees_fitted_to_the_network_are_feasible_and_full(seed):
    instance, pairs = random_plan(seed)
    found = evaluate(instance, to_solution(instance, pairs))
    assert found.feasible
    assert found.objective == total_rate(pairs)
    assert float(found.objective) == pytest.approx(optimal_rate(instance), abs=1e-6)
    assert found.components["congestion"] == (1 if pairs else 0)


@given(SEEDS, st.fractions(Fraction(1, 4), 4))
@settings(max_examples=40)
def test_congestion_is_that_of_the_plan_made(seed, factor):
    instance, pairs = random_plan(seed)
    scaled = [Pair(p.root, p.reduce, p.broadcast, p.rate * factor) for p in pairs]
    found = evaluate(instance, to_solution(instance, scaled))
    assert found.components["congestion"] == congestion(instance, scaled)
    assert found.feasible == (factor <= 1 or not pairs)


def spoil(rng, instance, tree):
    """A tree pair that is no longer one, or carries more."""
    kind = rng.choice(["more", "negative", "lost", "twice", "root", "end", "stage"])
    name = "in_tree" if tree.in_tree else "out_tree"
    paths = getattr(tree, name)
    k = int(rng.integers(len(paths)))
    match kind:
        case "more":
            return kind, {"rate_gbyte_per_s": tree.rate_gbyte_per_s * 2}
        case "negative":
            return kind, {"rate_gbyte_per_s": -tree.rate_gbyte_per_s}
        case "lost":
            return kind, {name: paths[:k] + paths[k + 1 :]}
        case "twice":
            return kind, {name: (*paths, paths[k])}
        case "root":
            return kind, {"root": next(v for v in instance.workers if v != tree.root)}
        case "end":
            child = paths[k][0] if name == "in_tree" else paths[k][-1]
            return kind, {name: (*paths[:k], (child, child), *paths[k + 1 :])}
        case _:
            other = "out_tree" if name == "in_tree" else "in_tree"
            stays = getattr(tree, other)
            return kind, {other: () if stays else (tree.root, paths[0][0])}


@given(SEEDS, SEEDS)
@settings(max_examples=80)
def test_spoilt_optimal_plans_are_rejected(seed, how):
    instance, pairs = random_plan(seed)
    assume(pairs and all(p.rate > Fraction(1, 1000) for p in pairs))
    solution = to_solution(instance, pairs)
    rng = np.random.default_rng(how)
    k = int(rng.integers(len(solution.trees)))
    tree = solution.trees[k]
    kind, change = spoil(rng, instance, tree)
    if kind == "stage" and not (tree.in_tree and tree.out_tree):
        wrong = "in_tree" if instance.stages == ("broadcast",) else "out_tree"
        change = {wrong: ((instance.workers[0], instance.workers[1]),)}
    trees = (*solution.trees[:k], tree.model_copy(update=change), *solution.trees[k + 1 :])
    assert not evaluate(instance, plan(*trees)).feasible


@given(SEEDS)
@settings(max_examples=30)
def test_numbering_of_nodes_and_order_of_trees_do_not_matter(seed):
    instance, pairs = random_plan(seed)
    solution = to_solution(instance, pairs)
    backwards = plan(*solution.trees[::-1])
    assert evaluate(instance, backwards) == evaluate(instance, solution)


def test_a_path_through_a_worker_is_two_hops():
    # On the path 0 - 1 - 2 data of worker 2 pass worker 1 on their way to 0, however it is drawn:
    # two hops up and two down.
    instance = known("H2").model_copy(
        update={
            "links": cables((0, 1, 1), (1, 2, 2)),
            "root_mode": "fixed",
            "root": 0,
            "max_depth": 2,
        }
    )
    drawn = [((1, 0), (2, 1, 0)), ((1, 0), (2, 1))]
    for in_tree in drawn:
        tree = TreePair(root=0, rate_gbyte_per_s=Fraction(1, 2), in_tree=in_tree)
        violations = evaluate(instance, ForestPackingSolution(trees=(tree,))).violations
        assert [(v.constraint, v.amount) for v in violations] == [("max_depth", 2)]
