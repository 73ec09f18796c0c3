"""CP-SAT against HiGHS on random models, and the meaning of each status."""

from __future__ import annotations

import logging
from fractions import Fraction

import numpy as np
import pyomo.environ as pyo
import pytest
from ortools.sat.python import cp_model

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.solvers import solve_model
from gadgetopt.solvers.cpsat import solve_cp, solve_form, value_of
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.result import Limits, Status

COEFFICIENTS = [0, 0, 1, -1, 1, 2, -3, 0.1, -0.1, 0.3, 1 / 3, -2 / 3, 0.25, 1.5, 7]


def random_model(seed: int) -> pyo.ConcreteModel:
    """Build a small bounded integer model with rows of every kind."""
    rng = np.random.default_rng(seed)
    model = pyo.ConcreteModel()
    n = int(rng.integers(1, 7))
    model.x = pyo.Var(range(n), domain=pyo.Integers)
    for v in model.x.values():
        if rng.random() < 0.5:
            v.domain = pyo.Binary
        else:
            low = int(rng.integers(-4, 3))
            v.setlb(low - 0.5 * int(rng.integers(0, 2)))
            v.setub(low + int(rng.integers(0, 6)) + 0.25)
        if rng.random() < 0.1:
            v.fix(1)
    model.rows = pyo.ConstraintList()
    for _ in range(int(rng.integers(0, 6))):
        kind = rng.integers(0, 5)
        chosen = rng.permutation(n)[: int(rng.integers(1, n + 1))]
        if kind == 0:
            body = sum(model.x[j] for j in chosen)
            bounds = [(1, 1), (None, 1), (1, None)][int(rng.integers(0, 3))]
        elif kind == 1 and n > 1:
            body = model.x[int(rng.integers(0, n))] - model.x[int(rng.integers(0, n))]
            bounds = (None, 0)
        else:
            weights = rng.choice(COEFFICIENTS, size=len(chosen))
            body = sum(float(a) * model.x[j] for a, j in zip(weights, chosen, strict=True)) + 0.1
            middle = float(rng.choice([0, 1, 2, -1, 0.1, 1.1, 3.3, 1 / 3]))
            bounds = [
                (None, middle),
                (middle, None),
                (middle - 1.7, middle + 1.7),
                (middle, middle),
            ][int(rng.choice([0, 0, 1, 1, 2, 3]))]
        if pyo.is_potentially_variable(body):
            model.rows.add((bounds[0], body, bounds[1]))
    costs = rng.choice(COEFFICIENTS, size=n)
    model.cost = pyo.Objective(
        expr=sum(float(c) * model.x[j] for j, c in enumerate(costs)) + float(rng.choice([0, 2.5])),
        sense=pyo.maximize if rng.random() < 0.5 else pyo.minimize,
    )
    return model


@pytest.mark.parametrize("block", range(10))
def test_translation_has_the_status_and_optimum_of_highs(block):
    seen = set()
    for seed in range(100 * block, 100 * block + 100):
        ours, theirs = random_model(seed), random_model(seed)
        cpsat, highs = solve_model(ours, "cpsat"), solve_model(theirs, "highs")
        seen.add(cpsat.status)
        assert cpsat.status == highs.status, seed
        if cpsat.status is Status.OPTIMAL:
            assert float(cpsat.objective) == pytest.approx(highs.objective, abs=1e-6), seed
            assert cpsat.bound == cpsat.objective, seed
            assert pyo.value(ours.cost) == pytest.approx(float(cpsat.objective), abs=1e-9), seed
    assert seen == {Status.OPTIMAL, Status.INFEASIBLE}


