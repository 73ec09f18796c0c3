"""Translation of rows to CP-SAT, and their exact integers."""

from __future__ import annotations

from fractions import Fraction

import pyomo.environ as pyo
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.solvers.standard_form import TriviallyInfeasibleError, compile_model
from gadgetopt.solvers.to_cpsat.integer_bounds import find_bounds
from gadgetopt.solvers.to_cpsat.integer_form import (
    IntegerForm,
    integer_form,
    is_improving_ray,
    satisfies,
)
from gadgetopt.solvers.to_cpsat.translation import translate


def binary_model(row) -> pyo.ConcreteModel:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(3), domain=pyo.Binary)
    model.row = pyo.Constraint(expr=row(*model.x.values()))
    return model


def kind_of(row) -> tuple[str, list[int]]:
    """Return which constraint the only row of a binary model becomes, and its literals."""
    proto = translate(integer_form(compile_model(binary_model(row)))).model.proto
    assert len(proto.constraints) == 1
    constraint = proto.constraints[0]
    for kind in ("exactly_one", "at_most_one", "bool_or"):
        if getattr(constraint, f"has_{kind}")():
            return kind, list(getattr(constraint, kind).literals)
    return "linear", []


# A negated literal of variable j has the index -j - 1.
@pytest.mark.parametrize(
    ("row", "kind", "literals"),
    [
        (lambda x, y, z: x + y + z == 1, "exactly_one", [0, 1, 2]),
        (lambda x, y, z: x + y + z <= 1, "at_most_one", [0, 1, 2]),
        (lambda x, y, z: 0.1 * x + 0.1 * y + 0.1 * z <= 0.1, "at_most_one", [0, 1, 2]),
        (lambda x, y, z: 2 * x + 2 * y + 2 * z <= 3, "at_most_one", [0, 1, 2]),
        (lambda x, y, z: x + y + z >= 1, "bool_or", [0, 1, 2]),
        (lambda x, y, z: x <= y, "at_most_one", [0, -2]),
        (lambda x, y, z: x == y, "exactly_one", [0, -2]),
        (lambda x, y, z: x + y + z <= 2, "bool_or", [-1, -2, -3]),
        (lambda x, y, z: x + y + z == 2, "exactly_one", [-1, -2, -3]),
        (lambda x, y, z: x + y + z >= 2, "at_most_one", [-1, -2, -3]),
        (lambda x, y, z: x + 2 * y + z <= 2, "linear", []),
    ],
)
def test_rows_over_binaries_become_the_logic_they_are(row, kind, literals):
    assert kind_of(row) == (kind, literals)


def test_row_that_always_holds_adds_nothing():
    form = integer_form(compile_model(binary_model(lambda x, y, z: x + y + z <= 3)))
    assert len(translate(form).model.proto.constraints) == 0


def test_row_that_no_binaries_satisfy_is_infeasible():
    form = integer_form(compile_model(binary_model(lambda x, y, z: x + y + z >= 4)))
    with pytest.raises(TriviallyInfeasibleError, match=r"^row:"):
        translate(form)


def integer_model(low=0, high=9) -> pyo.ConcreteModel:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(2), domain=pyo.Integers, bounds=(low, high))
    return model


def test_rows_are_scaled_to_coprime_integers_and_their_sides_rounded_inward():
    model = integer_model()
    model.row = pyo.Constraint(expr=(0.75, 0.5 * model.x[0] + model.x[1] / 3, 7.1))
    row = integer_form(compile_model(model)).rows[0]
    # Times 6: 4.5 <= 3 x + 2 y <= 42.6.
    assert (row.coefficients, row.lower, row.upper) == ([3, 2], 5, 42)


def test_equality_that_integers_cannot_meet_is_infeasible():
    model = integer_model()
    model.row = pyo.Constraint(expr=2 * model.x[0] + 4 * model.x[1] == 3)
    with pytest.raises(TriviallyInfeasibleError, match=r"^row: no integers"):
        integer_form(compile_model(model))


def test_objective_is_read_back_exactly():
    model = integer_model()
    model.value = pyo.Objective(expr=0.1 * model.x[0] - model.x[1] / 3 + 0.25, sense=pyo.maximize)
    form = integer_form(compile_model(model))
    expected = Fraction(7, 10) - Fraction(2, 3) + Fraction(1, 4)
    assert form.objective(form.inner([7, 2])) == expected


def bounded_by(model: pyo.ConcreteModel) -> tuple[IntegerForm, list[int]]:
    form = integer_form(compile_model(model))
    return form, find_bounds(form)


