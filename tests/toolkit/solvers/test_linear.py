"""Models that need exact arithmetic, and incumbents that are checked again."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyomo.environ as pyo
import pytest

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.solvers import solve_model
from gadgetopt.solvers.dual_bounds import exact_dual_bound
from gadgetopt.solvers.exact_form import ExactReader
from gadgetopt.solvers.linear import checked
from gadgetopt.solvers.outcome import NAMES, SolverOutcome
from gadgetopt.solvers.recheck import violated, within_bounds
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.solvers.to_cpsat.integer_form import integer_form
from gadgetopt.system.result import Limits, Status

BACKENDS = ["cpsat", "highs"]


def two_integers(high: int = 20, sense=pyo.maximize) -> pyo.ConcreteModel:
    """Build max x with x, y in 0..high."""
    model = pyo.ConcreteModel()
    model.x = pyo.Var(domain=pyo.Integers, bounds=(0, high))
    model.y = pyo.Var(domain=pyo.Integers, bounds=(0, high))
    model.p = pyo.Param(initialize=0.1, mutable=True)
    model.value = pyo.Objective(expr=model.x, sense=sense)
    return model


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("row", "fixed", "optimum"),
    [
        (lambda m: 0.1 * m.x + 100 <= 100.1, None, 1),
        (lambda m: 0.1 * m.x + 100 == 100.1, None, 1),
        (lambda m: 0.1 * m.x + 5 * m.y <= 5.1, 1, 1),
        (lambda m: 0.1 * m.x + 0.7 * m.y <= 14.1, 20, 1),
        (lambda m: 0.1 * m.x + 0.1 * m.y <= 0.4, 3, 1),
        (lambda m: 0.1 * m.x + 0.2 * m.x <= 3, None, 10),
        (lambda m: 0.1 * m.x + 0.2 * m.x == 3, None, 10),
        (lambda m: sum(0.1 * m.x for _ in range(10)) == 10, None, 10),
        (lambda m: 0.1 * m.x + 0.2 * m.x - 0.3 * m.x == 0 * m.y, None, 20),
        (lambda m: m.x <= m.p * m.y * 10, 3, 3),
        (lambda m: m.x * (m.y * 0.1) <= 3, 3, 10),
        (lambda m: 3 * (m.p * m.x + 0.2) <= 0.9, None, 1),
        (lambda m: (m.p * m.x + m.p) / (m.p * 3) <= 4 / 3, None, 3),
        (lambda m: m.p**2 * m.x + m.p**0 <= 1.07, None, 7),
        (lambda m: -(m.p * m.x) - m.p >= -0.3 + 3 * m.p - m.p * 3, None, 2),
        (lambda m: pyo.inequality(2.5, m.x + 0.1, 3.1), None, 3),
    ],
)
def test_terms_are_collected_exactly(backend, row, fixed, optimum):
    model = two_integers()
    if fixed is not None:
        model.y.fix(fixed)
    model.row = pyo.Constraint(expr=row(model))
    outcome = solve_model(model, backend)
    assert (outcome.status, outcome.objective) == (Status.OPTIMAL, optimum)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_zero_sum_of_decimals_binds_nothing(backend):
    model = two_integers(sense=pyo.minimize)
    model.x.setlb(1)
    model.row = pyo.Constraint(expr=0.1 * model.x + 0.2 * model.x - 0.3 * model.x == 0)
    outcome = solve_model(model, backend)
    assert (outcome.status, outcome.objective) == (Status.OPTIMAL, 1)


def test_named_expressions_are_shared_and_exact():
    model = two_integers()
    model.part = pyo.Expression(expr=model.p * model.x + 0.2)
    model.rows = pyo.Constraint(range(3), rule=lambda m, i: m.part + 2 * m.part <= 0.9 + i)
    assert solve_model(model, "cpsat").objective == 1


def test_constants_of_the_objective_are_exact_beyond_doubles():
    model = two_integers(sense=pyo.minimize)
    model.value.expr = model.x + 9007199254740993
    assert solve_model(model, "cpsat").objective == 9007199254740993
    model.value.expr = model.x + 0.1 + 0.2
    assert solve_model(model, "cpsat").objective == Fraction(3, 10)
    model.value.expr = 0.1 * (model.x + 1) + 0.2 * (1 + model.x)
    assert solve_model(model, "cpsat").objective == Fraction(3, 10)


def test_rows_without_variables_are_compared_exactly():
    model = two_integers()
    model.a = pyo.Var([0, 1])
    model.a[0].fix(0.1)
    model.a[1].fix(0.2)
    model.row = pyo.Constraint(expr=model.a[0] + model.a[1] == 0.3)
    assert solve_model(model, "cpsat").status is Status.OPTIMAL
    model.more = pyo.Constraint(expr=model.a[0] + model.a[1] >= 0.30000000000000004)
    assert solve_model(model, "cpsat").status is Status.INFEASIBLE


def test_bounds_are_exact():
    model = two_integers()
    model.x.setub(2.9999999999999996)
    assert solve_model(model, "highs").objective == 2
    model.x.setub(3 * (model.p + 0.2) / 0.3)
    assert solve_model(model, "cpsat").objective == 3
    model.x.setub(2**60 + 1)
    model.p = 2**60
    model.row = pyo.Constraint(expr=model.x <= model.p + 7)
    assert integer_form(compile_model(model)).upper[0] == 2**60 + 1


def test_plain_rows_are_taken_as_they_stand_and_only_others_are_kept_twice():
    model = two_integers()
    model.plain = pyo.Constraint(expr=0.1 * model.x + 0.7 * model.y <= 1.1)
    model.integer = pyo.Constraint(expr=2 * (model.x + 3) - model.y <= 9)
    model.decimal = pyo.Constraint(expr=0.1 * model.x + 0.2 * model.x <= 3)
    form = compile_model(model)
    assert list(form.exact.rows) == [2]
    assert form.A.toarray().tolist() == [[0.1, 0.7], [2, -1], [0.3, 0]]
    assert form.row_upper.tolist() == [1.1, 3, 3]


def test_dual_bounds_use_the_exact_numbers():
    # 0.1 x + 0.2 x <= 0.3 with the dual 1 / 0.3 proves x <= 1, and 2^53 + 1 counts.
    model = pyo.ConcreteModel()
    model.x = pyo.Var(bounds=(0, None))
    model.row = pyo.Constraint(expr=0.1 * model.x + 0.2 * model.x <= 0.3)
    model.value = pyo.Objective(expr=model.x + 2**53 + 1, sense=pyo.maximize)
    assert exact_dual_bound(compile_model(model), [Fraction(10, 3)]) == 2**53 + 2
    model.value.expr = model.x + 1e17
    with pytest.raises(ModelRefused, match=r"2\^53"):
        exact_dual_bound(compile_model(model), [Fraction(10, 3)])


def test_functions_without_rational_values_are_for_highs_only():
    model = two_integers()
    model.row = pyo.Constraint(expr=pyo.exp(model.p) * model.x <= 2.3)
    with pytest.raises(ModelRefused, match=r"^row: exp has no exact linear form"):
        solve_model(model, "cpsat")
    assert solve_model(model, "highs").objective == 2


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("exponent", [20, 28])
def test_rows_with_large_coefficients_hold_exactly(backend, exponent):
    high = 2**exponent
    model = two_integers(high, pyo.minimize)
    model.row = pyo.Constraint(expr=(high - 1) * model.x - (high + 1) * model.y == 1)
    outcome = solve_model(model, backend)
    assert (outcome.status, outcome.objective) == (Status.OPTIMAL, high // 2)


def test_coefficients_that_neither_solver_resolves_give_an_error_with_a_reason():
    high = 2**40
    model = two_integers(high, pyo.minimize)
    model.row = pyo.Constraint(expr=(high - 1) * model.x - (high + 1) * model.y == 1)
    outcome = solve_model(model, "highs")
    assert outcome.status is Status.ERROR
    assert outcome.reason.startswith("row: its sums are too large for HiGHS")
    assert outcome.reason.endswith(
        ", and CP-SAT does not take the model (row: scaled to integers, its terms can exceed 64 "
        "bits): its point violates row; use rounder coefficients or tighter bounds"
    )
    assert model.x.value is None


def with_wide_room(high):
    """Return a model whose row no solver resolves, and every point satisfies."""
    model = two_integers(high)
    model.row = pyo.Constraint(
        expr=(2**45 + 1) * model.x + 2**45 * model.y <= 2 * (2**45 + 1) * high
    )
    return model


@pytest.mark.parametrize("backend", ["highs", "scip"])
def test_a_point_that_is_not_confirmed_comes_with_one_sentence(backend):
    outcome = solve_model(with_wide_room(2**20), backend)
    assert (outcome.status, outcome.objective, outcome.bound) == (Status.FEASIBLE, 2**20, None)
    assert outcome.reason == (
        f"row: its sums are too large for {NAMES[backend]}, which computes in doubles, and CP-SAT "
        "does not take the model (row: scaled to integers, its terms can exceed 64 bits): the "
        "point satisfies all rows exactly, but may not be optimal; use rounder coefficients or "
        "tighter bounds, or --certify, which proves in exact arithmetic"
    )


def test_an_infinite_objective_is_never_optimal():
    model = two_integers()
    model.value.expr = 1e308 * model.x + 1e308 * model.y
    with pytest.raises(ModelRefused, match="1e\\+308"):
        solve_model(model, "cpsat")
    outcome = solve_model(model, "highs")
    assert outcome.status is Status.ERROR
    assert outcome.reason == "the objective is beyond the range of doubles"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("row", "optimum"),
    [
        (lambda m: m.x + 1e-10 * m.y <= 5, 4),
        (lambda m: m.x >= 3.00000001, 4),
        (lambda m: m.x <= 4.99999999, 4),
        (lambda m: m.x - 1e7 * m.z <= 0, 20),
    ],
)
def test_a_point_that_tolerances_let_through_is_not_feasible(backend, row, optimum):
    model = two_integers()
    model.y.setlb(1)
    model.z = pyo.Var(domain=pyo.Binary)
    model.row = pyo.Constraint(expr=row(model))
    model.value.sense = pyo.minimize if model.row.lower is not None else pyo.maximize
    outcome = solve_model(model, backend)
    assert (outcome.status, outcome.objective) == (Status.OPTIMAL, optimum)


def big_m(m: float) -> pyo.ConcreteModel:
    """Build min open with flow <= m open and flow >= 1: open must be 1."""
    model = pyo.ConcreteModel()
    model.flow = pyo.Var(bounds=(0, 10))
    model.open = pyo.Var(domain=pyo.Binary)
    model.trickle = pyo.Constraint(expr=model.flow <= m * model.open)
    model.need = pyo.Constraint(expr=model.flow >= 1)
    model.value = pyo.Objective(expr=model.open)
    return model


@pytest.mark.parametrize("m", [10, 1e4, 1e7, 1e9, 1e12])
def test_continuous_variables_fit_the_rounded_integers(m):
    outcome = solve_model(big_m(m), "highs")
    assert outcome.objective is None or outcome.objective == 1
    assert outcome.status in (Status.OPTIMAL, Status.FEASIBLE) or outcome.reason


def test_continuous_variables_are_computed_again_beside_rounded_integers():
    model = big_m(10)
    model.value.expr = model.open - 0.5 * model.flow
    form = compile_model(model)
    order = [[v.name for v in form.columns].index(name) for name in ("flow", "open")]
    values = np.zeros(2)
    values[order] = [10.1, 1]
    claim = SolverOutcome(Status.OPTIMAL, values=values, objective=-4.05, bound=-4.0)
    mended = checked(form, claim, "highs", Limits(), 0)
    assert mended.values[order].tolist() == [10, 1]
    assert (mended.status, mended.objective) == (Status.OPTIMAL, -4)
    values[order] = [1, 0]
    claim = SolverOutcome(Status.FEASIBLE, values=values, objective=-0.5, limit_hit="time_s")
    failed = checked(form, claim, "highs", Limits(), 0)
    assert (failed.status, failed.values, failed.bound) == (Status.NO_SOLUTION, None, None)
    assert failed.reason.startswith("HiGHS's incumbent violates trickle")


def test_rows_over_integers_are_checked_exactly_and_others_in_proportion():
    model = two_integers()
    model.z = pyo.Var(bounds=(-5, 5))
    model.exact = pyo.Constraint(expr=0.1 * model.x + 0.2 * model.y <= 0.3)
    model.close = pyo.Constraint(expr=1e-9 * model.x - 1e-9 * model.z <= 0)
    form = compile_model(model)
    order = [[v.name for v in form.columns].index(name) for name in "xyz"]

    def wrong(*point: float) -> str | None:
        values = np.zeros(3)
        values[order] = point
        return violated(form, within_bounds(form, values))

    assert wrong(1, 1, 1) is None
    assert wrong(3, 0, 3 - 1e-7) is None
    assert wrong(2, 1, 5) == "exact"
    assert wrong(1, 1, 1 - 1e-3) == "close"
    assert wrong(21, 0, 5) == "x"
    assert wrong(0, 0, 5 + 1e-7) is None


def test_a_fixed_variable_without_a_value_is_refused_in_one_line():
    model = two_integers()
    model.y.fixed = True
    model.row = pyo.Constraint(expr=model.x + model.y <= 3)
    for backend in BACKENDS:
        with pytest.raises(ModelRefused, match=r"^row: y is fixed, but has no value$"):
            solve_model(model, backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "spoil",
    [
        lambda m: setattr(m, "row", pyo.Constraint(expr=m.x * m.y <= 3)),
        lambda m: setattr(m, "row", pyo.SOSConstraint(var=m.many, sos=1)),
        lambda m: setattr(m, "row", pyo.Constraint(expr=m.x / (m.p - 0.1) <= 3)),
        lambda m: setattr(m, "row", pyo.Constraint(expr=pyo.log(m.p - 0.1) * m.x <= 3)),
        lambda m: setattr(m, "row", pyo.Constraint(expr=10**400 * m.x <= 3)),
        lambda m: setattr(m.value, "expr", m.x**2),
        lambda m: m.p.clear() or setattr(m, "row", pyo.Constraint(expr=m.p * m.x <= 3)),
        lambda m: setattr(m, "z", pyo.Objective(expr=m.y)),
    ],
)
def test_refusals_are_one_line(backend, spoil):
    model = two_integers()
    model.many = pyo.Var([0, 1], domain=pyo.Binary)
    spoil(model)
    with pytest.raises(ModelRefused) as refusal:
        solve_model(model, backend)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("number", [math.inf, math.nan])
def test_what_is_no_number_is_named(number):
    model = two_integers()
    model.p = number
    model.row = pyo.Constraint(expr=model.p * model.x <= 3)
    with pytest.raises(InputError, match=r"^row: (inf|nan) is not a finite number$"):
        solve_model(model, "highs")


def test_every_row_of_a_form_can_be_read_exactly():
    model = two_integers()
    model.row = pyo.Constraint(expr=model.x / 3 + 0.25 * model.y <= 7 / 3)
    row = ExactReader(compile_model(model)).row(0)
    assert (row.coefficients, row.upper) == ([Fraction(1, 3), Fraction(1, 4)], Fraction(7, 3))


def test_integers_that_doubles_cannot_resolve_go_to_cpsat_at_once():
    # HiGHS searches this model far beyond any time limit.
    model = pyo.ConcreteModel()
    model.x = pyo.Var(domain=pyo.Integers, bounds=(-(2**40), 2**40))
    model.y = pyo.Var(domain=pyo.Integers, bounds=(-(2**40), 2**40))
    model.row = pyo.Constraint(expr=1000003 * model.x - 1000033 * model.y == 1)
    model.cost = pyo.Objective(expr=model.x)
    outcome = solve_model(model, "highs", Limits(time_s=20))
    assert 1000003 * model.x.value - 1000033 * model.y.value == 1
    assert "ortools" in outcome.versions


def test_an_optimum_of_wide_rows_is_confirmed():
    # HiGHS 1.14 presolves (7, 2) away: x = 1 is its optimum.
    model = pyo.ConcreteModel()
    model.x = pyo.Var(domain=pyo.Integers, bounds=(1, 7))
    model.y = pyo.Var(domain=pyo.Integers, bounds=(-2, 5))
    model.z = pyo.Var(domain=pyo.Integers, bounds=(-1, 3))
    model.low = pyo.Constraint(expr=46.5 * model.x + 21.6 * model.y + 773 * model.z <= 2523)
    model.wide = pyo.Constraint(expr=-0.485631699 * model.x + 56050859.2 * model.z >= 56050858.714)
    model.cost = pyo.Objective(expr=-3893 * model.x)
    assert solve_model(model, "highs").objective == -27251


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("row", "has_solutions"),
    [
        (lambda m: 6 * m.x - 9 * m.y == 5, False),
        (lambda m: 6 * m.x - 9 * m.y == 6, True),
        (lambda m: 0.2 * m.x + 0.4 * m.y == 0.3, False),
        (lambda m: 0.1 * m.x + 0.2 * m.x - 0.6 * m.y == 0.4, False),
        (lambda m: m.x + 0.5 * m.y == 1.25, False),
        (lambda m: m.x - m.y == 0.5, False),
        (lambda m: m.x + 0.5 * m.y == 1.5, True),
        (lambda m: pyo.inequality(1, 4 * m.x - 6 * m.y, 1.9), False),
        (lambda m: pyo.inequality(1, 4 * m.x - 6 * m.y, 2), True),
    ],
)
def test_divisors_decide_rows_over_integers_without_bounds(backend, row, has_solutions):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(domain=pyo.Integers)
    m.y = pyo.Var(domain=pyo.Integers)
    m.near = pyo.Constraint(expr=pyo.inequality(-50, m.x + m.y, 50))
    m.row = pyo.Constraint(expr=row(m))
    m.value = pyo.Objective(expr=m.x + 2 * m.y)
    if has_solutions:  # of a model without an end, which is not of interest here
        m.x.setlb(-9)
        m.y.setlb(-9)
    outcome = solve_model(m, backend)
    assert outcome.status is (Status.OPTIMAL if has_solutions else Status.INFEASIBLE)
    if not has_solutions:
        assert outcome.reason == "row: no integers satisfy it"


def test_a_continuous_variable_leaves_no_divisor():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(domain=pyo.Integers)
    m.y = pyo.Var(bounds=(0, 1))
    m.row = pyo.Constraint(expr=6 * m.x - 9 * m.y == 5)
    m.value = pyo.Objective(expr=m.y)
    assert solve_model(m, "highs").status is Status.OPTIMAL
