"""HiGHS: statuses, duals, logs and threads."""

from __future__ import annotations

import logging

import highspy
import numpy as np
import pyomo.environ as pyo
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.proofs.relaxation import Relaxation
from gadgetopt.solvers import solve_model
from gadgetopt.solvers.highs import solve_form
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.result import Limits, Status


def two_variables(sense=pyo.maximize, domain=pyo.NonNegativeReals) -> pyo.ConcreteModel:
    """Build max 2 x + y + 3 with x + y <= 4, x <= 3: 3 and 1, worth 10."""
    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var(domain=domain), pyo.Var(domain=domain)
    model.sum = pyo.Constraint(expr=model.x + model.y <= 4)
    model.cap = pyo.Constraint(expr=model.x <= 3)
    model.value = pyo.Objective(expr=2 * model.x + model.y + 3, sense=sense)
    return model


@pytest.mark.parametrize("domain", [pyo.NonNegativeReals, pyo.NonNegativeIntegers])
def test_maximum_counts_the_offset_and_is_its_own_bound(domain):
    model = two_variables(domain=domain)
    outcome = solve_model(model, "highs")
    assert outcome.status is Status.OPTIMAL
    assert outcome.objective == pytest.approx(10)
    assert outcome.bound == pytest.approx(10)
    assert (model.x.value, model.y.value) == (3, 1)
    assert set(outcome.phases_s) == {"compile", "pass", "solve"}
    assert set(outcome.versions) == {"highspy"}


@pytest.mark.parametrize("domain", [pyo.NonNegativeReals, pyo.Binary])
def test_small_costs_count_where_all_are_small(domain):
    # HiGHS would take a gain of 1e-7 for none, and prove it.
    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var(domain=domain, bounds=(0, 1)), pyo.Var(domain=domain, bounds=(0, 1))
    model.both = pyo.Constraint(expr=model.x + model.y <= 2)
    model.value = pyo.Objective(expr=1e-5 * model.x + 3e-8 * model.y, sense=pyo.maximize)
    outcome = solve_model(model, "highs")
    assert outcome.objective == pytest.approx(1.003e-5, rel=1e-9)
    assert outcome.bound == pytest.approx(1.003e-5, rel=1e-9)


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_row_duals_give_reduced_costs_of_the_right_sign(sense):
    form = compile_model(two_variables(sense))
    outcome = solve_form(form, Limits())
    reduced = form.c - outcome.row_duals @ form.A
    sign = -1 if sense == pyo.maximize else 1
    assert np.all(sign * reduced >= -1e-9)
    assert np.all(sign * outcome.row_duals <= 1e-9)


def test_mixed_integer_model_has_no_row_duals():
    form = compile_model(two_variables(domain=pyo.NonNegativeIntegers))
    assert solve_form(form, Limits()).row_duals is None


def test_integer_infeasible_model_with_unbounded_relaxation_is_infeasible():
    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var(domain=pyo.Integers), pyo.Var(domain=pyo.Integers)
    model.parity = pyo.Constraint(expr=2 * model.x - 2 * model.y == 1)
    model.value = pyo.Objective(expr=model.x, sense=pyo.maximize)
    assert solve_model(model, "highs").status is Status.INFEASIBLE


@pytest.mark.parametrize("presolve", ["choose", "off"])
def test_singleton_columns_are_not_filled_beyond_the_optimum(presolve):
    # ERGO-Code/HiGHS issue 3043: 1.14 says 15.
    model = pyo.ConcreteModel()
    model.x, model.z = pyo.Var(bounds=(0, 10)), pyo.Var(bounds=(0, 10), domain=pyo.Integers)
    model.enough = pyo.Constraint(expr=model.x + model.z >= 4.5)
    model.value = pyo.Objective(expr=2 * model.x + 3 * model.z)
    outcome = solve_model(model, "highs", options={"presolve": presolve})
    assert outcome.objective == pytest.approx(9)
    assert outcome.bound == pytest.approx(9)


def test_infeasible_linear_program_with_a_ray_is_infeasible():
    model = two_variables()
    model.z = pyo.Var(domain=pyo.NonNegativeReals)
    model.value.expr = model.value.expr + model.z
    assert solve_model(model, "highs").status is Status.UNBOUNDED
    model.more = pyo.Constraint(expr=model.x + model.y >= 5)
    assert solve_model(model, "highs").status is Status.INFEASIBLE


def test_fractional_bounds_of_integer_variables_are_kept():
    # HiGHS 1.14 calls this optimal at x = -0.75 when it is given the bounds as they are.
    model = pyo.ConcreteModel()
    model.x = pyo.Var(domain=pyo.Integers, bounds=(-1.5, -0.75))
    model.row = pyo.Constraint(expr=-2 / 3 * model.x <= 0.6)
    model.cost = pyo.Objective(expr=model.x)
    assert solve_model(model, "highs").status is Status.INFEASIBLE


def test_model_without_columns_is_worth_its_constant():
    model = pyo.ConcreteModel()
    model.cost = pyo.Objective(expr=3)
    outcome = solve_model(model, "highs")
    assert (outcome.status, outcome.objective, outcome.bound) == (Status.OPTIMAL, 3, 3)


def test_empty_model_is_optimal_at_zero():
    outcome = solve_model(pyo.ConcreteModel(), "highs")
    assert (outcome.status, outcome.objective) == (Status.OPTIMAL, 0)


def test_coefficient_that_would_be_dropped_is_refused_by_name():
    model = two_variables()
    model.tiny = pyo.Constraint(expr=1e-13 * model.x + model.y >= 1)
    with pytest.raises(ModelRefused, match=r"^tiny: HiGHS would drop the coefficient 1e-13 of x"):
        solve_model(model, "highs")


def test_stopped_linear_program_has_no_bound():
    outcome = solve_form(compile_model(two_variables()), Limits(time_s=0.0))
    assert outcome.status is not Status.OPTIMAL or outcome.limit_hit is None
    if outcome.status is not Status.OPTIMAL:
        assert outcome.bound is None
        assert outcome.limit_hit == "time_s"


def test_a_solve_by_others_in_this_thread_is_no_obstacle():
    others = highspy.Highs()
    others.setOptionValue("output_flag", False)
    others.setOptionValue("threads", 2)
    others.addVar(0.0, 1.0)
    others.run()
    form = compile_model(two_variables())
    assert Relaxation(form, lambda: 60.0).solve().objective == pytest.approx(-7)


def test_number_of_threads_may_change_between_solves():
    for threads in (1, 2, 1):
        model = two_variables(domain=pyo.NonNegativeIntegers)
        assert solve_model(model, "highs", Limits(threads=threads)).status is Status.OPTIMAL


def test_log_goes_to_the_solver_logger_and_nowhere_else(caplog, capfd):
    model = two_variables(domain=pyo.NonNegativeIntegers)
    with caplog.at_level(logging.INFO, logger="gadgetopt.solver"):
        solve_model(model, "highs")
    assert caplog.records
    caplog.clear()
    solve_model(model, "highs")
    assert not caplog.records
    assert capfd.readouterr().out == ""
