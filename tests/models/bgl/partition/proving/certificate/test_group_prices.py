"""Whatever prices of nodes a certificate holds, what they prove is below the optimum."""

import numpy as np
import pytest

from gadgetopt.models.bgl.partition.data.generate.presets import planted
from gadgetopt.models.bgl.partition.proving.bounds.group_bound import group_proof
from gadgetopt.models.bgl.partition.proving.certificate.group_prices import (
    GroupPrices,
    GroupWeights,
    group_bound,
)
from gadgetopt.search.clock import Clock

from ...brute_force import instance_of, run
from .test_same_part import drawn


@pytest.mark.parametrize("seed", range(80))
def test_any_prices_prove_a_bound_below_the_optimum(seed):
    instance, best, rng = drawn(500 + seed)
    weights = GroupWeights(instance)
    mean = 1 + int(weights.of_others.mean() if weights.of_others.size else weights.among.mean())
    for factor in (0, 1, 3):
        proof = GroupPrices(
            others=tuple(rng.integers(0, factor * mean + 1, size=len(weights.of_others)).tolist()),
            trained=tuple(
                rng.integers(-mean, factor * mean + 1, size=len(weights.trained)).tolist()
            ),
        )
        assert group_bound(instance, proof) <= best


@pytest.mark.parametrize("seed", range(40))
def test_the_descent_s_prices_are_below_the_optimum(seed):
    instance, best, _ = drawn(700 + seed)
    assert group_bound(instance, group_proof(instance, Clock())) <= best


def test_two_nodes_for_one_training_node_each():
    """Training nodes 0 and 5 on their own: with no price for anybody, two parts keep at most twice
    the best of them, 1 + 1, so nothing is proved; nothing is cut in the optimum either."""
    instance = instance_of(train=(0, 5))
    scale = instance.pair_weights.scale
    assert group_bound(instance, GroupPrices(others=(0,) * 4, trained=(0, 0))) == 0
    with_price = GroupPrices(others=(0,) * 4, trained=(2 * scale, 2 * scale))
    assert group_bound(instance, with_price) == 0


def test_prices_come_near_the_optimum_of_few_training_nodes():
    instance = planted(
        np.random.default_rng(2), nodes=60, inside=8.0, outside=3.0, train_share=0.12, parts=4
    )
    best = run(instance, "elimination")
    found = run(instance, "group_prices")
    assert best.status.value == "optimal"
    assert found.bound_voucher == "verified"
    assert 0.7 * best.bound < found.bound <= best.bound


def test_prices_of_another_number_of_nodes_are_refused():
    with pytest.raises(ValueError, match="expected 4 and 2 prices"):
        group_bound(instance_of(train=(0, 5)), GroupPrices(others=(1,), trained=(0, 0)))


def test_too_many_groups_are_refused():
    instance = planted(np.random.default_rng(0), nodes=300, train_share=0.3)
    with pytest.raises(ValueError, match="groups of training nodes are too many"):
        GroupWeights(instance)
