"""CP-SAT: the exact models find the optimum, relaxations stay below and restrictions above."""

from __future__ import annotations

import numpy as np
import pytest
from calling import called
from hypothesis import given
from hypothesis import strategies as st

import gadgetopt
from gadgetopt.errors import ModelRefused
from gadgetopt.models.sjf_bco.evaluate import evaluate
from gadgetopt.models.sjf_bco.formulations import cp
from gadgetopt.models.sjf_bco.formulations.cp_model import concave_hull
from gadgetopt.models.sjf_bco.instance import SjfBcoInstance
from gadgetopt.models.sjf_bco.subproblems.greedy import upper_bound_schedule
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..exact_instances import HAND_CHECKED, optimum_of, tiny_instance
from ..hand_checked import instance, job

METHODS = {
    "cp_e": cp.cp_e,
    "cp_e_l2": cp.cp_e_l2,
    "cp_l": cp.cp_l,
    "cp_l2": cp.cp_l2,
    "cp_u": cp.cp_u,
}
EXACT = ["cp_e", "cp_e_l2"]


def solve(method: str, inst: SjfBcoInstance) -> MethodOutcome:
    outcome = called(METHODS[method], inst, Limits(time_s=60), np.random.default_rng(0))
    if outcome.solution is not None:
        evaluation = evaluate(inst, outcome.solution)
        assert evaluation.feasible
        assert evaluation.objective == outcome.claimed_objective
    return outcome


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("name", HAND_CHECKED)
def test_exact_models_find_the_hand_checked_optimum(name, method):
    inst, optimum = HAND_CHECKED[name]
    outcome = solve(method, inst)
    assert outcome.dual_bound == outcome.claimed_objective == optimum


@pytest.mark.parametrize(
    ("name", "method", "makespan"),
    [
        ("E2", "cp_l", 2),
        ("E2", "cp_l2", 3),
        ("E2", "cp_u", 4),
        ("E3", "cp_l", 8),
        ("E3", "cp_l2", 11),
        ("E3", "cp_u", 12),
    ],
)
def test_relaxations_and_restriction_have_the_hand_checked_makespan(name, method, makespan):
    assert solve(method, HAND_CHECKED[name][0]).notes["model_makespan"] == makespan


@pytest.mark.parametrize("seed", range(40))
def test_bounds_and_schedules_enclose_the_optimum(seed):
    inst = tiny_instance(seed)
    optimum = optimum_of(seed)
    found = {name: solve(name, inst) for name in METHODS}
    for name in EXACT:
        assert found[name].dual_bound == found[name].claimed_objective == optimum
    assert found["cp_l"].dual_bound <= found["cp_l2"].dual_bound <= optimum
    assert found["cp_u"].claimed_objective >= optimum
    assert found["cp_u"].dual_bound is None


@pytest.mark.parametrize("method", METHODS)
def test_no_schedule_within_the_horizon(method):
    # Two jobs of 3 slots on one GPU, in 5 slots. The restriction proves nothing.
    inst = instance([1], [job(1, 30)] * 2, horizon=5)
    outcome = solve(method, inst)
    assert outcome.solution is None
    assert outcome.proved is (None if method == "cp_u" else Status.INFEASIBLE)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8))
def test_every_segment_of_the_hull_lies_on_or_above_the_rates(values):
    rates = sorted(values, reverse=True)
    for A, B, D in concave_hull(rates):
        assert B >= 0
        assert all(A - B * x >= D * rate for x, rate in enumerate(rates))


@pytest.mark.parametrize("method", EXACT)
def test_too_many_slots_are_refused_before_a_schedule_is_made(method, monkeypatch):
    (document,) = gadgetopt.generate("sjf_bco", "paper")
    monkeypatch.setattr(cp, "upper_bound_schedule", None)
    with pytest.raises(ModelRefused, match="terms if written slot by slot"):
        called(METHODS[method], document.data, Limits(time_s=60), np.random.default_rng(0))


@pytest.mark.parametrize("method", ["cp_e", "cp_l"])
def test_a_method_whose_time_is_up_before_the_first_schedule_has_the_energetic_bound(method):
    (document,) = gadgetopt.generate("sjf_bco", "mini_paper")
    outcome = called(METHODS[method], document.data, Limits(time_s=0), np.random.default_rng(0))
    assert (outcome.limit_hit, outcome.solution) == ("time_s", None)
    assert outcome.dual_bound == outcome.notes["energetic"] > 0


def test_a_schedule_is_the_best_of_those_that_are_made_in_time(monkeypatch):
    (document,) = gadgetopt.generate("sjf_bco", "mini_paper")
    clock, looks = Clock(Limits(time_s=60)), iter([False] * 60)
    monkeypatch.setattr(Clock, "expired", property(lambda _: next(looks, True)))
    schedule = upper_bound_schedule(document.data, clock)
    assert evaluate(document.data, schedule).objective is not None
