"""Sizes of models, LP bounds, and what solvers tell of their search."""

import pytest
from pyomo.environ import (
    Binary,
    ConcreteModel,
    ConstraintList,
    Integers,
    Objective,
    Reals,
    Var,
    maximize,
)

import gadgetopt
from gadgetopt.solvers import solve_model
from gadgetopt.solvers.formulations.measures import (
    ModelSize,
    compiled,
    lp_bound,
    size_of_form,
    size_of_model,
)
from gadgetopt.system.result import Limits


def odd_cycle(n: int) -> ConcreteModel:
    """Return the stable set problem on an odd cycle: LP bound n/2, optimum (n - 1)/2."""
    m = ConcreteModel()
    m.x = Var(range(n), domain=Binary)
    m.rows = ConstraintList()
    for i in range(n):
        m.rows.add(m.x[i] + m.x[(i + 1) % n] <= 1)
    m.value = Objective(expr=sum(m.x.values()), sense=maximize)
    return m


def mixed() -> ConcreteModel:
    m = ConcreteModel()
    m.b = Var(domain=Binary)
    m.i = Var(domain=Integers, bounds=(0, 9))
    m.x = Var(domain=Reals, bounds=(0, 1))
    m.unused = Var(domain=Binary)
    m.rows = ConstraintList()
    m.rows.add(m.b + m.i + m.x <= 5)
    m.rows.add((1, m.i - m.x, 4))
    m.value = Objective(expr=m.b + m.i)
    return m


def test_size_counts_variables_by_kind_and_leaves_out_those_that_occur_nowhere():
    expected = ModelSize(continuous=1, integer=1, binary=1, rows=2, nonzeros=5)
    form = compiled(mixed())
    assert form is not None
    assert size_of_form(form) == size_of_model(mixed()) == expected
    assert expected.variables == 3


def test_a_product_is_a_row_that_is_not_linear():
    m = mixed()
    m.rows.add(m.x * m.i <= 3)
    assert compiled(m) is None
    assert size_of_model(m) == ModelSize(1, 1, 1, rows=3, nonzeros=7, nonlinear_rows=1)


def test_lp_bound_is_that_of_the_model_as_written():
    form = compiled(odd_cycle(5))
    assert form is not None
    assert lp_bound(form, Limits()) == pytest.approx(2.5)
    assert form.integer.all()  # the model itself stays as it is


def test_an_infeasible_relaxation_has_no_lp_bound():
    m = mixed()
    m.rows.add(m.b + m.x >= 3)
    form = compiled(m)
    assert form is not None
    assert lp_bound(form, Limits()) is None


def test_highs_tells_nodes_and_a_root_bound_between_lp_bound_and_optimum():
    solved = solve_model(odd_cycle(9))
    told = solved.measures()
    assert told["nodes"] >= 0
    assert 4 - 1e-6 <= told["root_bound"] <= 4.5 + 1e-6


@pytest.mark.parametrize("backend", ["highs", "scip"])
def test_root_bound_is_never_better_than_the_final_bound(backend):
    if backend == "scip":
        pytest.importorskip("pyscipopt")
    document = gadgetopt.read("instances/quickstart/knapsack.json")
    (formulation,) = (f for f in document.problem.formulations if f.name == "direct")
    model = formulation.build(document.data)
    solved = solve_model(model, backend)
    told = solved.measures()
    assert told["nodes"] >= 1
    assert told["root_bound"] >= solved.bound - 1e-6 * solved.bound  # the knapsack maximises


def test_cpsat_tells_branches_and_conflicts_but_no_root():
    told = solve_model(odd_cycle(9), "cpsat").measures()
    assert set(told) == {"branches", "conflicts"}


def test_bounds_are_converted_and_infinite_ones_left_out():
    solved = solve_model(odd_cycle(9))
    root = solved.measures()["root_bound"]
    assert solved.measures(lambda x: -x)["root_bound"] == -root
    solved.root_bound = float("inf")
    assert "root_bound" not in solved.measures()


@pytest.mark.parametrize("backend", ["highs", "cpsat"])
def test_a_run_of_a_formulation_notes_its_model(backend):
    document = gadgetopt.read("instances/quickstart/parallel_machines.json")
    result = gadgetopt.solve(document, f"arc_flow@{backend}")
    noted = result.notes["model"]
    assert noted["rows"] == 55
    assert noted["lp_bound"] == pytest.approx(50.25)
    assert ("root_bound" in noted) == (backend == "highs")
    assert ("branches" in noted) == (backend == "cpsat")


def test_the_lp_bound_of_a_linear_program_is_its_bound():
    document = gadgetopt.read("instances/quickstart/parallel_machines.json")
    result = gadgetopt.solve(document, "arc_flow_lp@highs")
    assert result.notes["model"]["lp_bound"] == pytest.approx(50.25)


def test_measuring_is_no_part_of_the_time_of_a_run(monkeypatch):
    import time

    from gadgetopt.solvers.formulations import method

    def slow(*_, **__):
        time.sleep(0.5)
        return {"rows": 1}

    monkeypatch.setattr(method, "measures", slow)
    document = gadgetopt.read("instances/quickstart/knapsack.json")
    begin = time.perf_counter()
    result = gadgetopt.solve(document, "lp_relaxation@highs")
    assert result.notes["model"] == {"rows": 1}
    assert result.time_s <= time.perf_counter() - begin - 0.5


def test_a_result_stands_though_its_measures_fail(monkeypatch):
    from gadgetopt.solvers.formulations import method

    def broken(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(method, "measures", broken)
    document = gadgetopt.read("instances/quickstart/knapsack.json")
    assert gadgetopt.solve(document, "direct@cpsat").status == "optimal"
