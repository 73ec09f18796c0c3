"""Nonlinear models: what is passed on, what is checked, and what a second run confirms."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest

import gadgetopt
from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.solvers import solve_model
from gadgetopt.solvers.outcome import SolverOutcome, with_honest_bound
from gadgetopt.solvers.through_pyomo.nonlinear import Program, confirmed
from gadgetopt.solvers.through_pyomo.nonlinear_terms import size_of
from gadgetopt.system.result import Limits, Status

OPTIMAL, FEASIBLE, INFEASIBLE = Status.OPTIMAL, Status.FEASIBLE, Status.INFEASIBLE


def products() -> pyo.ConcreteModel:
    """Build min xy over integers x in -9..9 and y in 0..9 with 1 <= xy + 3 <= 7: -2."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(domain=pyo.Integers, bounds=(-9, 9))
    m.y = pyo.Var(domain=pyo.Integers, bounds=(0, 9))
    m.p = pyo.Param(initialize=3, mutable=True, within=pyo.Any)
    m.row = pyo.Constraint(expr=pyo.inequality(1, m.x * m.y + m.p, 7))
    m.cost = pyo.Objective(expr=m.x * m.y)
    return m


@pytest.fixture
def scip():
    pytest.importorskip("pyscipopt")


def test_ranges_with_constants_are_passed_on_right(scip):
    outcome = solve_model(products(), "scip", Limits(time_s=20))
    assert (outcome.status, outcome.objective, outcome.bound) == (OPTIMAL, -2, pytest.approx(-2))


def test_fixed_variables_and_parameters_are_numbers(scip):
    m = products()
    m.k = pyo.Var(domain=pyo.Integers)
    m.k.fix(2)
    m.cost.expr = m.y**m.k - m.k * m.x + 5
    m.p = 1
    # xy + 1 in 1..7: x = 9 with y = 0.
    outcome = solve_model(m, "scip", Limits(time_s=20))
    assert (outcome.status, outcome.objective) == (OPTIMAL, -13)
    assert (m.x.value, m.y.value, m.k.value) == (9, 0, 2)


@pytest.mark.parametrize(
    ("number", "said"),
    [(float("inf"), "inf is not a"), (float("nan"), "nan is not a"), ("three", "")],
)
def test_what_is_no_number_is_named(scip, number, said):
    m = products()
    m.p = number
    with pytest.raises((InputError, ModelRefused), match=rf"^row: {said}") as refusal:
        solve_model(m, "scip")
    assert "\n" not in str(refusal.value)


def test_a_fixed_variable_without_a_value_is_refused(scip):
    m = products()
    m.k = pyo.Var()
    m.k.fixed = True
    m.more = pyo.Constraint(expr=m.x * m.y + m.k <= 3)
    with pytest.raises(ModelRefused, match=r"more: "):
        solve_model(m, "scip")


def test_small_nonlinear_rows_bind(scip):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 1))
    m.y = pyo.Var(bounds=(0, 1))
    m.row = pyo.Constraint(expr=1e-9 * m.x * m.y <= 1e-10)
    m.sum = pyo.Constraint(expr=m.y == 0.5)
    m.gain = pyo.Objective(expr=m.x, sense=pyo.maximize)
    outcome = solve_model(m, "scip", Limits(time_s=20))
    assert outcome.status is OPTIMAL
    assert outcome.objective == pytest.approx(0.2, abs=1e-5)


def test_the_size_of_a_row_is_that_of_its_largest_term():
    m = products()
    m.z = pyo.Var(initialize=0.01)
    m.x.value, m.y.value = 5, 4
    body = m.x * m.y - 3 * m.z + 7
    assert size_of(body, at_values=True) == 20
    assert size_of(1e-9 * m.z * m.x, at_values=True) == pytest.approx(5e-9)
    assert size_of(1e-9 * m.z * m.x, at_values=False) == pytest.approx(1e-9)


def test_an_incumbent_is_checked_and_its_objective_computed():
    m = products()
    program = Program.of(m)
    order = [v.name for v in program.form.columns]

    def of(x: float, y: float) -> SolverOutcome:
        values = program.form.col_lower.copy()
        values[order.index("x")], values[order.index("y")] = x, y
        return program.checked(SolverOutcome(OPTIMAL, values=values, objective=-5.0, bound=-2.0))

    right = of(-1 + 1e-7, 2)
    assert (right.status, right.objective, right.bound) == (OPTIMAL, -2, -2)
    assert of(-1, 3).reason == "its incumbent violates row"
    assert "10" in of(10, 0).reason or of(10, 0).reason.endswith("x")
    assert of(0.5, 2).status is Status.ERROR


def test_a_bound_past_the_incumbent_is_dropped_and_that_is_said():
    claim = SolverOutcome(OPTIMAL, objective=612.0, bound=617.0)
    honest = with_honest_bound(claim, "min")
    assert (honest.status, honest.bound) == (FEASIBLE, None)
    assert honest.reason == "its bound 617.0 is refuted by its incumbent of 612.0"
    within = with_honest_bound(SolverOutcome(OPTIMAL, objective=9.0, bound=9.0000001), "min")
    assert (within.status, within.bound) == (OPTIMAL, 9.0)
    assert with_honest_bound(claim, "max").bound == 617.0


def test_a_second_run_confirms_or_refutes():
    def optimum(x: float) -> SolverOutcome:
        return SolverOutcome(OPTIMAL, objective=x, bound=x)

    none = SolverOutcome(INFEASIBLE)
    late = SolverOutcome(Status.NO_SOLUTION, limit_hit="time_s")
    agreed = confirmed(optimum(5), optimum(5), "min", "SCIP")
    assert (agreed.status, agreed.bound, agreed.reason) == (OPTIMAL, 5, None)
    for first, second in ((7, 5), (5, 7)):
        refuted = confirmed(optimum(first), optimum(second), "min", "SCIP")
        assert (refuted.status, refuted.objective, refuted.bound) == (FEASIBLE, 5, None)
        assert "with another seed" in refuted.reason
    refuted = confirmed(optimum(5), none, "min", "SCIP")
    assert (refuted.status, refuted.objective, refuted.bound) == (FEASIBLE, 5, None)
    refuted = confirmed(none, optimum(5), "min", "SCIP")
    assert (refuted.status, refuted.objective, refuted.bound) == (FEASIBLE, 5, None)
    assert confirmed(none, none, "min", "SCIP").reason is None
    for second in (late, None):
        alone = confirmed(optimum(5), second, "min", "SCIP")
        assert alone.status is OPTIMAL
        assert alone.reason.startswith("SCIP's word, not confirmed: ")


def test_a_placement_with_products_ends_at_its_optimum(scip, root):
    document = gadgetopt.read(root / "instances/quickstart/marl_placement.json")
    result = gadgetopt.solve(document, "assignment_nonconvex@scip", seed=0)
    assert float(result.objective) == pytest.approx(612.7384)
    assert result.bound is None or float(result.bound) <= 612.7384 * (1 + 1e-6)
