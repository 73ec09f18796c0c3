"""Brute force, enumeration with CP-SAT, joint CP-SAT and the joint model of HiGHS agree.

GADGETOPT_SPP=300 in the environment tries more random instances (default 10).
"""

import os

import numpy as np
import pytest

from gadgetopt.system.declaration import resolved
from gadgetopt.system.files import find_instances, library, read_instance
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve

from .brute_force import (
    instance_of,
    optimum,
    run,
    small_instance,
    two_level_instance,
    varied,
    with_memory,
)

TRIES = int(os.environ.get("GADGETOPT_SPP", "10"))
EXACT = ("exact_spp", "cp_joint", "joint@highs", "joint_disaggregated@highs")

#: Optima derived by hand in the files' notes; None where there is no plan.
TINY = {
    "e1_load_is_not_time": 38,
    "e2_device_order": pytest.approx(35 + 1 / 6, rel=1e-12),
    "e3_channel_order": 18,
    "full_duplex": 17,
    "heavy_last_stage": pytest.approx(0.345697, rel=1e-12),
    "no_memory": None,
    "one_in_flight": 12,
    "single_gpu": 6,
    "slow_gpu_first": 18,
}
HEURISTICS = ("spp", "data_parallel", "gpipe", "pipedream", "dapple", "hetpipe")
BOUNDS = ("even_work", "plan_bound", "least_load", "bound@highs", "load@highs")


def tiny():
    return {d.name: d for d in map(read_instance, find_instances([library() / "spp" / "tiny"]))}


def test_every_tiny_instance_has_an_optimum_by_hand():
    assert set(tiny()) == set(TINY)


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("name", TINY)
def test_every_route_has_the_optimum_computed_by_hand(name, method):
    if name == "heavy_last_stage" and method.startswith("joint"):
        pytest.skip("32 microbatches take HiGHS a quarter of a minute")
    result = solve(tiny()[name], method, Limits(time_s=60))
    if result.refused:
        assert method.startswith("joint")
    elif TINY[name] is None:
        assert result.status is Status.INFEASIBLE
    else:
        assert result.status is Status.OPTIMAL, result.reason
        assert result.objective == TINY[name]


@pytest.mark.parametrize("name", [n for n in TINY if n != "heavy_last_stage"])
def test_brute_force_has_the_optimum_computed_by_hand(name):
    instance = tiny()[name].data
    if TINY[name] is not None and instance.num_microbatches < 4:
        assert optimum(instance) == TINY[name]


def random_instance(seed):
    rng = np.random.default_rng(seed)
    instance = small_instance(rng) if seed % 3 else two_level_instance(rng, L=4)
    return varied(instance, rng) if seed % 4 == 1 else instance


@pytest.mark.parametrize("seed", range(TRIES))
def test_exact_routes_agree_with_brute_force_and_stand_between_bounds_and_heuristics(seed):
    instance = random_instance(seed)
    best = optimum(instance)
    for method in EXACT:
        result = run(instance, method)
        assert method.startswith("joint") or not result.refused
        if not result.refused:
            assert result.status is Status.OPTIMAL, (method, result.reason)
            assert float(result.objective) == pytest.approx(float(best), rel=1e-6)
    for method in (*BOUNDS, *HEURISTICS):
        result = run(instance, method)
        if result.refused:
            continue
        assert result.reason is None
        if result.bound is not None:
            assert float(result.bound) <= float(best) * (1 + 1e-7)
        if result.objective is not None:
            assert result.objective >= best
    assert run(instance, "exact_spp").objective == best


@pytest.mark.parametrize("seed", range(TRIES))
def test_memory_is_kept_and_instances_without_a_plan_are_proved_to_have_none(seed):
    rng = np.random.default_rng(seed)
    instance = with_memory(small_instance(rng, most_m=3), rng)
    best, heuristic = optimum(instance), run(instance, "spp")
    for method in ("exact_spp", "cp_joint"):
        result = run(instance, method)
        assert result.status is (Status.INFEASIBLE if best is None else Status.OPTIMAL)
        assert result.objective == best
    if best is None:
        assert heuristic.objective is None
    else:
        assert heuristic.objective is None or heuristic.objective >= best


@pytest.mark.parametrize("seed", range(4))
def test_relaxations_agree_with_the_searches_over_all_plans(seed):
    instance = small_instance(np.random.default_rng(100 + seed), most_layers=5, most_m=4)
    for search, model in (("plan_bound", "bound@highs"), ("least_load", "load@highs")):
        expected = float(run(instance, search).bound)
        assert float(run(instance, model).bound) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("method", ["joint@highs", "joint_disaggregated@highs"])
@pytest.mark.parametrize("seed", range(6))
def test_blocks_that_take_no_time_do_not_wait_for_each_other(seed, method):
    times = np.random.default_rng(seed).integers(0, 3, size=(3, 3)) * 2
    instance = instance_of(*times.tolist(), [0, 3], 3, [[0, 2], [2, 0]])
    expected = run(instance, "exact_spp").objective
    assert float(run(instance, method).objective) == pytest.approx(float(expected), rel=1e-6)


def test_the_default_is_exact():
    declared = {m.name: m for m in problem("spp").methods}
    assert declared[problem("spp").default_method].kind == "exact"
    assert callable(resolved(declared["exact_spp"].run))
