"""The memetic search as a method: feasible, bounded, no worse than its start, by seed."""

import numpy as np
import pytest
from hypothesis import given, settings

from gadgetopt.errors import ModelRefused
from gadgetopt.models.knapsack.data.generate.presets import paper
from gadgetopt.models.knapsack.heuristics.greedy import greedy
from gadgetopt.models.knapsack.heuristics.memetic import memetic
from gadgetopt.system.files import library, read_instance
from gadgetopt.system.result import Limits

from ..brute_force import optimum, small_instances
from ..outcomes import bound_of, run, value_of

TINY = library() / "knapsack" / "tiny"


@settings(max_examples=30)
@given(small_instances(single_items=True))
def test_its_choice_is_feasible_and_never_above_the_optimum(instance):
    if instance.multiple_choice:
        return
    outcome = run(memetic, instance, children=300)
    assert value_of(instance, outcome) <= optimum(instance) <= bound_of(instance, outcome)


@pytest.mark.parametrize(
    ("name", "profit"), [("e6_two_rows", 27), ("e7_petersen1", 3800), ("e7_weing1", 141278)]
)
def test_it_finds_the_known_optima(name, profit):
    instance = read_instance(TINY / f"{name}.json").data
    assert value_of(instance, run(memetic, instance, children=20_000)) == profit


@pytest.mark.parametrize("seed", range(3))
def test_it_is_never_worse_than_greedy_and_the_same_again(seed):
    instance = paper(np.random.default_rng(seed), items=60, rows=10)
    first, again = (run(memetic, instance, children=5000) for _ in range(2))
    assert first.solution == again.solution
    assert value_of(instance, first) >= value_of(instance, run(greedy, instance))
    assert first.limit_hit is None


def test_a_time_limit_is_told():
    instance = paper(np.random.default_rng(0), items=100, rows=30)
    outcome = run(memetic, instance, Limits(time_s=0.2), children=10**9)
    assert outcome.limit_hit == "time_s"
    assert value_of(instance, outcome) <= bound_of(instance, outcome)


def test_it_refuses_groups():
    khan = read_instance(TINY / "e8_khan_i01.json").data
    with pytest.raises(ModelRefused, match="single items"):
        run(memetic, khan)
