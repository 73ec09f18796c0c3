"""Cut generation and column generation against each other, brute force, and known optima."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from calling import called
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.models.forest_packing.data.generate import (
    presets,
    topologies,
)
from gadgetopt.models.forest_packing.evaluate import evaluate
from gadgetopt.models.forest_packing.proving.certificate.check import check_bound
from gadgetopt.models.forest_packing.proving.exact import column_generation as columns_module
from gadgetopt.models.forest_packing.proving.exact.column_generation import column_generation
from gadgetopt.models.forest_packing.proving.exact.cut_generation import cut_generation
from gadgetopt.system.result import Limits

from ...brute_force import optimal_rate
from ...networks import (
    COLLECTIVES,
    asked,
    digraph,
    known,
    random_instance,
    symmetric,
    widened,
    with_nics,
)

METHODS = {"cut_generation": cut_generation, "column_generation": column_generation}
#: The default method without the ones that it hands over to.
COLUMNS = {"hand_over": False}


def solved(method, instance, limits=None, **parameters):
    """Run a method and check what it returns exactly; return rate and bound."""
    rng = np.random.default_rng(0)
    outcome = called(METHODS[method], instance, limits or Limits(), rng, **parameters)
    bound = check_bound(instance, outcome.certificate)
    assert bound == outcome.dual_bound
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible, evaluation.violations
    assert evaluation.objective == outcome.claimed_objective <= bound
    return evaluation.objective, bound


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_both_attain_and_prove_the_optimum_of_tiny_networks(seed):
    instance = random_instance(seed, max_workers=3, max_switches=2)
    best = optimal_rate(instance)
    for method, parameters in (
        ("cut_generation", {}),
        ("column_generation", {}),
        ("column_generation", COLUMNS),
    ):
        rate, bound = solved(method, instance, **parameters)
        assert float(rate) == pytest.approx(best, rel=1e-6, abs=1e-9)
        assert rate == bound


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_rate_and_bound_are_equal_where_capacities_span_twelve_orders(seed):
    wide = widened(random_instance(seed, max_workers=5, max_switches=3), seed)
    optima = {solved("column_generation", wide), solved("column_generation", wide, **COLUMNS)}
    optima.add(solved("cut_generation", wide))
    ((rate, bound),) = optima
    assert rate == bound


@pytest.mark.parametrize("method", METHODS)
def test_a_network_whose_links_have_no_bandwidth_has_rate_zero(method):
    instance = known("H2")
    dead = tuple(link.model_copy(update={"bandwidth_gbyte_per_s": 0.0}) for link in instance.links)
    instance = instance.model_copy(update={"links": dead})
    assert solved(method, instance) == (0, 0)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_both_agree_on_random_networks(seed):
    instance = random_instance(seed, max_workers=6, max_switches=4)
    rate, bound = solved("cut_generation", instance)
    assert rate == bound
    assert solved("column_generation", instance, **COLUMNS) == (rate, bound)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(5, 16), st.sampled_from(COLLECTIVES))
def test_dense_digraphs_are_packed_exactly_with_few_trees(seed, workers, collective):
    rng = np.random.default_rng(seed)
    instance = presets.paper(rng, workers=workers, distribution="lognormal", symmetric=False)
    instance = asked(instance, collective, str(rng.choice(["free", "uniform"])))
    outcome = column_generation(instance, Limits())
    assert outcome.notes["handed_over"] == "cut_generation"
    assert outcome.claimed_objective == outcome.dual_bound > 0
    assert evaluate(instance, outcome.solution).feasible
    assert len(outcome.solution.trees) < 2 * len(instance.network.arcs)


def test_when_cuts_take_their_part_of_the_time_columns_have_the_rest(monkeypatch):
    instance = digraph(np.random.default_rng(1), 5)
    optimum = cut_generation(instance, Limits()).dual_bound
    monkeypatch.setattr(columns_module, "CUTS_PART", 1e-9)  # of a minute: cuts run out of it
    cut_short = cut_generation(instance, Limits(time_s=6e-8))
    assert cut_short.limit_hit == "time_s"
    outcome = column_generation(instance, Limits(time_s=60.0))
    assert "handed_over" not in outcome.notes
    assert outcome.limit_hit is None
    rate, bound = solved("column_generation", instance, Limits(time_s=60.0))
    assert rate == bound == optimum


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("name", "optimum"),
    [
        *(("H2", "9/2"), ("H3", "3"), ("H4", "3/4"), ("H5", "3/4"), ("H6", "1"), ("H7", "5/2")),
        ("DGX-1V", "600/7"),
    ],
)
def test_rate_and_bound_are_the_exact_optimum(method, name, optimum):
    rate, bound = solved(method, known(name))
    assert rate == bound == Fraction(optimum)


@pytest.mark.parametrize("method", METHODS)
def test_root_modes_of_the_directed_cycle_and_triangle(method):
    # H5: a single root uses one arc of the cycle twice. H7: roots 0, 1, 2 alone, and uniform.
    assert solved(method, known("H5", root_mode="fixed", root=0))[0] == Fraction(1, 2)
    for root, rate in ((0, 2), (1, Fraction(5, 2)), (2, 2)):
        assert solved(method, known("H7", root_mode="fixed", root=root)) == (rate, rate)
    assert solved(method, known("H7", root_mode="uniform"))[0] == Fraction(5, 2)


@pytest.mark.parametrize("method", METHODS)
def test_stages_alone_and_in_turns(method):
    # H6, a star with a worker as centre: 3/2 for one stage, 3/4 in turns, 1 overlapped.
    allgather, turns = known("H6", collective="allgather"), known("H6", stage_mode="sequential")
    assert solved(method, allgather) == (Fraction(3, 2), Fraction(3, 2))
    assert solved(method, turns) == (Fraction(3, 4), Fraction(3, 4))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_workers_without_a_way_between_them_have_rate_0_and_its_proof(method, collective):
    instance = known("H2").model_copy(update={"links": known("H2").links[:1]})
    assert solved(method, asked(instance, collective, "free")) == (0, 0)


@pytest.mark.parametrize("method", METHODS)
def test_half_duplex_and_nics(method):
    rng = np.random.default_rng(3)
    for switches in (0, 2):
        half = symmetric(rng, 4, switches, duplex="half")
        nics = with_nics(rng, digraph(rng, 4, switches))
        for instance in (half, nics):
            rate, bound = solved(method, instance)
            assert rate == bound


@pytest.mark.parametrize("method", METHODS)
def test_hardware_at_scale(method):
    rate, bound = solved(method, topologies.dgx_a100(4).instance())
    assert rate == bound == Fraction(400, 3)


@pytest.mark.parametrize("warm_start", ["balanced", "garg_koenemann", "none"])
@pytest.mark.parametrize("smoothing", [0.0, 0.8])
def test_warm_start_and_smoothing_do_not_change_the_optimum(warm_start, smoothing):
    for instance in (known("DGX-1V"), digraph(np.random.default_rng(1), 5)):
        cuts = solved("cut_generation", instance)[1]
        rate, bound = solved(
            "column_generation", instance, warm_start=warm_start, smoothing=smoothing, **COLUMNS
        )
        assert rate == bound == cuts


def test_bound_without_trees_comes_without_plan():
    outcome = cut_generation(known("H7"), Limits(), trees=False)
    assert outcome.solution is None
    assert outcome.dual_bound == Fraction(5, 2)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("time_s", [0.0, 0.05])
def test_time_limit_leaves_a_valid_bound_and_a_feasible_plan(method, time_s):
    instance = topologies.mi250(2).instance()
    rate, bound = solved(method, instance, Limits(time_s=time_s))
    assert rate <= Fraction(2656, 15) <= bound


@pytest.mark.parametrize("method", METHODS)
def test_switches_that_copy_are_refused(method):
    with pytest.raises(ModelRefused, match="in_network"):
        solved(method, known("H4", in_network=True))


def test_unknown_parameters_are_refused():
    for parameters in ({"smoothing": 1.0}, {"warm_start": "cold"}):
        with pytest.raises(ModelRefused, match=next(iter(parameters))):
            solved("column_generation", known("H2"), **parameters)


@pytest.mark.parametrize("method", METHODS)
def test_runs_are_repeatable(method):
    instance = digraph(np.random.default_rng(7), 5, 2)
    first, second = (
        called(METHODS[method], instance, Limits(), np.random.default_rng(k)) for k in range(2)
    )
    assert first.solution == second.solution
    assert first.certificate == second.certificate
