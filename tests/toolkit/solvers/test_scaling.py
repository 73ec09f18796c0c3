"""Models of very small or large numbers are scaled for HiGHS, and results scaled back."""

import pyomo.environ as pyo
import pytest

from gadgetopt.solvers.dual_bounds import rational_duals
from gadgetopt.solvers.highs import solve_form
from gadgetopt.solvers.scaling import cost_unit, scaling_of
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.result import Limits, Status


def program(cost=1.0, row=1.0, side=1.0, domain=pyo.NonNegativeReals):
    """Max 3x + 2y, x + y <= 4, x + 3y <= 6: 12 at (4, 0); in other units of everything."""
    m = pyo.ConcreteModel()
    most = (0, 6 * side)  # without one, no rounded duals prove a bound
    m.x, m.y = pyo.Var(domain=domain, bounds=most), pyo.Var(domain=domain, bounds=most)
    m.a = pyo.Constraint(expr=row * m.x + row * m.y <= 4 * row * side)
    m.b = pyo.Constraint(expr=m.x + 3 * m.y <= 6 * side)
    m.o = pyo.Objective(expr=cost * (3 * m.x + 2 * m.y), sense=pyo.maximize)
    return compile_model(m)


@pytest.mark.parametrize("largest", [5e-324, 1e-12, 0.3, 1.0, 70.0, 1e9, 1e12, 1e300])
def test_the_unit_is_a_power_of_two_that_makes_costs_ordinary(largest):
    unit = cost_unit([largest, -largest / 3, float("inf")])

    assert unit.hex().startswith("0x1.0000000000000p")
    assert largest / unit <= 2.0**30
    assert largest / unit >= 1 or largest < 1e-280  # where no double is its inverse


def test_ordinary_models_are_handed_over_as_they_are():
    form = program()

    assert scaling_of(form).scaled(form) is form


@pytest.mark.parametrize("cost", [1e-12, 1e-6, 1.0, 1e9, 1e12])
@pytest.mark.parametrize("row", [1e-9, 1.0, 1e3])
@pytest.mark.parametrize("side", [1e-9, 1.0])
def test_a_linear_program_is_solved_in_any_unit(cost, row, side):
    form = program(cost, row, side)
    found = solve_form(form, Limits())

    assert found.status is Status.OPTIMAL
    assert found.objective == pytest.approx(12 * cost * side, rel=1e-9, abs=0.0)
    assert found.values == pytest.approx([4 * side, 0.0], rel=1e-9, abs=1e-12 * side)
    # The duals prove the optimum of the model as it was.
    proved, _ = rational_duals(form, found.row_duals)
    assert float(proved) == pytest.approx(12 * cost * side, rel=1e-9, abs=0.0)


@pytest.mark.parametrize("row", [1e-12, 1e-9, 1.0])
def test_small_rows_bind_integers_too(row):
    found = solve_form(program(1.0, row, domain=pyo.NonNegativeIntegers), Limits())

    assert found.objective == pytest.approx(12)
    assert found.values.round().tolist() == [4, 0]
