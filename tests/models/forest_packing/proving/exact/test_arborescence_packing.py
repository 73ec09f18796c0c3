"""Arborescence packing: rate, partition and column generation agree as fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.models.forest_packing.data.generate import presets
from gadgetopt.models.forest_packing.evaluate import evaluate
from gadgetopt.models.forest_packing.proving.certificate.check import check_bound
from gadgetopt.models.forest_packing.proving.exact.arborescence_packing import arborescence_packing
from gadgetopt.models.forest_packing.proving.exact.column_generation import column_generation
from gadgetopt.models.forest_packing.subproblems.strength import (
    capacity_matrix,
    tree_packing_number,
)
from gadgetopt.system.result import Limits

from ...networks import (
    asked,
    cables,
    digraph,
    known,
    symmetric,
    with_nics,
)


def packed(instance, limits=None):
    """Run the method, check what it returns exactly; return rate, bound and outcome."""
    outcome = arborescence_packing(instance, limits or Limits())
    bound = check_bound(instance, outcome.certificate)
    assert bound == outcome.dual_bound
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible, evaluation.violations
    assert evaluation.objective == outcome.claimed_objective <= bound
    return evaluation.objective, bound, outcome


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 9), st.sampled_from(["free", "uniform", "weights"]))
def test_rate_bound_and_column_generation_agree_as_fractions(seed, workers, roots):
    instance = symmetric(np.random.default_rng(seed), workers)
    instance = asked(instance, "allreduce", roots)
    rate, bound, _ = packed(instance)
    columns = column_generation(instance, Limits())
    assert rate == bound == columns.dual_bound == columns.claimed_objective


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(10, 30),
    st.sampled_from(["uniform", "lognormal", "two_level"]),
)
def test_dense_overlays_reach_their_strength(seed, workers, distribution):
    rng = np.random.default_rng(seed)
    instance = presets.paper(rng, workers=workers, distribution=distribution)
    rate, bound, _ = packed(instance)
    network = instance.network
    assert rate == bound == tree_packing_number(capacity_matrix(network)).value * network.unit


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6))
def test_networks_with_stronger_parts_are_packed_minor_by_minor(seed):
    rng = np.random.default_rng(seed)
    instance = presets.clustered(rng, clusters=3, cluster_workers=4)
    rate, bound, outcome = packed(instance)
    assert rate == bound
    assert outcome.notes["minors"] >= 2


def test_parts_of_parts_and_parallel_cables():
    # Pairs {0, 1}, {2, 3} of 10 GB/s; between them 2 + 1 GB/s, parallel once the pairs are shrunk.
    rate, bound, outcome = packed(known("H3"))
    assert rate == bound == 3
    assert outcome.notes["minors"] == 3
    # A chain of ever stronger cables: one minor each.
    links = cables((0, 1, 1), (1, 2, 2), (2, 3, 4))
    chain = known("H6").model_copy(update={"links": links})
    rate, bound, outcome = packed(chain)
    assert rate == bound == 1
    assert len(outcome.solution.trees) == 1


@pytest.mark.parametrize(
    ("name", "optimum"), [("H2", "9/2"), ("H3", "3"), ("H6", "1"), ("DGX-1V", "600/7")]
)
def test_known_optima(name, optimum):
    rate, bound, _ = packed(known(name))
    assert rate == bound == Fraction(optimum)


def test_a_network_in_pieces_has_rate_zero():
    pieces = known("H2").model_copy(update={"links": known("H2").links[:1]})
    assert packed(pieces)[:2] == (0, 0)


def test_without_time_the_bound_holds():
    instance = presets.paper(np.random.default_rng(0), workers=12)
    exact = packed(instance)[0]
    outcome = arborescence_packing(instance, Limits(time_s=0.0))
    assert outcome.limit_hit == "time_s"
    assert check_bound(instance, outcome.certificate) >= exact
    assert evaluate(instance, outcome.solution).feasible


def test_other_networks_are_refused():
    rng = np.random.default_rng(0)
    for instance in (
        digraph(rng, 4),
        known("H4"),
        known("H2", collective="allgather"),
        known("H2", stage_mode="sequential"),
        known("H2", duplex="half"),
        with_nics(rng, known("H3")),
    ):
        with pytest.raises(ModelRefused, match="arborescence_packing"):
            arborescence_packing(instance, Limits())


def test_numbers_that_pass_64_bits_are_refused():
    links = cables((0, 1, 1e12), (1, 2, 1e-12), (0, 2, 1.0))
    instance = known("H2").model_copy(update={"links": links})
    with pytest.raises(ModelRefused, match="61 bits"):
        arborescence_packing(instance, Limits())


def test_runs_are_repeatable():
    instance = presets.paper(np.random.default_rng(5), workers=10)
    first, second = (packed(instance)[2] for _ in range(2))
    assert first.solution == second.solution
