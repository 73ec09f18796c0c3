"""Variants of SMD: methods of their own, and what they were called before."""

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.smd.data.generate.presets import planted
from gadgetopt.models.smd.evaluate import evaluate
from gadgetopt.system.methods import find_method
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits

VARIANTS = (
    "smd_as_printed",
    "smd_exact",
    "smd_greedy",
    "smd_floor",
    "smd_corners",
    "smd_actual",
    "smd_complete",
    "algorithm_3_complete",
)


def objective(method, instance):
    outcome = find_method(problem("smd"), method).method.run(
        instance, Limits(time_s=30), np.random.default_rng(0)
    )
    found = evaluate(instance, outcome.solution)
    assert found.feasible
    return found.objective


def test_the_papers_algorithm_has_the_papers_parameters():
    of_smd = find_method(problem("smd"), "smd").method.parameters
    assert list(of_smd) == ["eps_inner", "shrink", "delta", "attempts", "k", "eps_outer"]


@pytest.mark.parametrize("method", VARIANTS)
def test_a_variant_decides_and_is_no_better_than_the_optimum(method):
    for seed in range(3):
        instance = planted(np.random.default_rng(seed), jobs=8, cluster_units=3.0)
        assert 0 < objective(method, instance) <= objective("cg_core", instance) * (1 + 1e-9)


def test_what_is_compared_exactly_or_completed_is_no_worse():
    for seed in range(5):
        instance = planted(np.random.default_rng(seed), jobs=8, cluster_units=3.0)
        smd = objective("smd", instance)
        assert smd <= objective("smd_exact", instance) * (1 + 1e-9)
        assert smd <= objective("smd_complete", instance) * (1 + 1e-9)
        floor, corners = objective("smd_floor", instance), objective("smd_corners", instance)
        assert floor <= corners * (1 + 1e-9)


@pytest.mark.parametrize(
    ("former", "now"),
    [
        ("smd:outer=exact", "smd_exact"),
        ("smd:outer=greedy_density", "smd_greedy"),
        ("smd:rounding=floor", "smd_floor"),
        ("smd:rounding=corners", "smd_corners"),
        ("smd:eps_inner=0.95:grid=as_printed", "smd_as_printed"),
        ("smd:fallback=none", "smd_as_printed"),
        ("smd:zero=reject", "smd_as_printed"),
        ("smd:inner_objective=actual", "smd_actual"),
        ("smd:complete=true", "smd_complete"),
        ("algorithm_3:complete=true", "algorithm_3_complete"),
    ],
)
def test_a_former_parameter_is_refused_with_the_method_that_it_became(former, now):
    with pytest.raises(InputError, match=f"is now the method '{now}'"):
        find_method(problem("smd"), former)
    assert find_method(problem("smd"), now).method.name == now