def knapsack(n: int = 120, seed: int = 0, capacities: int = 15) -> pyo.ConcreteModel:
    """Build a multidimensional knapsack too hard to finish in a second."""
    rng = np.random.default_rng(seed)
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(n), domain=pyo.Binary)
    weights = rng.integers(100, 1000, size=(capacities, n)).tolist()
    values = rng.integers(100, 1000, size=n).tolist()
    model.rows = pyo.ConstraintList()
    for row in weights:
        model.rows.add(sum(a * model.x[j] for j, a in enumerate(row)) <= sum(row) // 2)
    model.value = pyo.Objective(
        expr=sum(v * model.x[j] for j, v in enumerate(values)), sense=pyo.maximize
    )
    return model


def one_variable(domain=pyo.Integers, bounds=(None, None), sense=pyo.minimize) -> pyo.ConcreteModel:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(domain=domain, bounds=bounds)
    model.cost = pyo.Objective(expr=model.x, sense=sense)
    return model


def test_objective_and_bound_are_exact_beyond_the_precision_of_doubles():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(2), domain=pyo.Integers, bounds=(0, 3))
    model.row = pyo.Constraint(expr=model.x[0] + model.x[1] >= 3)
    big = 2**52 + 1
    model.cost = pyo.Objective(expr=big * model.x[0] + (big - 2) * model.x[1] * 1)
    outcome = solve_model(model, "cpsat")
    assert outcome.objective == outcome.bound == 3 * (big - 2)


def test_fractional_objective_comes_back_as_a_fraction():
    model = one_variable(bounds=(1, 5))
    model.cost.expr = model.x / 3 + 0.1
    outcome = solve_model(model, "cpsat")
    assert outcome.objective == outcome.bound == Fraction(1, 3) + Fraction(1, 10)


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_constant_objective_is_its_own_bound(sense):
    model = one_variable(bounds=(1, 5), sense=sense)
    model.cost.expr = 0 * model.x + 7
    outcome = solve_model(model, "cpsat")
    assert (outcome.status, outcome.objective, outcome.bound) == (Status.OPTIMAL, 7, 7)


def test_model_without_constraints_or_columns_is_optimal():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(domain=pyo.Integers, bounds=(2, 4))
    model.cost = pyo.Objective(expr=3)
    outcome = solve_model(model, "cpsat")
    assert (outcome.status, outcome.objective) == (Status.OPTIMAL, 3)
    assert model.x.value == 2


def test_improving_ray_with_a_feasible_point_is_unbounded():
    model = one_variable(sense=pyo.maximize)
    model.y = pyo.Var(domain=pyo.NonNegativeIntegers)
    model.row = pyo.Constraint(expr=3 * model.x - 2 * model.y <= 4)
    assert solve_model(model, "cpsat").status is Status.UNBOUNDED
    assert solve_model(model, "highs").status is Status.UNBOUNDED


def test_free_variable_without_ray_is_refused_by_name():
    model = one_variable()
    model.y = pyo.Var(domain=pyo.Integers)
    model.row = pyo.Constraint(expr=model.x - 2 * model.y == 1)
    model.cost.expr = 0 * model.x
    with pytest.raises(ModelRefused, match=r"^[xy] has no finite bounds"):
        solve_model(model, "cpsat")


def test_minimised_makespan_needs_no_upper_bound():
    model = one_variable(domain=pyo.NonNegativeIntegers)
    model.z = pyo.Var(range(3), domain=pyo.Binary)
    model.once = pyo.Constraint(expr=sum(model.z.values()) == 1)
    model.rows = pyo.Constraint(range(3), rule=lambda m, j: m.x >= (5 + j) * m.z[j] + 0.5)
    outcome = solve_model(model, "cpsat")
    assert (outcome.status, outcome.objective) == (Status.OPTIMAL, 6)


def test_infeasible_row_of_a_bounded_model_is_infeasible():
    model = one_variable(bounds=(0, 3))
    model.row = pyo.Constraint(expr=2 * model.x == 3)
    assert solve_model(model, "cpsat").status is Status.INFEASIBLE


def test_constant_row_that_is_false_is_infeasible():
    model = one_variable(bounds=(0, 3))
    model.y = pyo.Var()
    model.y.fix(2)
    model.row = pyo.Constraint(expr=model.y <= 1)
    for backend in ("cpsat", "highs"):
        outcome = solve_model(model, backend)
        assert outcome.status is Status.INFEASIBLE
        assert "row" in outcome.reason


def test_continuous_variable_is_refused_by_name():
    with pytest.raises(ModelRefused, match=r"^x is continuous; CP-SAT takes integers only"):
        solve_model(one_variable(domain=pyo.Reals, bounds=(0, 1)), "cpsat")


def overflowing() -> pyo.ConcreteModel:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(3), domain=pyo.Integers, bounds=(0, 1000))
    weights = [0.123456789012, 0.98765432101, 3.14159265359]
    model.row = pyo.Constraint(
        expr=1e9 * model.x[0] + sum(w * v for w, v in zip(weights, model.x.values(), strict=True))
        <= 1e9 * 7 + 1500.5
    )
    model.value = pyo.Objective(
        expr=2 * model.x[0] + model.x[1] + 3 * model.x[2], sense=pyo.maximize
    )
    return model


