"""Compiling Pyomo models into arrays and loading values back."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.solvers.standard_form import (
    NotIntegralError,
    TriviallyInfeasibleError,
    compile_model,
    current_values,
    load_values,
)


def model_of_every_kind() -> pyo.ConcreteModel:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(bounds=(-1, 5))
    model.n = pyo.Var(domain=pyo.NonNegativeIntegers, bounds=(None, 9.5))
    model.b = pyo.Var(domain=pyo.Binary)
    model.fixed = pyo.Var(initialize=2)
    model.fixed.fix()
    model.unused = pyo.Var(domain=pyo.Integers, bounds=(1.5, 7))
    model.range = pyo.Constraint(expr=(1, model.x + 2 * model.n + model.fixed, 8))
    model.equal = pyo.Constraint(expr=model.x - model.b == 1)
    model.least = pyo.Constraint(expr=3 * model.n + model.b >= 2)
    model.most = pyo.Constraint(expr=model.x <= model.n + 4)
    model.value = pyo.Objective(expr=model.x + 2 * model.b + 5 + model.fixed, sense=pyo.maximize)
    return model


def test_every_kind_of_row_has_its_two_sides():
    model = model_of_every_kind()
    form = compile_model(model)
    assert [c.name for c in form.rows] == ["range", "equal", "least", "most"]
    assert form.row_lower.tolist() == [-1, 1, 2, -np.inf]
    assert form.row_upper.tolist() == [6, 1, np.inf, 4]
    order = [[v.name for v in form.columns].index(name) for name in "xnb"]
    assert form.A.toarray()[:, order].tolist() == [[1, 2, 0], [1, 0, -1], [0, 3, 1], [1, -1, 0]]
    assert form.c[order].tolist() == [1, 0, 2]
    assert (form.offset, form.sense) == (7, "max")


def test_columns_have_bounds_of_variable_and_domain():
    model = model_of_every_kind()
    form = compile_model(model)
    order = [[v.name for v in form.columns].index(name) for name in "xnb"]
    assert form.col_lower[order].tolist() == [-1, 0, 0]
    assert form.col_upper[order].tolist() == [5, 9, 1]
    assert form.integer[order].tolist() == [False, True, True]


def test_unused_and_fixed_variables_have_values_after_loading():
    model = model_of_every_kind()
    form = compile_model(model)
    load_values(form, np.array([1.0] * len(form.columns)) + 1e-7 * form.integer)
    assert model.unused.value == 2
    assert model.fixed.value == 2
    assert model.n.value == 1
    assert isinstance(model.n.value, int)
    assert current_values(form).tolist() == [1, 1, 1]


def test_value_far_from_an_integer_is_not_rounded():
    form = compile_model(model_of_every_kind())
    with pytest.raises(NotIntegralError, match=r"0\.9 for an integer variable"):
        load_values(form, np.full(len(form.columns), 0.9))


def test_variables_without_values_are_not_a_number():
    assert np.isnan(current_values(compile_model(model_of_every_kind()))).all()


def test_nonlinear_constraint_is_refused_by_name():
    model = model_of_every_kind()
    model.curve = pyo.Constraint(expr=model.x * model.n <= 3)
    with pytest.raises(ModelRefused, match="curve"):
        compile_model(model)


def test_nonlinear_objective_is_refused_by_name():
    model = model_of_every_kind()
    model.value.expr = model.x**2
    with pytest.raises(ModelRefused, match="value"):
        compile_model(model)


def test_two_objectives_are_refused():
    model = model_of_every_kind()
    model.other = pyo.Objective(expr=model.x)
    with pytest.raises(ModelRefused, match="2 active objectives: value, other"):
        compile_model(model)


def test_model_without_objective_or_constraints_compiles():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(bounds=(2, 3))
    form = compile_model(model)
    assert (len(form.columns), len(form.rows), form.offset, form.sense) == (0, 0, 0, "min")
    load_values(form, np.empty(0))
    assert model.x.value == 2


@pytest.mark.parametrize("bounds", [(0.2, 0.8), (3, 2)])
def test_empty_domain_is_trivially_infeasible(bounds):
    model = model_of_every_kind()
    model.n.setlb(bounds[0])
    model.n.setub(bounds[1])
    with pytest.raises(TriviallyInfeasibleError, match=r"^n:"):
        compile_model(model)


def test_violated_constant_row_is_trivially_infeasible():
    model = model_of_every_kind()
    model.never = pyo.Constraint(expr=model.fixed >= 3)
    with pytest.raises(TriviallyInfeasibleError, match="never"):
        compile_model(model)


def test_crossed_range_is_trivially_infeasible():
    model = model_of_every_kind()
    model.side = pyo.Param(initialize=2, mutable=True)
    model.crossed = pyo.Constraint(expr=(model.side, model.x, 1))
    with pytest.raises(TriviallyInfeasibleError, match=r"^crossed:"):
        compile_model(model)


def test_domain_with_holes_is_refused_by_name():
    model = model_of_every_kind()
    model.x.domain = pyo.Set(initialize=[0, 1, 4], ordered=True)
    model.x.domain.construct()
    with pytest.raises(ModelRefused, match=r"^x: its domain"):
        compile_model(model)


def test_right_hand_sides_are_free_of_the_rounding_of_moved_constants():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(domain=pyo.Integers, bounds=(0, 9))
    model.row = pyo.Constraint(expr=10 * model.x + 0.1 <= 0.3)
    model.third = pyo.Constraint(expr=model.x + 0.1 + 0.2 <= 0.6 + 1 / 3)
    form = compile_model(model)
    assert form.row_upper.tolist() == [0.2, 19 / 30]


def test_coefficients_that_cancel_leave_no_entry():
    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var(), pyo.Var()
    model.row = pyo.Constraint(expr=model.x + model.y - model.x <= 3)
    assert compile_model(model).A.nnz == 1


def test_constants_that_miss_each_other_by_rounding_are_no_infeasibility():
    model = model_of_every_kind()
    model.a, model.b2 = pyo.Var(), pyo.Var()
    model.a.fix(0.1)
    model.b2.fix(0.2)
    model.sums = pyo.Constraint(expr=model.a + model.b2 == 0.3)
    assert len(compile_model(model).rows) == 4
    assert model.sums.active
    model.a.fix(0.1001)
    with pytest.raises(TriviallyInfeasibleError, match="sums"):
        compile_model(model)
