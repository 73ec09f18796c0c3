"""Exact optima of linear programs: against enumerated vertices, and from any basis."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.numbers.exact_vertex import solve_exactly
from gadgetopt.search.clock import Clock
from gadgetopt.solvers import solve_model
from gadgetopt.solvers.dual_bounds import exact_dual_bound
from gadgetopt.solvers.exact_optimum.refinement import exact_optimum
from gadgetopt.solvers.exact_optimum.values import exact_values
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.result import Limits, Status

decimals = st.integers(-300, 300).map(lambda n: n / 100)
sizes = st.sampled_from([1.0, 1e-3, 1e3, 1e6])


@st.composite
def programs(draw):
    """A program that 0 satisfies: costs, rows of (coefficients, side), and upper bounds."""
    n, m = draw(st.integers(1, 3)), draw(st.integers(0, 3))
    costs = draw(st.lists(decimals, min_size=n, max_size=n))
    rows = [
        (
            draw(st.lists(decimals, min_size=n, max_size=n)),
            draw(st.integers(0, 900)) / 100 * draw(sizes),
        )
        for _ in range(m)
    ]
    upper = [draw(st.integers(1, 900)) / 100 * draw(sizes) for _ in range(n)]
    return costs, [(a, b) for a, b in rows if any(a)], upper


def model_of(program) -> pyo.ConcreteModel:
    costs, rows, upper = program
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(len(costs)), bounds=lambda _, j: (0, upper[j]))
    model.rows = pyo.ConstraintList()
    for a, b in rows:
        model.rows.add(sum(c * model.x[j] for j, c in enumerate(a) if c) <= b)
    model.cost = pyo.Objective(expr=sum(c * model.x[j] for j, c in enumerate(costs)) + 0.5)
    return model


def exactly(x: float) -> Fraction:
    return Fraction(repr(x))


def least_by_enumeration(program) -> Fraction:
    """The least cost of the points at which as many restrictions as there are columns are tight."""
    costs, rows, upper = program
    n = len(costs)
    tops: list[tuple[dict[int, Fraction], Fraction]] = [
        ({j: exactly(c) for j, c in enumerate(a) if c}, exactly(b)) for a, b in rows
    ]
    for j, u in enumerate(upper):
        tops += [({j: Fraction(-1)}, Fraction(0)), ({j: Fraction(1)}, exactly(u))]
    best = None
    for chosen in itertools.combinations(tops, n):
        x = solve_exactly([a for a, _ in chosen], [b for _, b in chosen])
        if x is None:
            continue
        if all(sum(c * x[j] for j, c in a.items()) <= b for a, b in tops):
            cost = sum((exactly(c) * v for c, v in zip(costs, x, strict=True)), Fraction(1, 2))
            best = cost if best is None else min(best, cost)
    assert best is not None
    return best


@settings(max_examples=60, deadline=None)
@given(programs())
def test_the_optimum_is_that_of_the_best_vertex_and_its_duals_prove_it(program):
    model = model_of(program)
    outcome = solve_model(model, "highs")
    if outcome.form is None or not outcome.form.columns:
        return
    assert outcome.status is Status.OPTIMAL
    assert outcome.exact is not None
    assert outcome.exact.objective == least_by_enumeration(program)
    assert exact_dual_bound(outcome.form, outcome.exact_duals) == outcome.exact.objective
    assert outcome.objective == outcome.bound == outcome.exact.objective
    values = exact_values(model)
    costs = (exactly(c) * values.get(model.x[j], 0) for j, c in enumerate(program[0]))
    assert sum(costs) + Fraction(1, 2) == outcome.exact.objective


@settings(max_examples=40, deadline=None)
@given(programs())
def test_any_basis_is_repaired(program):
    form = compile_model(model_of(program))
    if not form.columns:
        return
    slack = [-1] * len(form.columns), [0] * len(form.rows)
    found = exact_optimum(form, slack, Clock())
    assert found is not None
    assert found.objective == least_by_enumeration(program)


def test_a_gain_below_the_solvers_tolerance_is_found():
    # The third column gains 1e-9 a unit, which HiGHS's tolerance of 1e-7 lets pass.
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(3), domain=pyo.NonNegativeReals)
    model.row = pyo.Constraint(expr=model.x[0] + model.x[1] + model.x[2] <= 1)
    model.cost = pyo.Objective(
        expr=model.x[0] + model.x[1] + (1 + 1e-9) * model.x[2], sense=pyo.maximize
    )
    form = compile_model(model)
    found = exact_optimum(form, ([0, -1, -1], [1]), Clock())
    assert found is not None
    assert found.objective == 1 + Fraction(1, 10**9)
    assert found.values == [0, 0, 1]
    assert found.rounds == 2


def test_a_free_column_and_a_third_in_the_objective():
    # Along y = 1 - 3 x the objective is 2/3 - x: best at x = 0.
    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var(domain=pyo.NonNegativeReals), pyo.Var()
    model.share = pyo.Constraint(expr=3 * model.x + model.y == 1)
    model.order = pyo.Constraint(expr=model.y - model.x >= 0)
    model.cost = pyo.Objective(expr=model.x + 2 / 3 * model.y, sense=pyo.maximize)
    outcome = solve_model(model, "highs")
    assert outcome.exact.objective == Fraction(2, 3)
    assert exact_values(model)[model.y] == 1


def test_integer_columns_numbers_beyond_doubles_and_no_time_have_no_exact_end():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(bounds=(0, 2.5))
    model.row = pyo.Constraint(expr=2 * model.x <= 2.0**60)
    model.cost = pyo.Objective(expr=-model.x)
    outcome = solve_model(model, "highs")
    assert outcome.exact is None  # an integer may have been rounded to the double of the side
    assert outcome.objective == -2.5
    model.row.deactivate()
    assert solve_model(model, "highs").exact.objective == Fraction(-5, 2)
    form = compile_model(model)
    assert exact_optimum(form, ([1], []), Clock(Limits(time_s=0.0))) is None
    model.x.domain = pyo.Integers
    assert solve_model(model, "highs").exact is None
    assert exact_values(model) is None  # not that of the solve before


def test_without_a_basis_doubles_remain():
    model = model_of(([-1.0, -1.0], [([3.0, 1.0], 1.0), ([1.0, 3.0], 1.0)], [9.0, 9.0]))
    options = {"solver": "ipm", "run_crossover": "off", "presolve": "off"}
    outcome = solve_model(model, "highs", options=options)
    assert outcome.exact is None
    assert outcome.objective == pytest.approx(0.0, abs=1e-6)


def test_bounds_and_costs_of_many_digits():
    n = 40
    rng = np.random.default_rng(0)
    upper = [float(f"{x:.9f}") for x in rng.uniform(0, 1e3, n)]
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(n), bounds=lambda _, j: (0, upper[j]))
    model.row = pyo.Constraint(expr=sum(model.x.values()) <= 10_000)
    model.cost = pyo.Objective(
        expr=sum(float(f"{x:.7f}") * model.x[j] for j, x in enumerate(rng.uniform(1, 2, n))),
        sense=pyo.maximize,
    )
    outcome = solve_model(model, "highs")
    assert exact_dual_bound(outcome.form, outcome.exact_duals) == outcome.exact.objective
    assert sum(exact_values(model).values()) == 10_000
