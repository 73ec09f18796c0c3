"""Formats of solution files, and the one line that answers each wrong one."""

import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.solvers.formulations.solution_files import decoded
from gadgetopt.system.reading.points import read_values

pytestmark = pytest.mark.usefixtures("in_this_process")

RAW = """Model status
Optimal

# Primal solution values
Feasible
Objective 51
# Columns 3
x(0) 1
x(1) 0
free 2.5
# Rows 1
row 4
# Dual solution values
None
# Basis
HiGHS_basis_file v2
None
"""
SPARSE = "# Primal solution values\nFeasible\nObjective 51\n# Columns -2\nx(0) 1 0\nfree 2.5 2\n"
PRETTY = """Columns
    Index Status        Lower        Upper       Primal         Dual  Type        Name
        0                   0            1            1               Integer     x(0)
        1                   0            1            0               Integer     x(1)
        2                   0          inf          2.5               Continuous  free
Rows
    Index Status        Lower        Upper       Primal         Dual  Name
        0                -inf            7            4               row

Model status: Optimal
"""
SCIP = """solution status: optimal solution found
objective value:                                   51
x(0)                                                1 \t(obj:1)
free                                              2.5 \t(obj:0)
"""
MIPLIB = "=obj= 51\nx(0) 1\nfree 2.5\n"
GUROBI = "# Solution for model m\n# Objective value = 51\nx(0) 1\nx(1) 0\nfree 2.5\n"


@pytest.mark.parametrize("text", [RAW, SPARSE, PRETTY, SCIP, MIPLIB, GUROBI])
def test_every_format_gives_the_same_values(text, tmp_path):
    path = tmp_path / "m.sol"
    path.write_text(text)
    values = read_values(path, float)
    assert {name: x for name, x in values.items() if x} == {"x(0)": 1.0, "free": 2.5}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("=infeas=\n", "states no solution: =infeas="),
        ("no solution available\n", "states no solution"),
        ("solution status: infeasible\n", "states no solution"),
        ("<?xml version='1.0'?>", "expected lines of a name and a value"),
        ("x(0) 1\nx(0) 2\n", r"x\(0\): stated twice"),
        ("x(0)\n", "line 1: 'x\\(0\\)' is not a name and a value"),
        ("c Problem:    m\n", "line 1: 'c Problem:    m' is not a name and a value"),
        ("x(0) one\n", "line 1: x\\(0\\): 'one' is not a number"),
        ("Model status\nInfeasible\n", "states no solution"),
        ("# nothing\n", "states no values"),
    ],
)
def test_what_is_no_solution_is_one_line(text, said, tmp_path):
    path = tmp_path / "m.sol"
    path.write_text(text)
    with pytest.raises(InputError, match=said) as raised:
        read_values(path, float)
    assert "\n" not in str(raised.value)
    assert str(raised.value).startswith(str(path))


@pytest.fixture(scope="module")
def knapsack(root):
    document = gadgetopt.read(root / "instances/quickstart/knapsack.json")
    (formulation,) = (f for f in document.problem.formulations if f.name == "direct")
    return document, formulation


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("y(99_0) 1\n", r"y\(99_0\): no variable of the model, did you mean y\("),
        ("nonsense 1\n", "nonsense: no variable of the model"),
        ("y(0_0) 0.5\n", r"y\[0,0\]: 0.5, expected an integer within 1e-5"),
        ("y(0_0) nan\n", r"y\[0,0\]: nan is not a finite number"),
        ("y(0_0) 3\n", r"y\[0,0\]: 3, expected a value in \[0, 1\]"),
        (
            "".join(f"y({g}_{i}) 1\n" for g in range(20) for i in range(1)),
            "the point violates the row",
        ),
    ],
)
def test_what_is_no_point_of_the_model_is_one_line(text, said, knapsack, tmp_path):
    document, formulation = knapsack
    path = tmp_path / "m.sol"
    path.write_text(text)
    with pytest.raises(InputError, match=said) as raised:
        decoded(document.data, formulation, path)
    assert "\n" not in str(raised.value)


def test_variables_left_out_are_zero_and_rounding_is_forgiven(knapsack, tmp_path):
    document, formulation = knapsack
    path = tmp_path / "m.sol"
    path.write_text("=obj= 0\ny(0_0) 0.9999999\nONE_VAR_CONSTANT 1\n")
    solution, claimed = decoded(document.data, formulation, path)
    assert claimed > 0
    assert claimed == document.problem.evaluate(document.data, solution).objective


def test_a_formulation_without_decisions_says_so(root, tmp_path):
    document = gadgetopt.read(root / "instances/quickstart/knapsack.json")
    (relaxed,) = (f for f in document.problem.formulations if f.name == "lp_relaxation")
    with pytest.raises(InputError, match="the values of this relaxation are no decision"):
        decoded(document.data, relaxed, tmp_path / "m.sol")


def test_command_judges_a_solution_of_scip(cli, root, tmp_path):
    scip = pytest.importorskip("pyscipopt")
    instance = root / "instances/quickstart/knapsack.json"
    model, found, out = tmp_path / "m.lp", tmp_path / "m.sol", tmp_path / "solution.json"
    code, _, err = cli(
        "export", instance, "--formulation", "direct", "--format", "lp", "--out", model
    )
    assert (code, err) == (0, "")
    solver = scip.Model()
    solver.hideOutput()
    solver.readProblem(str(model))
    solver.optimize()
    solver.writeBestSol(str(found))
    code, text, _ = cli("decode", instance, found, "--formulation", "direct", "--out", out)
    assert code == 0
    assert "8222" in text
    assert cli("verify", instance, out)[0] == 0
    code, _, err = cli("decode", instance, instance, "--formulation", "direct")
    assert (code, err.count("\n")) == (2, 1)


def test_a_refused_export_leaves_no_file(cli, root, tmp_path):
    instance = root / "instances/quickstart/smd.json"
    path = tmp_path / "smd.mps"
    code, _, err = cli(
        "export", instance, "--formulation", "minlp", "--format", "mps", "--out", path
    )
    assert code == 2
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
