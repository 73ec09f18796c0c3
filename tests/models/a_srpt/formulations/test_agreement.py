"""All routes to the optimum agree."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.a_srpt import PROBLEM
from gadgetopt.models.a_srpt.evaluate import evaluate
from gadgetopt.system.files import Document
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve

from ..brute_force import optimum, tiny
from ..hand_checked import H1, H3, H4

EXACT = (
    "decomposition",
    "cp_configurations",
    "cp_demands",
    "time_indexed@highs",
    "time_indexed@cpsat",
)
POOL = ("cp_pool", "pool_time_indexed@highs", "pool_time_indexed@cpsat", "pool_templates@highs")


def run(instance, method):
    return solve(Document(PROBLEM, "instance", "drawn", instance), method, Limits(time_s=60))


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize(("instance", "value"), [(H1, 1), (H3, 13), (H4, 32)])
def test_hand_checked_optima(instance, value, method):
    result = run(instance, method)
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, value, value)


def test_enumeration_of_the_hand_checked_instances():
    assert [optimum(instance) for instance in (H1, H3, H4)] == [1, 13, 32]


@pytest.mark.parametrize(
    "first", [0, 20, *(pytest.param(k, marks=pytest.mark.slow) for k in range(40, 200, 20))]
)
def test_all_routes_agree_on_random_tiny_instances(first):
    for seed in range(first, first + 20):
        instance = tiny(np.random.default_rng(seed))
        value = optimum(instance)
        for method in EXACT:
            result = run(instance, method)
            assert result.status is Status.OPTIMAL, (seed, method, result.reason)
            assert result.objective == value, (seed, method)
            assert evaluate(instance, result.solution).objective == value


def test_pool_models_agree_and_bound_the_optimum():
    for seed in range(40):
        instance = tiny(np.random.default_rng(seed))
        bounds = {method: run(instance, method).bound for method in POOL}
        assert max(bounds.values()) - min(bounds.values()) < Fraction(1, 10**6), (seed, bounds)
        assert max(bounds.values()) <= optimum(instance) + Fraction(1, 10**6)


def test_time_indexed_programs_have_exact_fractional_weights():
    """Weights of thirds and sevenths fit the integers of solvers; no bound is refuted."""
    for seed in range(4):
        instance = tiny(np.random.default_rng(seed))
        weights = [Fraction(1, 3), Fraction(5, 7), Fraction(3, 1000), Fraction(2, 3)]
        jobs = tuple(
            job.model_copy(update={"weight": w})
            for job, w in zip(instance.jobs, weights, strict=False)
        )
        weighted = instance.model_copy(update={"jobs": jobs})
        value = optimum(weighted)
        for method in ("time_indexed@highs", "time_indexed@cpsat"):
            result = run(weighted, method)
            assert (result.status, result.objective) == (Status.OPTIMAL, value), result.reason
        for method in ("pool_time_indexed@cpsat", "pool_templates@cpsat"):
            assert run(weighted, method).bound <= value
