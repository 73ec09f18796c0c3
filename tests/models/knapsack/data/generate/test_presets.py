"""Presets: the ranges and structure of their instances."""

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.knapsack.data.generate.presets import multiple_choice, paper, uncorrelated


def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize("preset", [paper, uncorrelated])
def test_capacities_are_the_tightness_times_the_sum_of_weights(preset):
    instance = preset(rng(), items=40, rows=4, tightness=0.75)
    assert (instance.num_items, len(instance.capacities)) == (40, 4)
    for r, capacity in enumerate(instance.capacities):
        total = sum(item.weights[r] for (item,) in instance.groups)
        assert capacity <= 0.75 * float(total) < capacity + 1


def test_profits_follow_the_weights_as_chu_and_beasley_have_it():
    instance = paper(rng(), items=200, rows=5)
    for (item,) in instance.groups:
        mean = sum(item.weights) / 5
        assert mean - 1 < item.profit <= mean + 500


def test_a_choice_of_every_multiple_choice_knapsack_fits():
    for seed in range(20):
        instance = multiple_choice(np.random.default_rng(seed), groups=3, items=2, rows=6)
        assert instance.exactly_one
        assert all(capacity >= 15 for capacity in instance.capacities)


def test_the_same_seed_gives_the_same_instance():
    assert paper(rng()) == paper(rng())
    assert multiple_choice(rng()) == multiple_choice(rng())


@pytest.mark.parametrize("tightness", [0.0, 1.0, -1.0])
def test_a_tightness_that_makes_no_knapsack_is_refused(tightness):
    with pytest.raises(InputError, match="expected a number between 0 and 1"):
        paper(rng(), tightness=tightness)
