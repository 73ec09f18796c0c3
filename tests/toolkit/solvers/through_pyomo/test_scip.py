"""SCIP on nonconvex models."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest

from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits, Status

pytest.importorskip("pyscipopt")


def nonconvex() -> pyo.ConcreteModel:
    """Minimise x^2 + 3n/10 + 1 with x n >= 3/2: n = 3 and x = 1/2 are best, worth 43/20."""
    model = pyo.ConcreteModel()
    model.x = pyo.Var(bounds=(-3, 3))
    model.n = pyo.Var(domain=pyo.Integers, bounds=(0, 5))
    model.unused = pyo.Var(bounds=(2, 4))
    model.row = pyo.Constraint(expr=model.x * model.n >= 1.5)
    model.cost = pyo.Objective(expr=model.x**2 + 0.3 * model.n + 1)
    return model


def test_nonconvex_optimum_is_found_bounded_and_loaded():
    model = nonconvex()
    outcome = solve_model(model, "scip", Limits(time_s=20))
    assert outcome.status is Status.OPTIMAL
    assert outcome.objective == pytest.approx(2.15, abs=1e-6)
    assert outcome.bound == pytest.approx(2.15, abs=1e-6)
    assert model.n.value == 3
    assert isinstance(model.n.value, int)
    assert model.unused.value == 2
    assert set(outcome.versions) == {"pyscipopt"}


def test_maximum_is_bounded_from_above():
    model = nonconvex()
    model.cost.sense = pyo.maximize
    outcome = solve_model(model, "scip", Limits(time_s=20))
    assert outcome.objective == pytest.approx(11.5)
    assert outcome.bound >= outcome.objective - 1e-6


def test_infeasible_model_is_infeasible():
    model = nonconvex()
    model.far = pyo.Constraint(expr=model.x**2 >= 20)
    assert solve_model(model, "scip").status is Status.INFEASIBLE


def test_unbounded_model_is_not_called_optimal():
    model = pyo.ConcreteModel()
    model.x = pyo.Var()
    model.cost = pyo.Objective(expr=model.x**3)
    assert solve_model(model, "scip", Limits(time_s=5)).status is Status.UNBOUNDED


def test_model_without_objective_is_optimal_at_zero():
    model = nonconvex()
    model.del_component(model.cost)
    outcome = solve_model(model, "scip")
    assert (outcome.status, outcome.objective, outcome.bound) == (Status.OPTIMAL, 0, 0)


def test_time_limit_is_never_called_optimal():
    model = pyo.ConcreteModel()
    n = 60
    model.x = pyo.Var(range(n), bounds=(-1, 1))
    model.cost = pyo.Objective(
        expr=sum(
            ((7 * i * j) % 11 - 5) * model.x[i] * model.x[j] for i in range(n) for j in range(i)
        )
    )
    outcome = solve_model(model, "scip", Limits(time_s=1))
    assert (outcome.status, outcome.limit_hit) == (Status.FEASIBLE, "time_s")
    assert outcome.bound < outcome.objective


def test_a_gap_that_was_asked_for_is_a_limit():
    model = pyo.ConcreteModel()
    n = 30
    model.x = pyo.Var(range(n), bounds=(-1, 1))
    model.cost = pyo.Objective(
        expr=sum(
            ((7 * i * j) % 11 - 5) * model.x[i] * model.x[j] for i in range(n) for j in range(i)
        )
    )
    outcome = solve_model(model, "scip", Limits(time_s=30, rel_gap=5.0))
    assert (outcome.status, outcome.limit_hit) == (Status.FEASIBLE, "gap")
    assert outcome.bound < outcome.objective


def test_an_incumbent_that_tolerances_let_through_is_an_error():
    model = nonconvex()
    model.k = pyo.Var(domain=pyo.Integers, bounds=(1, 5))
    model.tight = pyo.Constraint(expr=model.n + 1e-10 * model.k <= 3)
    outcome = solve_model(model, "scip", Limits(time_s=20))
    assert outcome.status is Status.ERROR
    assert outcome.reason == "its incumbent violates tight"
