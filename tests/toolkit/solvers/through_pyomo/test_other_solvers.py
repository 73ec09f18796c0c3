"""GUROBI, CPLEX, XPRESS, CBC and GLPK, each where it is installed."""

import pytest
from pyomo.environ import (
    ConcreteModel,
    Constraint,
    NonNegativeIntegers,
    Objective,
    Var,
    maximize,
)

import gadgetopt
from gadgetopt import Limits, Status
from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.solvers import solve_model
from gadgetopt.solvers.formulations.backends import THROUGH_PYOMO, installed
from gadgetopt.solvers.through_pyomo import other_solvers


@pytest.fixture(params=THROUGH_PYOMO)
def backend(request):
    if not installed(request.param):
        pytest.skip(f"{request.param} is not installed")
    return request.param


def small(upper=None):
    """Maximise 5x + 4y over integers: 6x + 4y <= 24, x + 2y <= 6. Optimum 20 at (4, 0)."""
    m = ConcreteModel()
    m.x = Var(domain=NonNegativeIntegers, bounds=(0, upper))
    m.y = Var(domain=NonNegativeIntegers, bounds=(0, upper))
    m.one = Constraint(expr=6 * m.x + 4 * m.y <= 24)
    m.two = Constraint(expr=m.x + 2 * m.y <= 6)
    m.value = Objective(expr=5 * m.x + 4 * m.y + 0.5, sense=maximize)
    return m


def test_optimum_bound_and_version(backend):
    solved = solve_model(small(9), backend, Limits(time_s=20))
    assert solved.status is Status.OPTIMAL
    assert solved.objective == 20.5
    assert solved.bound == pytest.approx(20.5)
    assert all(solved.versions.values())


def test_infeasible(backend):
    m = small(9)
    m.three = Constraint(expr=m.x + m.y >= 10)
    solved = solve_model(m, backend, Limits(time_s=20))
    assert solved.status is Status.INFEASIBLE


def test_an_unbounded_model_is_never_optimal_and_never_infeasible(backend):
    m = small()
    m.one.deactivate()
    m.two.deactivate()
    m.three = Constraint(expr=m.x - m.y <= 3)
    solved = solve_model(m, backend, Limits(time_s=20))
    assert solved.status in (Status.UNBOUNDED, Status.ERROR)
    assert solved.bound is None


@pytest.mark.parametrize("system", ["knapsack", "parallel_machines"])
def test_agrees_with_highs_and_notes_the_solver(backend, system, root):
    document = gadgetopt.read(root / f"instances/quickstart/{system}.json")
    name = {"knapsack": "direct", "parallel_machines": "arc_flow"}[system]
    mine = gadgetopt.solve(document, f"{name}@{backend}", Limits(time_s=30))
    highs = gadgetopt.solve(document, f"{name}@highs")
    assert mine.objective == highs.objective
    assert mine.status == "optimal"
    # A bound that needs no search of the solver's may be proved besides.
    assert mine.bound_voucher in ("solver", highs.bound_voucher)
    assert mine.backend == backend
    assert mine.notes["model"]["rows"] == highs.notes["model"]["rows"]


def test_a_run_that_is_stopped_is_not_optimal_and_its_bound_holds(backend, root):
    document = gadgetopt.read(root / "instances/quickstart/sjf_bco.json")
    result = gadgetopt.solve(document, f"time_indexed@{backend}", Limits(time_s=1))
    if result.status == "optimal":
        assert result.objective == 9
    elif result.status != "error":
        assert result.limit_hit == "time_s"
        assert result.bound is None or result.bound <= 9
    else:
        assert "limit" in result.reason  # of a licence for small models


def test_options_are_passed_on(backend, monkeypatch):
    options = {
        "gurobi": {"Presolve": 0},
        "cplex": {"preprocessing_presolve": 0},
        "xpress": {"presolve": 0},
        "cbc": {"preprocess": "off"},
        "glpk": {"nopresol": ""},
    }[backend]
    solved = solve_model(small(9), backend, Limits(time_s=20), options=options)
    assert solved.objective == 20.5


def test_an_unknown_option_is_refused(backend):
    if backend == "cbc":
        pytest.skip("CBC goes on without an option that it does not know")
    with pytest.raises((ModelRefused, InputError)):
        solve_model(small(9), backend, options={"no_such_option": 1})


def test_gurobi_takes_products(root):
    if not installed("gurobi"):
        pytest.skip("gurobi is not installed")
    document = gadgetopt.read(root / "instances/quickstart/smd.json")
    result = gadgetopt.solve(document, "minlp@gurobi", Limits(time_s=30))
    assert result.status == "optimal"
    assert result.objective == pytest.approx(162.631175)


def test_without_the_solver_a_line_says_what_to_install(monkeypatch):
    monkeypatch.setattr(other_solvers, "installed", lambda _: False)
    with pytest.raises(InputError, match="backend glpk is not installed; it needs the program"):
        solve_model(small(9), "glpk")
