"""Local search and large neighbourhoods: never worse than their start, never below the optimum."""

import numpy as np
import pytest
from calling import called

from gadgetopt.models.marl.placement.baselines.rules import by_rule
from gadgetopt.models.marl.placement.data.generate import presets
from gadgetopt.models.marl.placement.evaluate import evaluate
from gadgetopt.models.marl.placement.heuristics.lns import lns
from gadgetopt.models.marl.placement.heuristics.local_search import local_search
from gadgetopt.system.result import Limits

from ..brute_force import optimum, small_instance
from ..test_evaluate import tiny


def value(instance, outcome):
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible
    return evaluation.objective


def run(method, instance, seed=0, **parameters):
    return called(method, instance, Limits(), np.random.default_rng(seed), **parameters)


@pytest.mark.parametrize("seed", range(40))
def test_large_neighbourhoods_find_the_optimum_of_tiny_instances(seed):
    instance = small_instance(np.random.default_rng(seed))
    least = optimum(instance)
    searched = run(local_search, instance)
    if least is None:
        assert searched.solution is None
    elif searched.solution is not None:
        assert value(instance, searched) >= least
        assert value(instance, run(lns, instance, rounds=60)) == least


@pytest.mark.parametrize("rule", ["tetris", "pack", "lif", "greedy_jct", "random"])
def test_no_search_ends_above_its_start(rule):
    instance = presets.leaf_spine(np.random.default_rng(5), jobs=20, servers_per_rack=5)
    start = value(instance, by_rule(instance, Limits(), np.random.default_rng(0), rule, "fifo"))
    local = value(instance, run(local_search, instance, start=rule))
    large = value(instance, run(lns, instance, start=rule, rounds=60))
    assert large <= local <= start or large <= start
    assert local <= start


def test_equal_seeds_give_equal_placements():
    instance = presets.leaf_spine(np.random.default_rng(6), jobs=20, servers_per_rack=5)
    for method, parameters in ((local_search, {}), (lns, {"rounds": 40})):
        first, second = (run(method, instance, 3, **parameters).solution for _ in range(2))
        assert first == second


def test_there_is_nothing_to_place_without_jobs():
    for method in (local_search, lns):
        assert run(method, tiny("no_jobs")).solution.tasks == ()
