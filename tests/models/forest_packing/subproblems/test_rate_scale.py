"""The scale of the linear programs: rates are found whatever the range of the capacities is."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from calling import called

from gadgetopt.models.forest_packing.evaluate import evaluate
from gadgetopt.models.forest_packing.instance import ForestPackingInstance
from gadgetopt.models.forest_packing.proving.exact.bounded_depth import bounded_depth
from gadgetopt.models.forest_packing.proving.exact.column_generation import column_generation
from gadgetopt.models.forest_packing.proving.exact.cut_generation import cut_generation
from gadgetopt.models.forest_packing.subproblems.price_oracles import make_oracle
from gadgetopt.models.forest_packing.subproblems.rate_scale import rate_scale
from gadgetopt.system.result import Limits

from ..networks import arcs, cables

LIMITS = Limits(time_s=20)


def wide_network(seed: int, **fields) -> ForestPackingInstance:
    """Five workers and a switch, capacities of 1e-6 to 1e9."""
    rng = np.random.default_rng(seed)
    links = [(u, v, 10 ** rng.uniform(-6, 9)) for u, v in permutations(range(6), 2)]
    symmetric = fields.pop("symmetric", False)
    given = cables(*(link for link in links if link[0] < link[1])) if symmetric else arcs(*links)
    return ForestPackingInstance(workers=(0, 1, 2, 3, 4), switches=(5,), links=given, **fields)


@pytest.mark.parametrize("method", [cut_generation, column_generation])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_plan_and_bound_agree_for_capacities_of_fifteen_orders(method, symmetric, seed):
    instance = wide_network(seed, symmetric=symmetric)
    outcome = called(method, instance, LIMITS, np.random.default_rng(0))
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible, evaluation.violations
    assert 0 < outcome.claimed_objective <= outcome.dual_bound
    assert float(outcome.claimed_objective) >= float(outcome.dual_bound) * (1 - 1e-7)


@pytest.mark.parametrize("stage_mode", ["overlap", "sequential"])
@pytest.mark.parametrize("seed", range(4))
def test_the_scale_bounds_the_rate_and_is_near_it(stage_mode, seed):
    instance = wide_network(seed, stage_mode=stage_mode)
    outcome = column_generation(instance, LIMITS)
    oracle = make_oracle(instance)
    scale = rate_scale(oracle, 5).rate
    rate = float(outcome.claimed_objective)
    assert rate <= scale * (1 + 1e-9)
    assert scale <= len(oracle.capacity) * float(outcome.dual_bound)


def test_shallow_trees_are_found_for_capacities_of_fifteen_orders():
    for seed in range(3):
        instance = wide_network(seed, symmetric=True, max_depth=8)
        outcome = bounded_depth(instance, LIMITS)
        assert float(outcome.claimed_objective) >= float(outcome.dual_bound) * (1 - 1e-6)
