"""Baselines by hand and by their theorems; posted prices; limits and refusals."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.adversarial_bundles.data.generate import presets
from gadgetopt.models.adversarial_bundles.guarantees import ratios
from gadgetopt.models.adversarial_bundles.pictures import worst

from .brute_force import EXAMPLE_6, PARTS, game, run


@given(st.integers(0, 2**32 - 1))
def test_theorems_hold_for_units_of_one_resource(seed):
    rng = np.random.default_rng(seed)
    values = rng.choice(20, size=int(rng.integers(1, 4)), replace=False) + 1
    types = [(int(v), (1,)) for v in values]
    instance = game((int(rng.integers(1, 4)),), types, int(rng.integers(1, 5)))
    assert ratios.of_units(instance, {})
    best = run(instance).objective
    for method, theorem in (
        ("drawn_price", ratios.drawn_price_ratio),
        ("greedy", ratios.greedy_ratio),
    ):
        found = run(instance, method).objective
        assert best <= found <= theorem(instance, {})


def test_the_drawn_price_by_hand():
    # Values of a unit 1, 1, 3/2, 4/3: prices 1, 4/3, 3/2 with shares 1, 1/4, 1/9, of 49/36.
    instance = game((2, 2), EXAMPLE_6, 2)
    assert not ratios.of_units(instance, {})
    assert run(instance, "drawn_price").objective == Fraction(49, 18)


def test_greedy_sells_the_part_and_misses_the_bundle():
    assert run(game((1, 1), PARTS, 2), "greedy").objective == 4


def test_posted_prices_cost_something_where_values_tell_of_the_future():
    # A price is posted for the bundle before its value is seen; for ratios the best seller sells
    # to higher values more often anyway in all games of the study.
    instance = game((2, 2), EXAMPLE_6, 3)
    assert run(instance, "posted_sequence_form@highs").objective == run(instance).objective


@pytest.mark.parametrize("method", ["sequence_form@highs", "deterministic", "greedy"])
def test_too_many_histories_are_refused(method):
    found = run(game((2, 2), EXAMPLE_6, 40), method)
    assert found.refused
    assert "histories" in found.reason


@pytest.mark.parametrize("preset", ["quickstart", "paper", "kept_for_good", "bundle_and_parts"])
def test_presets_draw_games_that_are_closed(preset):
    instance = getattr(presets, preset)(np.random.default_rng(3))
    found = run(instance)
    assert found.status == "optimal"
    figure = worst.draw(instance, found.solution)
    assert f"{float(found.objective):.6g}" in figure.layout.title.text
