"""All routes to an optimum agree with the enumeration of all placements."""

import numpy as np
import pytest
from calling import called

from gadgetopt.errors import ModelRefused
from gadgetopt.models.marl.placement.data.generate.presets import single_tasks
from gadgetopt.models.marl.placement.evaluate import evaluate
from gadgetopt.models.marl.placement.formulations import assignment
from gadgetopt.models.marl.placement.proving.exact.price_and_close import price_and_close
from gadgetopt.models.marl.placement.proving.formulations import (
    assignment_cp,
    class_patterns,
    patterns,
)
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits, Status

from ..brute_force import optimum, small_instance

LIMITS = Limits(time_s=60)

MODELS = {
    "F1": (assignment.build, assignment.decode, "highs"),
    "F1 big-M": (assignment.build_big_m, assignment.decode, "highs"),
    "F1 nonconvex": (assignment.build_nonconvex, assignment.decode, "scip"),
    "F2": (patterns.build, patterns.decode, "highs"),
    "F2c": (class_patterns.build, class_patterns.decode, "highs"),
    "F2c in CP-SAT": (class_patterns.build, class_patterns.decode, "cpsat"),
}


def by_model(instance, route):
    """Return the evaluated optimum of a model, None if it has no solution."""
    build, decode, backend = MODELS[route]
    model = build(instance)
    solved = solve_model(model, backend, LIMITS)
    if solved.status is Status.INFEASIBLE:
        return None
    assert solved.status is Status.OPTIMAL
    return checked(instance, decode(model, instance), solved.objective)


def by_method(instance, method):
    """Return the evaluated optimum of a method, None if it proved that there is none."""
    outcome = called(method, instance, LIMITS, np.random.default_rng(0))
    if outcome.proved is Status.INFEASIBLE:
        return None
    return checked(instance, outcome.solution, outcome.claimed_objective)


def checked(instance, solution, claimed):
    evaluation = evaluate(instance, solution)
    assert evaluation.feasible
    assert float(evaluation.objective) == pytest.approx(float(claimed), rel=1e-6)
    return evaluation.objective


def agree(found, best):
    return found is best if best is None else float(found) == pytest.approx(float(best), rel=1e-6)


@pytest.mark.parametrize("seed", range(30))
def test_enumeration_f1_f2_cpsat_and_column_generation_agree(seed):
    rng = np.random.default_rng(seed)
    for _ in range(10):
        instance = small_instance(rng)
        best = optimum(instance)
        assert agree(by_method(instance, price_and_close), best)
        assert agree(by_model(instance, "F2"), best)
        if instance.additive:
            assert agree(by_model(instance, "F1"), best)
            assert agree(by_method(instance, assignment_cp.assignment_cp), best)


@pytest.mark.parametrize("route", ["F1 big-M", "F1 nonconvex"])
@pytest.mark.parametrize("seed", range(8))
def test_the_other_forms_of_the_products_have_the_same_optimum(route, seed):
    instance = small_instance(np.random.default_rng(100 + seed), additive=True)
    assert agree(by_model(instance, route), optimum(instance))


@pytest.mark.parametrize("seed", range(8))
def test_classes_of_single_tasks_have_the_same_optimum(seed):
    rng = np.random.default_rng(seed)
    instance = single_tasks(rng, classes=3, jobs=6, servers=3, gpus=2)
    best = optimum(instance)
    for route in ("F2", "F2c", "F2c in CP-SAT"):
        assert agree(by_model(instance, route), best)
    assert agree(by_method(instance, price_and_close), best)


def test_models_say_what_they_are_not_made_for():
    instance = next(
        i
        for i in (small_instance(np.random.default_rng(seed)) for seed in range(100))
        if not i.additive and max(job.num_tasks for job in i.jobs) > 1
    )
    with pytest.raises(ModelRefused, match="measured: F1 needs slowdowns that are sums"):
        assignment.build(instance)
    with pytest.raises(ModelRefused, match="but F2c is for single tasks"):
        class_patterns.build(instance)