def test_bounds_follow_from_rows_one_after_another():
    model = integer_model(0, None)
    model.a = pyo.Constraint(expr=3 * model.x[0] <= 10)
    model.b = pyo.Constraint(expr=2 * model.x[1] - 5 * model.x[0] <= 1)
    form, left = bounded_by(model)
    assert (form.upper, left) == ([3, 8], [])


def test_bounds_follow_from_what_a_minimum_can_want():
    model = integer_model(None, None)
    model.x[0].setlb(-2)
    model.x[0].setub(4)
    model.row = pyo.Constraint(expr=2 * model.x[1] >= 3 * model.x[0] + 1)
    model.cost = pyo.Objective(expr=model.x[1])
    form, left = bounded_by(model)
    # x1 >= (3 * -2 + 1) / 2 = -2.5 from the row, and never more than ceil(13 / 2) = 7.
    assert (form.lower[1], form.upper[1], left) == (-2, 7, [])


def test_columns_that_nothing_bounds_are_returned():
    model = integer_model(None, None)
    model.row = pyo.Constraint(expr=model.x[0] == 2 * model.x[1])
    assert bounded_by(model)[1] == [0, 1]


def test_ray_is_checked_exactly():
    model = integer_model(0, None)
    model.row = pyo.Constraint(expr=model.x[0] <= 3 * model.x[1])
    model.value = pyo.Objective(expr=model.x[0], sense=pyo.maximize)
    form = integer_form(compile_model(model))
    assert is_improving_ray(form, [Fraction(1), Fraction(1, 3)])
    assert not is_improving_ray(form, [Fraction(1), Fraction(333, 1000)])
    assert not is_improving_ray(form, [Fraction(0), Fraction(1)])


def test_rows_are_checked_exactly():
    model = integer_model()
    model.row = pyo.Constraint(expr=0.1 * model.x[0] + 0.2 * model.x[1] <= 0.3)
    form = integer_form(compile_model(model))
    assert satisfies(form, [1, 1])
    assert not satisfies(form, [2, 1])


def test_side_beyond_every_sum_is_no_reason_to_refuse():
    model = integer_model()
    model.row = pyo.Constraint(expr=2 * model.x[0] + model.x[1] <= 1e30)
    translate(integer_form(compile_model(model)))


def test_bounds_beyond_64_bits_are_refused_by_name():
    model = integer_model(0, 1e19)
    model.row = pyo.Constraint(expr=model.x[0] + model.x[1] >= 1)
    with pytest.raises(ModelRefused, match=r"^x\[0\]: 1e\+19 is 2\^53 or more"):
        translate(integer_form(compile_model(model)))


@pytest.mark.parametrize("coefficient", [2.0**53, -(2.0**55), 1e30])
def test_doubles_in_which_integers_may_have_been_rounded_are_refused(coefficient):
    model = integer_model(0, 1)
    model.row = pyo.Constraint(expr=coefficient * model.x[0] - model.x[1] <= 1)
    with pytest.raises(ModelRefused, match=r"^row: .* is 2\^53 or more"):
        integer_form(compile_model(model))


@pytest.mark.parametrize("coefficient", [2**53 + 1, -(2**55) - 3, 10**30 + 1])
def test_integers_of_any_size_stay_exact(coefficient):
    model = integer_model(0, 10**20)
    model.row = pyo.Constraint(
        expr=coefficient * model.x[0] - (2**31 - 1) * model.x[1] <= 2**60 + 1 + 5 * model.x[0]
    )
    form = integer_form(compile_model(model))
    assert form.rows[0].coefficients == [coefficient - 5, 1 - 2**31]
    assert form.rows[0].upper == 2**60 + 1
    assert form.upper == [10**20] * 2


def test_a_reachable_side_that_a_double_may_have_rounded_is_refused():
    model = integer_model(0, 4)
    model.row = pyo.Constraint(expr=2**52 * model.x[0] + 2**52 * model.x[1] <= 2.0**53)
    with pytest.raises(ModelRefused, match=r"^row: a side of 2\^53"):
        integer_form(compile_model(model))


def test_objective_beyond_64_bits_is_refused():
    model = integer_model(0, 10**9)
    model.cost = pyo.Objective(expr=1.23456789e-9 * model.x[0] + 9.87654321e5 * model.x[1])
    with pytest.raises(ModelRefused, match=r"^the objective"):
        translate(integer_form(compile_model(model)))


def test_outward_scaling_says_that_it_is_not_exact():
    model = integer_model(0, 10**9)
    model.row = pyo.Constraint(expr=1.23456789e-9 * model.x[0] + 9.87654321e5 * model.x[1] <= 1e9)
    form = integer_form(compile_model(model))
    assert not translate(form, "outward").exact
    assert translate(form, "outward").model.validate() == ""
