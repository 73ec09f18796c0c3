"""Options of solvers in the name of a method, and backends beyond the declared ones."""

from dataclasses import replace

import pytest

import gadgetopt
from gadgetopt import Limits
from gadgetopt.errors import InputError
from gadgetopt.runs.rows import run_key
from gadgetopt.solvers.formulations import backends
from gadgetopt.system.methods import find_method, knows, methods, select

pytestmark = pytest.mark.usefixtures("in_this_process")


@pytest.fixture(scope="module")
def document(root):
    return gadgetopt.read(root / "instances/quickstart/knapsack.json")


def test_an_option_is_part_of_label_and_key(document):
    plain = find_method(document.problem, "direct@highs")
    given = find_method(document.problem, "direct@highs:presolve=off")
    assert given.label == "direct@highs:presolve=off"
    keys = {run_key("f", call, Limits(), 0, "code") for call in (plain, given)}
    assert len(keys) == 2
    again = find_method(document.problem, given.label)
    assert again.parameters == given.parameters


@pytest.mark.parametrize(
    "spec",
    [
        "direct@highs:presolve=off:mip_detect_symmetry=false",
        "direct@cpsat:linearization_level=2:search_branching=PORTFOLIO_SEARCH",
        "direct@scip:presolving/maxrounds=0:branching/scorefunc=s",
        "direct@scip",
    ],
)
def test_a_run_with_options_has_the_same_optimum_and_its_label(document, spec):
    if "@scip" in spec:
        pytest.importorskip("pyscipopt")
    result = gadgetopt.solve(document, spec)
    assert (result.status, result.objective) == ("optimal", 8222)
    assert set(result.method.split(":")) == set(spec.split(":"))


def test_an_option_reaches_the_solver(document):
    searched = gadgetopt.solve(document, "direct@highs").notes["model"]["nodes"]
    stopped = gadgetopt.solve(document, "direct@highs:mip_max_nodes=1")
    assert stopped.notes["model"]["nodes"] < searched
    assert (stopped.status, stopped.limit_hit) == ("feasible", "solver_option")
    assert stopped.bound >= 8222  # the bound of a search that ended early still holds


def test_conflicts_of_cpsat_can_be_limited_and_are_no_proof(document):
    stopped = gadgetopt.solve(
        document, "direct@cpsat:max_number_of_conflicts=1:cp_model_presolve=false"
    )
    assert stopped.status in ("feasible", "no_solution")
    assert stopped.limit_hit == "solver_option"


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("direct@highs:presolv=off", "HiGHS has no option 'presolv'"),
        ("direct@highs:presolve=maybe", "presolve: HiGHS does not accept 'maybe'"),
        ("direct@highs:presolve", "'presolve' is not of the form option=value"),
        ("direct@highs:time_limit=3", "time_limit cannot be set: use --time-limit"),
        ("direct@highs:threads=2", "threads cannot be set: use --threads"),
        ("direct@highs:random_seed=2", "random_seed cannot be set: use --seed"),
        ("direct@highs:mip_rel_gap=0.1", "mip_rel_gap cannot be set: use --gap"),
        ("direct@highs:objective_bound=3", "would change what a bound or a status means"),
        ("direct@highs:mip_feasibility_tolerance=0.1", "expected at most its default 1e-06"),
        ("direct@highs:solution_file=x", "it would write files"),
        ("direct@cpsat:nope=1", "CP-SAT has no option 'nope'"),
        ("direct@cpsat:linearization_level=two", "CP-SAT does not accept 'two'"),
        ("direct@cpsat:num_workers=8", "num_workers cannot be set: use --threads"),
        ("direct@gurobi:MIPGap=1", "MIPGap cannot be set: use --gap"),
    ],
)
def test_wrong_options_are_one_line(document, spec, said, monkeypatch):
    monkeypatch.setattr(backends, "installed", lambda _: True)
    with pytest.raises(InputError) as raised:
        find_method(document.problem, spec)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("direct@scip:nope=1", "SCIP has no option 'nope'"),
        ("direct@scip:presolving/maxrounds=x", "SCIP does not accept 'x'"),
        ("direct@scip:presolving/maxrounds=-7", "SCIP does not accept '-7'"),
        ("direct@scip:limits/time=1", "limits/time cannot be set: use --time-limit"),
        ("direct@scip:numerics/feastol=0.0005", "expected at most its default"),
    ],
)
def test_wrong_options_of_scip_are_one_line(document, spec, said, capfd):
    pytest.importorskip("pyscipopt")
    with pytest.raises(InputError) as raised:
        find_method(document.problem, spec)
    assert said in str(raised.value)
    assert capfd.readouterr().err == ""


def test_a_wrong_option_ends_a_comparison_before_it_starts(cli, root, tmp_path):
    store = tmp_path / "runs.sqlite"
    instance = root / "instances/quickstart/knapsack.json"
    code, _, err = cli(
        "compare", instance, "--methods", "direct@highs:presolv=off", "--store", store
    )
    assert (code, err.count("\n")) == (2, 1)
    assert not store.exists()


def test_declared_pairs_stay_what_all_means(document):
    names = [m.name for m in methods(document.problem)]
    assert "direct@scip" not in names
    assert [call.method.name for call in select(document.problem, ["all"])] == names
    assert knows(document.problem, "direct@scip")
    assert not knows(document.problem, "nope@scip")


def test_capability_follows_the_class_of_the_model(document, root):
    direct, relaxed = document.problem.formulations
    assert backends.capable(direct) == (
        "highs", "cpsat", "scip", "gurobi", "cplex", "xpress", "cbc", "glpk",
    )  # fmt: skip
    assert "cpsat" not in backends.capable(relaxed)
    product = replace(direct, model_class="MINLP", backends=("scip",))
    assert backends.capable(product) == ("scip", "gurobi")


@pytest.mark.parametrize("backend", ["gurobi", "cplex", "xpress", "cbc", "glpk"])
def test_a_solver_that_is_not_installed_is_one_line_before_the_batch(
    cli, root, tmp_path, backend, monkeypatch
):
    monkeypatch.setattr(backends, "installed", lambda _: False)
    instance = root / "instances/quickstart/knapsack.json"
    store = tmp_path / "runs.sqlite"
    code, _, err = cli("compare", instance, "--methods", f"direct@{backend}", "--store", store)
    assert code == 2
    assert f"{backend} is not installed; it needs " in err
    assert err.count("\n") == 1
    assert not store.exists()


def test_a_backend_that_cannot_is_named_with_those_that_can(root):
    smd = gadgetopt.problem("smd")
    with pytest.raises(InputError, match="does not solve the MINLP minlp, expected one of scip"):
        find_method(smd, "minlp@highs")
    with pytest.raises(InputError, match="does not solve the ILP columns, expected one of highs"):
        find_method(smd, "columns@baron")
