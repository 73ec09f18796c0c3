"""The Pyomo models against enumeration, and their solutions against the evaluator."""

import numpy as np
import pytest

from gadgetopt.models.knapsack.evaluate import evaluate
from gadgetopt.models.knapsack.formulations.direct import build, build_relaxation, decode
from gadgetopt.numbers.tolerance import agrees
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Status

from ..brute_force import optimum, small_instance


@pytest.mark.parametrize("backend", ["highs", "cpsat"])
@pytest.mark.parametrize("seed", range(15))
def test_the_direct_model_is_exact(seed, backend):
    instance = small_instance(np.random.default_rng(seed))
    best = optimum(instance)
    model = build(instance)
    outcome = solve_model(model, backend)
    if best is None:
        assert outcome.status is Status.INFEASIBLE
        return
    assert outcome.status is Status.OPTIMAL
    assert agrees(outcome.objective, best)
    evaluation = evaluate(instance, decode(model, instance))
    assert evaluation.feasible
    assert evaluation.objective == best


@pytest.mark.parametrize("seed", range(15))
def test_the_relaxation_is_no_less_than_the_optimum(seed):
    instance = small_instance(np.random.default_rng(seed))
    best = optimum(instance)
    outcome = solve_model(build_relaxation(instance))
    if best is not None:
        assert outcome.objective >= float(best) - 1e-9