def test_row_that_overflows_is_refused_by_name():
    with pytest.raises(ModelRefused, match=r"^row: scaled to integers"):
        solve_model(overflowing(), "cpsat")


def test_outward_scaling_bounds_the_optimum_and_claims_no_more():
    model = overflowing()
    optimum = solve_model(model, "highs").objective
    outcome = solve_form(compile_model(model), Limits(), scaling="outward")
    assert outcome.bound >= optimum - 1e-6
    assert outcome.bound == pytest.approx(optimum, rel=0.01)
    assert outcome.status is not Status.OPTIMAL or outcome.objective == outcome.bound


@pytest.mark.parametrize("seed", range(40))
def test_outward_bound_never_cuts_off_the_optimum(seed):
    rng = np.random.default_rng(seed)
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(4), domain=pyo.Integers, bounds=(-3, 9))
    draw = lambda: [float(x) for x in rng.normal(size=4)]  # noqa: E731
    model.rows = pyo.ConstraintList()
    for _ in range(3):
        body = sum(a * v for a, v in zip(draw(), model.x.values(), strict=True))
        model.rows.add((-6.5, body, 4.1) if rng.random() < 0.5 else (None, body, 3.3))
    sense = pyo.maximize if rng.random() < 0.5 else pyo.minimize
    body = sum(a * v for a, v in zip(draw(), model.x.values(), strict=True))
    model.cost = pyo.Objective(expr=body + 0.7, sense=sense)
    exact = solve_model(model, "highs")
    outcome = solve_form(compile_model(model), Limits(), scaling="outward")
    assert exact.status is Status.OPTIMAL
    sign = -1 if sense == pyo.maximize else 1
    assert sign * float(outcome.bound) <= sign * exact.objective + 1e-6
    if outcome.status is Status.OPTIMAL:
        assert outcome.objective == outcome.bound
    elif outcome.status is Status.FEASIBLE:
        assert sign * outcome.objective >= sign * outcome.bound
    else:
        assert outcome.status is Status.NO_SOLUTION
        assert outcome.values is None


@pytest.mark.parametrize("backend", ["cpsat", "highs"])
def test_time_limit_with_an_incumbent_is_feasible_not_optimal(backend):
    outcome = solve_model(knapsack(), backend, Limits(time_s=0.5))
    assert (outcome.status, outcome.limit_hit) == (Status.FEASIBLE, "time_s")
    assert outcome.bound > outcome.objective
    assert outcome.trace[-1].incumbent == pytest.approx(float(outcome.objective))
    assert [p.time_s for p in outcome.trace] == sorted(p.time_s for p in outcome.trace)


@pytest.mark.parametrize("backend", ["cpsat", "highs"])
def test_time_limit_of_zero_has_no_solution(backend):
    model = knapsack()
    # Without the all-zero solution a heuristic finds at once.
    model.least = pyo.Constraint(expr=model.value.expr >= 30_000)
    outcome = solve_model(model, backend, Limits(time_s=0.0))
    assert outcome.status is not Status.OPTIMAL
    assert outcome.limit_hit == "time_s"


@pytest.mark.parametrize("backend", ["cpsat", "highs"])
def test_relative_gap_that_stops_early_is_a_limit(backend):
    model = knapsack()
    model.value.expr = model.value.expr + 100_000
    outcome = solve_model(model, backend, Limits(time_s=30, rel_gap=0.05))
    assert (outcome.status, outcome.limit_hit) == (Status.FEASIBLE, "gap")
    assert 0 < outcome.bound - outcome.objective <= 0.05 * outcome.objective


@pytest.mark.parametrize("backend", ["cpsat", "highs"])
def test_a_closed_gap_is_optimal_whatever_gap_was_asked_for(backend):
    model = one_variable(bounds=(2, 9))
    outcome = solve_model(model, backend, Limits(rel_gap=0.9))
    assert (outcome.status, outcome.limit_hit, outcome.objective) == (Status.OPTIMAL, None, 2)


