"""Every exact formulation finds the optimum that brute force finds."""

from __future__ import annotations

import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.sjf_bco.evaluate import evaluate
from gadgetopt.models.sjf_bco.formulations import (
    disjunctive,
    event_based,
    nonconvex,
    schedule_selection,
    time_indexed,
)
from gadgetopt.models.sjf_bco.formulations.schedules import all_schedules
from gadgetopt.models.sjf_bco.instance import SjfBcoInstance
from gadgetopt.models.sjf_bco.subproblems.symmetry import representative
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits, Status

from ..exact_instances import HAND_CHECKED, optimum_of, tiny_instance
from ..hand_checked import instance, job

ROUTES = {
    "time_indexed@highs": (time_indexed.build, time_indexed.decode, "highs"),
    "time_indexed@cpsat": (time_indexed.build, time_indexed.decode, "cpsat"),
    "gdp_bigm@highs": (disjunctive.build_bigm, disjunctive.decode, "highs"),
    "gdp_hull@highs": (disjunctive.build_hull, disjunctive.decode, "highs"),
    "event_based@highs": (event_based.build, event_based.decode, "highs"),
    "event_based@cpsat": (event_based.build, event_based.decode, "cpsat"),
    "nonconvex@scip": (nonconvex.build, nonconvex.decode, "scip"),
    "schedule_selection@highs": (schedule_selection.build, schedule_selection.decode, "highs"),
    "load_limited@highs": (
        schedule_selection.build_load_limited,
        schedule_selection.decode,
        "highs",
    ),
}
FAST = ["time_indexed@highs", "time_indexed@cpsat", "event_based@cpsat"]


def solve(route: str, inst: SjfBcoInstance) -> tuple[int, int]:
    """Return the model's optimum, and the evaluated makespan of its schedule."""
    build, decode, backend = ROUTES[route]
    model = build(inst)
    outcome = solve_model(model, backend, Limits(time_s=60))
    assert outcome.status is Status.OPTIMAL
    evaluation = evaluate(inst, decode(model, inst))
    assert evaluation.feasible
    return round(outcome.objective), evaluation.objective


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", HAND_CHECKED)
def test_every_formulation_finds_the_hand_checked_optimum(name, route):
    inst, optimum = HAND_CHECKED[name]
    if name == "E4b" and ("selection" in route or "limited" in route):
        return  # too many schedules to enumerate
    assert solve(route, inst) == (optimum, optimum)


@pytest.mark.parametrize("route", FAST)
@pytest.mark.parametrize("seed", range(12))
def test_formulations_agree_with_brute_force(seed, route):
    inst = tiny_instance(seed)
    optimum = optimum_of(seed)
    assert solve(route, inst) == (optimum, optimum)


@pytest.mark.parametrize("route", sorted(set(ROUTES) - set(FAST)))
@pytest.mark.parametrize("seed", [1, 3, 5])
def test_slower_formulations_agree_with_brute_force(seed, route):
    inst = tiny_instance(seed)
    optimum = optimum_of(seed)
    assert solve(route, inst) == (optimum, optimum)


@pytest.mark.parametrize("route", sorted(set(ROUTES) - {"nonconvex@scip"}))
def test_no_schedule_within_the_horizon_is_infeasible(route):
    # Two jobs of 3 slots on one GPU, in 5 slots.
    inst = instance([1], [job(1, 30)] * 2, horizon=5)
    build, _, backend = ROUTES[route]
    assert solve_model(build(inst), backend, Limits(time_s=60)).status is Status.INFEASIBLE


@pytest.mark.parametrize(
    ("name", "horizon", "count"), [("E1", 4, 22), ("E2", 4, 125), ("E3", 12, 161)]
)
def test_number_of_complete_schedules(name, horizon, count):
    assert len(all_schedules(HAND_CHECKED[name][0], horizon)) == count


def test_too_many_schedules_are_not_enumerated():
    with pytest.raises(ModelRefused, match="combinations of placements and starts"):
        schedule_selection.build(HAND_CHECKED["E4b"][0], horizon=20)


def test_a_tight_load_limit_is_a_restriction():
    inst, optimum = HAND_CHECKED["E4a"]
    loose = solve_model(schedule_selection.build_load_limited(inst, theta=2))
    tight = solve_model(schedule_selection.build_load_limited(inst, theta=1))
    assert round(loose.objective) == optimum
    assert tight.status is Status.INFEASIBLE


@pytest.mark.parametrize("name", HAND_CHECKED)
def test_the_representative_schedule_has_the_same_makespan(name):
    inst, optimum = HAND_CHECKED[name]
    for schedule in all_schedules(inst, optimum) if name != "E4b" else []:
        same = representative(inst, schedule.decision)
        assert evaluate(inst, same).objective == evaluate(inst, schedule.decision).objective
