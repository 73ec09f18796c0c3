"""ForestColl's plans: feasible everywhere, optimal where the theorem says so."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.models.forest_packing.baselines.forestcoll import forestcoll
from gadgetopt.models.forest_packing.data.generate.topologies import dgx_a100
from gadgetopt.models.forest_packing.evaluate import evaluate
from gadgetopt.models.forest_packing.instance import ForestPackingInstance
from gadgetopt.system.result import Limits

from ..expected import RATES, library_instance
from ..networks import (
    asked,
    eulerian,
    known,
    random_instance,
)

RNG = np.random.default_rng(0)


def rate(instance, outcome):
    """The evaluator's rate of a plan, which must hold and be what the method claims."""
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible, evaluation.violations
    assert evaluation.objective == outcome.claimed_objective
    return evaluation.objective


@given(st.integers(0, 2**32), st.integers(0, 2))
def test_plans_are_feasible_and_within_the_bound(seed, trees_per_root):
    instance = random_instance(seed)
    outcome = forestcoll(instance, Limits(), trees_per_root=trees_per_root)
    value = rate(instance, outcome)
    assert outcome.dual_bound is None or value <= outcome.dual_bound


@given(
    st.integers(0, 2**32),
    st.sampled_from(["allgather", "reduce_scatter"]),
    st.sampled_from(["uniform", "fixed", "weights"]),
)
def test_one_stage_is_optimal_on_eulerian_networks(seed, collective, root_mode):
    rng = np.random.default_rng(seed)
    network = eulerian(rng, int(rng.integers(2, 6)), int(rng.integers(4)))
    instance = asked(network, collective, root_mode)
    outcome = forestcoll(instance, Limits())
    assert rate(instance, outcome) == outcome.dual_bound > 0


# The larger ones take seconds.
SMALL = [
    *("dgx1_v100", "dgx1_p100", "ndv2_x2", "dgx2", "a100_x2", "a100_x4", "h100_x2", "mi250"),
    *("amd8", "star_8", "fat_tree_4", "bcube_4", "dcell_4", "torus_4x4", "ring_8", "complete_8"),
]


@pytest.mark.parametrize("name", SMALL)
def test_library_networks_reach_their_published_rates(name):
    gather = library_instance(name, collective="allgather", root_mode="uniform")
    assert rate(gather, forestcoll(gather, Limits())) == RATES[name].allgather


# Reduce-scatter, then allgather: N x*/2, whether the stages take turns or not.
@pytest.mark.parametrize("name", ["dgx1_v100", "a100_x2", "ndv2_x2", "fat_tree_4"])
@pytest.mark.parametrize("stage_mode", ["overlap", "sequential"])
def test_allreduce_takes_the_time_of_both_stages(name, stage_mode):
    instance = library_instance(name, stage_mode=stage_mode)
    assert rate(instance, forestcoll(instance, Limits())) == RATES[name].allgather / 2


# H7, uniform shares: broadcast and reduce at 9/2 each.
def test_allreduce_on_asymmetric_links_takes_turns():
    instance = known("H7")
    outcome = forestcoll(instance, Limits())
    rates = [Fraction(outcome.notes[f"{stage}_rate"]) for stage in ("reduce", "broadcast")]
    assert rates[1] == Fraction(9, 2)
    assert rate(instance, outcome) == 1 / (1 / rates[0] + 1 / rates[1])


# Published for allgather: not monotone in k, optimal at 6 on a DGX-1V.
@pytest.mark.parametrize(
    ("name", "k", "expected"),
    [
        *(("dgx1_v100", k, r) for k, r in ((1, "400/3"), (2, "160"), (3, "150"), (4, "160"))),
        *(("dgx1_v100", 6, "1200/7"), ("a100_x2", 1, "2400/7")),
        *(("mi250", k, r) for k, r in ((1, "800/3"), (2, "320"), (3, "2400/7"))),
    ],
)
def test_a_fixed_number_of_trees_per_root(name, k, expected):
    instance = library_instance(name, collective="allgather", root_mode="uniform")
    outcome = forestcoll(instance, Limits(), trees_per_root=k)
    assert rate(instance, outcome) == Fraction(expected)


@pytest.mark.parametrize("collective", ["allreduce", "sequential", "allgather"])
def test_a_disconnected_network_has_the_empty_plan_and_a_proof(collective):
    network = library_instance("dgx1_v100_0_1_2_7")
    root_mode = "uniform" if collective == "allgather" else "free"
    instance = asked(network, collective, root_mode)
    outcome = forestcoll(instance, Limits())
    assert rate(instance, outcome) == 0
    assert outcome.dual_bound == 0


def test_a_network_without_links_has_the_empty_plan():
    instance = ForestPackingInstance(
        workers=(0, 1), links=(), collective="allgather", root_mode="uniform"
    )
    assert rate(instance, forestcoll(instance, Limits())) == 0


def test_the_bound_is_left_when_time_is_up():
    instance = dgx_a100(4).instance(collective="allgather", root_mode="uniform")
    outcome = forestcoll(instance, Limits(time_s=0.0))
    assert outcome.limit_hit == "time_s"
    assert outcome.solution is None
    assert outcome.dual_bound >= Fraction(800, 3)


def test_a_negative_number_of_trees_is_refused():
    with pytest.raises(ModelRefused, match="trees_per_root"):
        forestcoll(known("H2"), Limits(), trees_per_root=-1)
