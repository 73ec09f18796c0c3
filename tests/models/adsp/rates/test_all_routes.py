"""All exact routes find the same optimum; bounds and heuristics lie on their sides of it."""

import math

import numpy as np
import pytest

from gadgetopt.models.adsp.rates.data.generate.presets import uniform
from gadgetopt.numbers.tolerance import agrees, exceeds
from gadgetopt.system.files import find_instances, library
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Status, Voucher

from .brute_force import KINDS, optimum, random_instance, run, tiny

EXACT = (
    "exact_rates",
    "outer_approximation",
    "cp_tables",
    "nonconvex@scip",
    "one_hot_convex@scip",
    "momentum_knapsack@highs",
)
TINY = {
    "a1_equal_rates": 1.514206,
    "a2_window_of_two": 1.509784,
    "a3_no_window": 1.503094,
    "a4_dear_drift": 1.853427,
    "a5_cap_binds": 3.427305,
    "free_commits": 1.08,
    "momentum_cap": 3.5,
    "momentum_of_the_figure": 44,
    "momentum_reading_of_speed": 8.5,
    "one_worker": 0.6,
    "straggler_cannot_keep_up": 5.25662,
    "time_to_accuracy": 11.098779,
}


@pytest.mark.parametrize("name", TINY)
def test_hand_checked_optima_by_every_route(name):
    results = [run(tiny(name), method) for method in EXACT]
    closed = [r for r in results if not r.refused]
    assert len(closed) >= 3
    for result in closed:
        assert result.status is Status.OPTIMAL, (result.method, result.reason)
        assert round(float(result.objective), 6) == TINY[name]
    assert closed[0].bound_voucher is Voucher.VERIFIED


def test_the_library_has_an_optimum_of_each_tiny_instance_by_hand():
    files = find_instances([library() / "adsp_rates" / "tiny"])
    assert {path.stem for path in files} == {*TINY, "no_worker_may_wait"}


@pytest.mark.parametrize("kind", KINDS)
def test_random_instances_by_brute_force(kind):
    heuristics = ("adsp", "equal_commits", "by_speed", "most_commits", "lagrangian")
    for seed in range(100):
        instance = random_instance(seed, kind)
        best = optimum(instance)
        exact = run(instance, "exact_rates")
        if math.isinf(best):
            assert exact.status is Status.INFEASIBLE, seed
        else:
            assert exact.status is Status.OPTIMAL, (seed, exact.reason)
            assert exact.objective == best
            assert exact.bound_voucher is Voucher.VERIFIED
        for method in heuristics:
            result = run(instance, method)
            if result.refused:
                continue
            assert result.status is not Status.ERROR, (seed, method, result.reason)
            assert result.objective is None or not exceeds(best, result.objective)
            assert result.bound is None or not exceeds(result.bound, best)


@pytest.mark.parametrize("kind", KINDS)
def test_solvers_agree_with_brute_force(kind):
    for seed in range(15):
        instance = random_instance(seed, kind)
        best = optimum(instance)
        for method in EXACT[1:]:
            result = run(instance, method)
            if result.refused:
                continue
            if math.isinf(best):
                assert result.objective is None, (seed, method)
            else:
                assert result.status is Status.OPTIMAL, (seed, method, result.reason)
                assert agrees(result.objective, best), (seed, method)


def test_solvers_agree_at_the_papers_scale():
    instance = uniform(np.random.default_rng(1), workers=18)
    values = [run(instance, method, 60).objective for method in EXACT[:3]]
    assert agrees(values[0], values[1])
    assert agrees(values[0], values[2])


def test_an_instance_that_nobody_can_serve_is_infeasible():
    for method in EXACT[:3]:
        result = run(tiny("no_worker_may_wait"), method)
        assert result.refused or result.status is Status.INFEASIBLE


def test_the_methods_of_the_declaration_are_known():
    names = {m.name for m in problem("adsp_rates").methods}
    assert {"exact_rates", "outer_approximation", "cp_tables", "lagrangian"} <= names
