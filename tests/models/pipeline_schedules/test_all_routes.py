"""Brute force, both models, the constraint program and the default agree; no bound is above."""

import os

import numpy as np
import pytest

from gadgetopt.models.pipeline_schedules.proving.bounds.formulas import (
    all_bounds,
    machine_bounds,
)
from gadgetopt.models.pipeline_schedules.shop import shop_of
from gadgetopt.system.result import Limits, Status

from .brute_force import optimum
from .conftest import solved
from .random_cases import one_stage_less, random_instance, two_ways

#: Random instances; GADGETOPT_PIPELINES=300 draws more.
COUNT = int(os.environ.get("GADGETOPT_PIPELINES", "10"))
SIZES = ((2, 2), (2, 2), (2, 2), (3, 2), (2, 3))


def drawn(seed):
    """Return a tiny instance: one chunk a device, two on one or both devices, or two routes."""
    rng = np.random.default_rng(seed)
    kind = seed % 5
    if kind == 3 and seed % 2:
        return random_instance(rng, sizes=((2, 1),), chunks=(2,))
    if kind == 3:
        return one_stage_less(random_instance(rng, sizes=((2, 2),), chunks=(2,)))
    if kind == 4:
        return two_ways(random_instance(rng, sizes=((2, 1),), chunks=(1,)))
    return random_instance(rng, sizes=SIZES, chunks=(1,))


@pytest.mark.parametrize("seed", range(COUNT))
def test_all_exact_routes_agree_with_brute_force(seed):
    instance = drawn(seed)
    best = optimum(instance)
    for method in ("cp", "close_gap", "disjunctive@highs"):
        result = solved(instance, method=method, time_s=600)
        expected = Status.INFEASIBLE if best is None else Status.OPTIMAL
        assert result.status is expected, method
        assert result.objective == pytest.approx(best) if best else result.objective is None
    if best is not None:
        shop = shop_of(instance)
        for ticks, proof in (*all_bounds(shop), *machine_bounds(shop)):
            assert ticks <= best * instance.ticks_per_s, proof


@pytest.mark.parametrize("seed", range(max(2, COUNT // 10)))
def test_the_constraint_program_needs_no_dominance(seed):
    from gadgetopt.models.pipeline_schedules.formulations.cp import ScheduleModel
    from gadgetopt.solvers.cpsat import solve_cp

    instance = drawn(seed)
    shop = shop_of(instance)
    values = []
    for dominance in (True, False):
        model = ScheduleModel(shop, shop.horizon, dominance=dominance)
        model.model.minimize(model.length)
        values.append(solve_cp(model.model, Limits(time_s=60)).objective)
    assert values[0] == values[1]


def test_the_time_indexed_model_agrees_where_it_is_small():
    instance = random_instance(np.random.default_rng(5), sizes=((2, 2),), chunks=(1,))
    instance = instance.model_copy(update={"objective": "makespan"})
    best = optimum(instance)
    assert best is not None
    for backend in ("highs", "cpsat"):
        assert solved(instance, method=f"time_indexed@{backend}").objective == best
