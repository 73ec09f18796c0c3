"""Linear programs in integers: what their numbers are, and what a point violates."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyomo.environ as pyo

from gadgetopt.numbers.exact_vertex import integers
from gadgetopt.solvers.exact_optimum.program import Places, exact_lp, faults
from gadgetopt.solvers.standard_form import compile_model


def small_model() -> pyo.ConcreteModel:
    """Max x + y / 3 with 0.1 x + 0.25 y <= 0.5, x <= 1.5, y <= 4: x = 3/2, y = 7/5."""
    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var(bounds=(0, 1.5)), pyo.Var(bounds=(0, 4))
    model.row = pyo.Constraint(expr=0.1 * model.x + 0.25 * model.y <= 0.5)
    model.cost = pyo.Objective(expr=model.x + 1 / 3 * model.y, sense=pyo.maximize)
    return model


def test_numbers_are_integers_in_their_units():
    lp = exact_lp(compile_model(small_model()))
    assert lp.unit == 2  # of x <= 3/2
    assert lp.row_units == [20]
    assert lp.data.tolist() == [2, 5]
    assert lp.high.numbers.tolist() == [20]  # 1/2, times both
    assert lp.cost_unit == -3
    assert lp.costs.tolist() == [-3, -1]


def test_a_vertex_has_no_faults_where_it_is_optimal_only():
    lp = exact_lp(compile_model(small_model()))
    optimal = lp.vertex(Places(np.array([1, 0]), np.array([1])))
    assert [Fraction(x, optimal.denominator * lp.unit) for x in optimal.values] == [
        Fraction(3, 2),
        Fraction(7, 5),
    ]
    assert faults(lp, optimal).none
    for columns, row in (([-1, 0], 1), ([-1, -1], 0), ([1, 1], 0), ([0, 1], 1), ([0, -1], 1)):
        assert not faults(lp, lp.vertex(Places(np.array(columns), np.array([row])))).none


def test_every_change_of_a_point_or_its_duals_is_a_fault():
    lp = exact_lp(compile_model(small_model()))
    point = lp.vertex(Places(np.array([1, 0]), np.array([1])))
    for j, step in ((0, 1), (0, -1), (1, 1), (1, -1)):
        moved = point.values.copy()
        moved[j] += step
        changed = lp.point(moved, point.denominator, point.duals, point.dual_denominator)
        assert not faults(lp, changed).none
    for step in (1, -1):
        duals = point.duals + step
        changed = lp.point(point.values, point.denominator, duals, point.dual_denominator)
        assert not faults(lp, changed).none


def test_a_basis_of_the_wrong_size_has_no_vertex_and_rounded_numbers_no_program():
    lp = exact_lp(compile_model(small_model()))
    assert lp.vertex(Places(np.array([0, 0]), np.array([1]))) is None
    model = small_model()
    model.row.set_value(model.x + model.y <= 2.0**60)  # a double that may have been rounded
    assert exact_lp(compile_model(model)) is None


def test_sums_beyond_64_bits_are_exact():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(3), bounds=(0, 10**15))
    model.row = pyo.Constraint(expr=sum(10**14 * v for v in model.x.values()) <= 10**30)
    model.cost = pyo.Objective(expr=-sum(model.x.values()))
    lp = exact_lp(compile_model(model))
    values = integers([10**40, 1, 10**15])
    assert lp.times(values).tolist() == [10**14 * (10**40 + 1 + 10**15)]
    assert lp.transposed_times(integers([10**20])).tolist() == [10**34] * 3
