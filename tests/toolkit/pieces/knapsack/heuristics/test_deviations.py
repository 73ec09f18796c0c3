"""Packings near the relaxation: laws, known optima, and what a limit leaves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from gadgetopt.models.knapsack.data.generate.presets import paper
from gadgetopt.models.knapsack.scaling import scaled
from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.pieces.knapsack.core import cg_core
from gadgetopt.pieces.knapsack.heuristics import deviations, memetic
from gadgetopt.pieces.knapsack.heuristics.deviations import MOST_PARTIAL, NearRelaxation
from gadgetopt.pieces.knapsack.relaxation import linear_relaxation
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ..small_knapsacks import FIVE_ITEMS, PETERSEN_1, WEING_1, best_value, fits, knapsacks

NOTHING = np.array([], dtype=np.int64)


def searched(knapsack, chosen=NOTHING, limits=None):
    search = NearRelaxation(knapsack, linear_relaxation(knapsack), chosen)
    search.run(Clock(limits))
    return search


@settings(max_examples=60)
@given(knapsacks(single=True, exactly_one=False))
def test_with_a_budget_of_the_whole_gap_the_best_packing_is_found(knapsack):
    search = searched(knapsack)
    assert fits(knapsack, search.chosen)
    assert search.value == knapsack.value(search.chosen)
    assert search.value == pytest.approx(best_value(knapsack))


@pytest.mark.parametrize("step", [1, 3, 200_000])
@pytest.mark.parametrize(
    ("knapsack", "optimum"), [(FIVE_ITEMS, 27), (PETERSEN_1, 3800), (WEING_1, 141278)]
)
def test_known_optima_are_found_in_steps_of_any_length(monkeypatch, knapsack, optimum, step):
    monkeypatch.setattr(deviations, "STEP", step)
    assert searched(knapsack).value == optimum


def test_a_limit_keeps_the_incumbent_and_goes_through_nothing():
    search = searched(PETERSEN_1, np.array([1]), Limits(time_s=0.0))
    assert search.value == 600
    assert search.chosen.tolist() == [1]
    assert search.sets == 0


def test_choices_of_many_partial_items_are_not_listed():
    knapsack = scaled(paper(np.random.default_rng(0), items=100, rows=30)).knapsack
    relaxation = linear_relaxation(knapsack)
    assert not NearRelaxation(knapsack, relaxation, NOTHING).lists_choices
    few = replace(relaxation, y=np.round(relaxation.y))
    assert np.count_nonzero((relaxation.y > 0) & (relaxation.y < 1)) > MOST_PARTIAL
    assert NearRelaxation(knapsack, few, NOTHING).lists_choices


def test_the_default_method_goes_through_packings_near_the_relaxation(monkeypatch):
    monkeypatch.setattr(memetic, "PATIENCE", 500)
    knapsack = scaled(paper(np.random.default_rng(0), items=250, rows=10)).knapsack
    found = cg_core(knapsack, Limits(time_s=3.0), np.random.default_rng(0))
    assert fits(knapsack, found.chosen)
    assert found.value <= found.bound
    assert ("sets_near_relaxation" in found.notes) == COMPILED