def test_native_model_that_ends_at_the_relative_gap_is_feasible():
    model = cp_model.CpModel()
    rng = np.random.default_rng(0)
    x = [model.new_bool_var("") for _ in range(120)]
    for row in rng.integers(100, 1000, size=(15, 120)).tolist():
        model.add(cp_model.LinearExpr.weighted_sum(x, row) <= sum(row) // 2)
    model.maximize(cp_model.LinearExpr.weighted_sum(x, rng.integers(100, 1000, size=120).tolist()))
    outcome = solve_cp(model, Limits(time_s=30, rel_gap=0.1))
    assert (outcome.status, outcome.limit_hit) == (Status.FEASIBLE, "gap")
    assert outcome.objective < outcome.bound <= 1.1 * outcome.objective


@pytest.mark.parametrize("backend", ["cpsat", "highs"])
def test_warm_start_is_where_the_solve_begins(backend):
    model = knapsack()
    first = solve_model(model, backend, Limits(time_s=0.5))
    again = solve_model(model, backend, Limits(time_s=0.5), warm_start=True)
    assert again.objective >= first.objective - 1e-6
    incumbents = [p.incumbent for p in again.trace if p.incumbent is not None]
    assert incumbents[0] >= float(first.objective) - 1e-6


def test_one_thread_and_one_seed_give_one_answer():
    answers = [solve_model(knapsack(12, seed=3), "cpsat", seed=5).values.tolist() for _ in "ab"]
    assert answers[0] == answers[1]


def test_log_goes_to_the_solver_logger_and_nowhere_else(caplog, capfd):
    with caplog.at_level(logging.INFO, logger="gadgetopt.solver"):
        solve_model(knapsack(8), "cpsat")
    assert any("CP-SAT" in r.getMessage() for r in caplog.records)
    caplog.clear()
    solve_model(knapsack(8), "cpsat")
    assert not caplog.records
    assert capfd.readouterr().out == ""


def test_phases_and_versions_are_filled_in():
    outcome = solve_model(knapsack(8), "cpsat")
    assert set(outcome.phases_s) == {"compile", "pass", "solve"}
    assert set(outcome.versions) == {"ortools"}


def test_unknown_backend_names_the_known_ones():
    with pytest.raises(InputError, match="highs, cpsat, scip"):
        solve_model(knapsack(8), "guroby")


def test_native_model_returns_exact_objective_and_readable_values():
    model = cp_model.CpModel()
    x, b = model.new_int_var(0, 10, "x"), model.new_bool_var("b")
    model.add(x + 3 * b <= 9)
    model.maximize(2 * x + b + 4)
    outcome = solve_cp(model, Limits())
    assert (outcome.status, outcome.objective, outcome.bound) == (Status.OPTIMAL, 22, 22)
    assert value_of(outcome.values, x) == 9
    assert (value_of(outcome.values, b), value_of(outcome.values, b.Not())) == (0, 1)


def test_native_model_without_objective_is_optimal_when_feasible():
    model = cp_model.CpModel()
    x = model.new_int_var(0, 10, "x")
    model.add(x >= 4)
    outcome = solve_cp(model, Limits())
    assert (outcome.status, outcome.objective, outcome.bound) == (Status.OPTIMAL, None, None)
    model.add(x <= 3)
    assert solve_cp(model, Limits()).status is Status.INFEASIBLE


def test_native_model_with_fractional_objective_is_bounded():
    model = cp_model.CpModel()
    x = model.new_int_var(0, 10, "x")
    model.maximize(0.5 * x + 0.25)
    outcome = solve_cp(model, Limits())
    assert outcome.objective == pytest.approx(5.25)
    assert outcome.bound == pytest.approx(5.25)


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_a_run_that_ends_before_its_search_reports_no_bound_it_has_not_proved(sense):
    # The optimum is -300 when minimising and 300 when maximising; an untouched bound field says 0.
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(300), domain=pyo.Integers, bounds=(-1, 1))
    model.rows = pyo.ConstraintList()
    for i in range(299):
        model.rows.add(model.x[i] - model.x[i + 1] <= 1)
    model.cost = pyo.Objective(expr=sum(model.x.values()), sense=sense)
    outcome = solve_model(model, "cpsat", Limits(time_s=1e-9))
    if outcome.bound is not None:
        assert outcome.bound <= -300 if sense == pyo.minimize else outcome.bound >= 300
