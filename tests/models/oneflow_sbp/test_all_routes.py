"""All exact routes agree with enumeration, and bounds lie below."""

import numpy as np
import pytest

from gadgetopt.models.oneflow_sbp import PROBLEM
from gadgetopt.models.oneflow_sbp.evaluate import evaluate
from gadgetopt.models.oneflow_sbp.proving.certificate.check import check_bound
from gadgetopt.numbers.tolerance import agrees, exceeds
from gadgetopt.system.methods import find_method
from gadgetopt.system.result import Limits, Status

from .brute_force import brute_force, listed_instance, random_instance

SEEDS = 200
BATCH = 50
BOUNDS = ("lagrangian", "reparametrisation", "mini_buckets:most_cells=3", "compute_only")


def run(name, instance, seed=0):
    call = find_method(PROBLEM, name)
    return call.method.run(
        instance, Limits(time_s=60), np.random.default_rng(seed), **call.all_parameters
    )


def assert_optimal(instance, optimum, name):
    outcome = run(name, instance)
    if optimum is None:
        assert outcome.solution is None, name
        assert outcome.proved is Status.INFEASIBLE, name
        return
    judged = evaluate(instance, outcome.solution)
    assert judged.feasible, name
    assert agrees(float(judged.objective), float(optimum)), name
    assert not exceeds(float(outcome.dual_bound), float(optimum)), name
    if outcome.certificate is not None and name == "branch_and_bound":
        assert check_bound(instance, outcome.certificate) == outcome.dual_bound
        assert judged.objective == optimum == outcome.dual_bound


@pytest.mark.parametrize("first", range(0, SEEDS, BATCH))
def test_branch_and_bound_finds_the_optimum_of_enumeration(first):
    for seed in range(first, first + BATCH):
        instance = random_instance(seed)
        optimum = brute_force(instance)
        assert_optimal(instance, optimum, "branch_and_bound")
        if instance.memory_limit_bytes is None:
            assert_optimal(instance, optimum, "elimination")


@pytest.mark.parametrize("first", range(0, SEEDS, BATCH))
def test_listed_tables_lead_to_the_optimum_of_enumeration(first):
    for seed in range(first, first + BATCH):
        instance = listed_instance(seed)
        optimum = brute_force(instance)
        assert_optimal(instance, optimum, "branch_and_bound")
        if instance.memory_limit_bytes is None:
            assert_optimal(instance, optimum, "elimination")


@pytest.mark.parametrize("memory", [False, True])
def test_the_models_read_listed_tables(memory):
    for seed in range(8):
        instance = listed_instance(seed, memory=memory)
        optimum = brute_force(instance)
        for name in ("aggregated@highs", "pairwise@highs", "weak@highs", "cp_labels"):
            assert_optimal(instance, optimum, name)


@pytest.mark.parametrize("memory", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_the_models_find_the_optimum_of_enumeration(memory, shared):
    for seed in range(6):
        instance = random_instance(seed, memory=memory, shared=shared)
        optimum = brute_force(instance)
        for name in ("aggregated@highs", "pairwise@highs", "weak@highs", "cp_labels"):
            assert_optimal(instance, optimum, name)


def test_the_quadratic_model_finds_the_optimum_of_enumeration():
    pytest.importorskip("pyscipopt")
    for seed in range(4):
        for instance in (random_instance(seed), listed_instance(seed)):
            assert_optimal(instance, brute_force(instance), "quadratic@scip")


def test_bounds_are_below_the_optimum_and_proved():
    for seed in range(60):
        instance = random_instance(seed)
        optimum = brute_force(instance)
        if optimum is None:
            continue
        for name in BOUNDS:
            outcome = run(name, instance)
            assert outcome.dual_bound <= optimum, name
            assert check_bound(instance, outcome.certificate) == outcome.dual_bound, name
