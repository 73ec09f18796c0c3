"""The greedy choice: feasible, never above the optimum, and improved within groups."""

import numpy as np
from hypothesis import given

from gadgetopt.models.knapsack.data.generate.presets import multiple_choice
from gadgetopt.models.knapsack.heuristics.greedy import greedy
from gadgetopt.models.knapsack.proving.exact.methods import cg_core

from ..brute_force import optimum, small_instances
from ..outcomes import run, value_of


@given(instance=small_instances())
def test_greed_is_feasible_or_says_nothing(instance):
    outcome = run(greedy, instance)
    if outcome.solution is not None:
        assert value_of(instance, outcome) <= optimum(instance)
    else:
        assert instance.exactly_one


def test_greed_exchanges_within_groups():
    instance = multiple_choice(np.random.default_rng(1), groups=6, items=6, rows=4)
    found = value_of(instance, run(greedy, instance))
    best = value_of(instance, run(cg_core, instance))
    assert 0.8 * best < found <= best
