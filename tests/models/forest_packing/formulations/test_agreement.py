"""All exact formulations have one optimum, and their plans attain it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.models.forest_packing.evaluate import evaluate
from gadgetopt.models.forest_packing.formulations import (
    cuts,
    flow,
    logical_links,
    spanning_trees,
    tree_pairs,
)
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Status

from .. import brute_force
from ..networks import (
    COLLECTIVES,
    NETWORKS,
    ROOT_MODES,
    asked,
    known,
    random_instance,
)

ROUTES = {
    "flow": (flow.build, flow.decode),
    "cuts": (cuts.build, cuts.decode),
    "tree_pairs": (tree_pairs.build, tree_pairs.decode),
    "spanning_trees": (spanning_trees.build_trees, spanning_trees.decode_trees),
    "orientation": (spanning_trees.build_orientation, spanning_trees.decode_orientation),
    "logical_links": (logical_links.build, logical_links.decode),
}
LOAD_LPS = ("flow", "cuts", "logical_links")

#: The rate by network, collective and root mode ("fixed" is rooted at the last worker). Where the
#: shares are free: partitions and packings by hand. H2: the singletons, 9/2. H3: {01},{23}, 3/1.
#: H4: a tree centred at a uses a's cable twice, three centres at 1/4. H5: each root's pair uses one
#: arc twice. H6: a leaf gets 1; an allgather has the subpartition {1},{2},{3}. H7: all singletons,
#: 10/4. Uniform allgathers are N min_Q c(out of Q)/|Q|.
OPTIMA = {
    ("H2", "allreduce", "free"): Fraction(9, 2),
    ("H2", "allreduce", "uniform"): Fraction(9, 2),
    ("H2", "allreduce", "fixed"): Fraction(9, 2),
    ("H2", "allreduce", "weights"): Fraction(9, 2),
    ("H2", "sequential", "free"): Fraction(9, 2),
    ("H2", "allgather", "free"): Fraction(9),
    ("H2", "allgather", "uniform"): Fraction(15, 2),
    ("H3", "allreduce", "free"): Fraction(3),
    ("H3", "allreduce", "uniform"): Fraction(3),
    ("H4", "allreduce", "free"): Fraction(3, 4),
    ("H4", "allreduce", "uniform"): Fraction(3, 4),
    ("H4", "allgather", "uniform"): Fraction(3, 2),
    ("H5", "allreduce", "free"): Fraction(3, 4),
    ("H5", "allreduce", "uniform"): Fraction(3, 4),
    ("H5", "allreduce", "fixed"): Fraction(1, 2),
    ("H5", "sequential", "free"): Fraction(3, 4),
    ("H5", "allgather", "free"): Fraction(3, 2),
    ("H6", "allreduce", "free"): Fraction(1),
    ("H6", "allreduce", "uniform"): Fraction(1),
    ("H6", "sequential", "free"): Fraction(3, 4),
    ("H6", "allgather", "free"): Fraction(3, 2),
    ("H6", "allgather", "uniform"): Fraction(4, 3),
    ("H7", "allreduce", "free"): Fraction(5, 2),
    ("H7", "allreduce", "uniform"): Fraction(5, 2),
    ("H7", "allreduce", "fixed"): Fraction(2),
    ("H7", "sequential", "free"): Fraction(9, 4),
    ("H7", "allgather", "free"): Fraction(5),
    ("H7", "allgather", "uniform"): Fraction(9, 2),
    ("DGX-1V", "allreduce", "free"): Fraction(600, 7),
    ("DGX-1V", "allgather", "uniform"): Fraction(1200, 7),
}

#: Most columns of F1 that a random instance may have here.
FEW = 500


def optimum(build, instance):
    """The model and its optimal value."""
    model = build(instance)
    outcome = solve_model(model, "highs")
    assert outcome.status is Status.OPTIMAL
    return model, outcome.objective


def routes_of(instance):
    """The formulations that take the instance and are not too large or the same as others."""
    for name, (build, decode) in ROUTES.items():
        if name == "tree_pairs" and tree_pairs.num_pairs(instance) > FEW:
            continue
        if name == "logical_links" and not instance.switches:
            continue  # the flow LP with names for its arcs
        if name in ("spanning_trees", "orientation"):
            try:
                spanning_trees.uses_of_cable(instance)
            except ModelRefused:
                continue
        yield name, build, decode


def agreed_rate(instance):
    """The optimum that all formulations have."""
    values = {name: optimum(build, instance)[1] for name, build, _ in routes_of(instance)}
    assert values == {name: pytest.approx(values["flow"], rel=1e-9, abs=1e-9) for name in values}
    return values["flow"]


@pytest.mark.parametrize(("name", "collective", "root_mode"), OPTIMA)
def test_every_formulation_and_its_plan_have_the_hand_checked_rate(name, collective, root_mode):
    instance = asked(known(name), collective, root_mode)
    expected = OPTIMA[name, collective, root_mode]
    for _, build, decode in routes_of(instance):
        model, value = optimum(build, instance)
        assert value == pytest.approx(float(expected), rel=1e-12)
        evaluation = evaluate(instance, decode(model, instance))
        assert evaluation.feasible
        assert float(evaluation.objective) == pytest.approx(value, rel=1e-9)
        assert evaluation.objective <= expected


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("root_mode", ROOT_MODES)
@pytest.mark.parametrize("name", [name for name in NETWORKS if name != "DGX-1V"])
def test_formulations_agree_in_every_mode(name, collective, root_mode):
    assert agreed_rate(asked(known(name), collective, root_mode)) > 0


@pytest.mark.parametrize("seed", range(60))
def test_formulations_agree_on_random_networks(seed):
    agreed_rate(random_instance(seed, max_switches=2))


@pytest.mark.parametrize("seed", range(500, 560))
def test_formulations_find_the_optimum_of_brute_force(seed):
    instance = random_instance(seed, max_workers=3, max_switches=2)
    expected = pytest.approx(brute_force.optimal_rate(instance), rel=1e-9, abs=1e-9)
    for build in (cuts.build, logical_links.build if instance.switches else flow.build):
        assert optimum(build, instance)[1] == expected


@pytest.mark.parametrize("seed", range(1000, 1040))
def test_plans_of_random_networks_have_the_rate_of_the_model(seed):
    instance = random_instance(seed, max_switches=2)
    for name, build, decode in routes_of(instance):
        if name == "cuts":
            continue  # decoded as the flow LP is
        model, value = optimum(build, instance)
        evaluation = evaluate(instance, decode(model, instance))
        assert evaluation.feasible
        assert float(evaluation.objective) == pytest.approx(value, rel=1e-9, abs=1e-9)


def test_reversing_every_arc_turns_reduction_into_broadcast():
    for seed in range(8):
        instance = asked(random_instance(seed), "allgather", "free")
        reversed_links = tuple(
            link.model_copy(update={"src": link.dst, "dst": link.src}) for link in instance.links
        )
        backwards = instance.model_copy(
            update={
                "links": reversed_links,
                "collective": "reduce_scatter",
                "nic_in_gbyte_per_s": instance.nic_out_gbyte_per_s,
                "nic_out_gbyte_per_s": instance.nic_in_gbyte_per_s,
            }
        )
        assert optimum(flow.build, instance)[1] == pytest.approx(optimum(flow.build, backwards)[1])


def test_h7_has_its_rates_at_single_roots():
    rates = [
        optimum(flow.build, known("H7", root_mode="fixed", root=r))[1] for r in known("H7").workers
    ]
    assert rates == pytest.approx([2.0, 2.5, 2.0])


def test_a_broadcast_has_the_least_max_flow_from_its_root():
    instance = known("DGX-1V", collective="broadcast", root_mode="fixed", root=0)
    for name in LOAD_LPS:
        assert optimum(ROUTES[name][0], instance)[1] == pytest.approx(150)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from(ROOT_MODES))
def test_stages_in_turn_take_up_to_twice_as_long(seed, root_mode):
    """T3: T_ov <= T_seq <= 2 T_ov for every network and root mode."""
    instance = random_instance(seed, max_switches=2)
    together = optimum(cuts.build, asked(instance, "allreduce", root_mode))[1]
    in_turn = optimum(cuts.build, asked(instance, "sequential", root_mode))[1]
    assert together / 2 <= in_turn * (1 + 1e-9)
    assert in_turn <= together * (1 + 1e-9)


def test_a_disconnected_network_has_rate_zero_and_no_trees():
    pieces = known("H3").model_copy(update={"links": known("H3").links[:2]})
    for collective in COLLECTIVES:
        instance = asked(pieces, collective, "free")
        for _, build, decode in routes_of(instance):
            model, value = optimum(build, instance)
            assert value == pytest.approx(0, abs=1e-12)
            assert decode(model, instance).trees == ()


@pytest.mark.parametrize("name", ROUTES)
def test_restricted_trees_and_copying_switches_are_refused(name):
    build = ROUTES[name][0]
    with pytest.raises(ModelRefused, match="tree_budget"):
        build(known("H2", tree_budget=2))
    with pytest.raises(ModelRefused, match="multicast"):
        build(known("H4", in_network=True))
