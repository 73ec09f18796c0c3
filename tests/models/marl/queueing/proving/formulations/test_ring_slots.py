"""F3r, all plans gone through, and enumeration agree where servers have boards and addresses."""

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.marl.queueing.data.generate.topologies import boards, fat_tree
from gadgetopt.models.marl.queueing.evaluate import evaluate
from gadgetopt.models.marl.queueing.formulations import time_slotted
from gadgetopt.models.marl.queueing.proving.certificate.check import alone_bound, srpt_bound
from gadgetopt.models.marl.queueing.proving.exact.plan_search import PlanSearch
from gadgetopt.models.marl.queueing.proving.formulations import ring_slots
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits, Status

from ...brute_force import best_plan, small_architecture, small_instance


def by_model(instance, backend, formulation=ring_slots):
    model = formulation.build(instance)
    solved = solve_model(model, backend, Limits(time_s=60))
    if solved.status is Status.INFEASIBLE:
        return None
    assert solved.status is Status.OPTIMAL
    evaluation = evaluate(instance, formulation.decode(model, instance))
    assert evaluation.feasible
    assert float(evaluation.objective) == pytest.approx(float(solved.objective), rel=1e-6)
    return evaluation.objective


def by_all_plans(instance):
    search = PlanSearch(instance)
    least = search.bound()
    while least is not None:
        found = search.run(least + 1)
        if found is not None:
            evaluation = evaluate(instance, found)
            assert evaluation.feasible
            return evaluation.objective
        least = search.least
    return None


@pytest.mark.parametrize("seed", range(20))
def test_all_routes_have_the_optimum_of_enumeration(seed):
    for k in range(5):
        instance = small_architecture(np.random.default_rng([seed, k]))
        best = best_plan(instance)
        optimum = None if best is None else best[0]
        assert by_model(instance, "cpsat" if (seed + k) % 2 else "highs") == optimum
        assert by_all_plans(instance) == optimum
        if optimum is not None:
            assert alone_bound(instance) <= optimum
            assert srpt_bound(instance, "gpus") <= optimum


@pytest.mark.parametrize("seed", range(10))
def test_without_architecture_it_is_f3(seed):
    instance = small_instance(np.random.default_rng(500 + seed))
    assert by_model(instance, "highs") == by_model(instance, "highs", time_slotted)


def test_f3_refuses_what_it_does_not_know():
    instance = boards(np.random.default_rng(0), jobs=2)
    with pytest.raises(ModelRefused, match="ring_slots"):
        time_slotted.build(instance)


def test_too_many_columns_are_refused():
    with pytest.raises(ModelRefused, match=r"expected at most|a server has more than"):
        ring_slots.build(fat_tree(np.random.default_rng(0), jobs=30, slots=40))
