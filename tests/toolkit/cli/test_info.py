"""`info`: what an instance file is, and what a store knows of it."""

import json
from dataclasses import replace

import pytest

import gadgetopt
from gadgetopt.runs.known import known
from gadgetopt.runs.rows import StoredRun
from gadgetopt.runs.store import Store
from gadgetopt.system.result import Limits, Status, Voucher

pytestmark = pytest.mark.usefixtures("in_this_process")


@pytest.fixture(scope="module")
def instance(tiny):
    return gadgetopt.read(tiny / "e2_contention_pays.json")


@pytest.fixture(scope="module")
def heuristic(instance):
    return gadgetopt.solve(instance, "first_fit")


@pytest.fixture
def store(tmp_path):
    return tmp_path / "runs.sqlite"


def keep(store, *results):
    with Store(store) as opened:
        for k, result in enumerate(results):
            opened.add(StoredRun(str(k), result, (), Limits(), "0"))


def claim(result, method, **fields):
    """Return a run of another method that says this."""
    nothing = {"objective": None, "solution": None, "evaluation": None, "gap": None}
    blank = {"status": Status.NO_SOLUTION, "formulation": method, "backend": method}
    return replace(result, method=method, kind="exact", **{**nothing, **blank, **fields})


def test_it_says_what_show_says_and_the_fingerprint(cli, tiny, instance):
    file = tiny / "e2_contention_pays.json"
    lines = cli("info", file)[1].splitlines()
    assert lines.pop(1) == f"fingerprint: {instance.fingerprint}"
    assert lines == str(gadgetopt.show(file)).splitlines()
    assert len(lines) < 24  # a screen


def test_as_json_numbers_stay_numbers(cli, tiny, instance):
    said = json.loads(cli("info", tiny / "e2_contention_pays.json", "--json")[1])
    assert (said["problem"], said["sense"]) == ("sjf_bco", "min")
    assert said["fingerprint"] == instance.fingerprint
    assert said["size"]["jobs"] == 2
    assert said["features"]
    assert said["known"] is None


def test_a_store_tells_the_best_objective_and_bound_and_by_which_methods(
    cli, tiny, store, heuristic
):
    file = tiny / "e2_contention_pays.json"
    weak = claim(heuristic, "weak", bound=2, bound_voucher=Voucher.VERIFIED)
    strong = claim(heuristic, "strong", bound=2.5, bound_voucher=Voucher.SOLVER)
    keep(store, heuristic, weak, strong)
    said = cli("info", file, "--store", store)[1].splitlines()[-4:]
    assert said == [
        f"{store}: 3 runs by 3 methods",
        "best objective: 3, by first_fit",
        "best dual bound: 2.5, solver, by strong",
        "best verified bound: 2, by weak",
    ]
    told = json.loads(cli("info", file, "--store", store, "--json")[1])["known"]
    assert (told["objective"], told["objective_method"], told["optimal"]) == (3, "first_fit", False)
    assert (told["bound"], told["bound_voucher"], told["verified_bound"]) == (2.5, "solver", 2)


def test_a_bound_that_meets_the_objective_makes_it_optimal(store, instance, heuristic):
    keep(store, heuristic, claim(heuristic, "exact", bound=3, bound_voucher=Voucher.VERIFIED))
    with Store(store, create=False) as opened:
        found = known(opened, instance)
    assert found.optimal
    assert found.bound.method == "exact"
    assert found.verified is None


def test_a_bound_that_a_solution_refutes_is_not_known(cli, tiny, store, heuristic):
    keep(store, heuristic, claim(heuristic, "wrong", bound=7, bound_voucher=Voucher.SOLVER))
    out = cli("info", tiny / "e2_contention_pays.json", "--store", store)[1]
    assert "2 runs by 2 methods, 1 error" in out
    assert "best bound" not in out


def test_the_best_of_a_maximisation_is_the_largest(cli, root, store):
    file = root / "instances" / "quickstart" / "knapsack.json"
    instance = gadgetopt.read(file)
    result = gadgetopt.solve(instance, "greedy")
    low = replace(result, method="low", objective=result.objective - 5)
    bound = claim(result, "wide", bound=result.objective + 900, bound_voucher=Voucher.SOLVER)
    near = claim(result, "near", bound=result.objective + 800, bound_voucher=Voucher.SOLVER)
    keep(store, low, result, bound, near)
    with Store(store, create=False) as opened:
        found = known(opened, instance)
    assert (found.best.method, found.bound.method) == ("greedy", "near")


def test_a_proof_that_there_is_no_solution_is_told(cli, tiny, store, heuristic):
    proof = claim(heuristic, "exact", status=Status.INFEASIBLE, bound=None, bound_voucher=None)
    keep(store, proof)
    out = cli("info", tiny / "e2_contention_pays.json", "--store", store)[1]
    assert out.splitlines()[-1] == "no solution exists, solver, by exact"


def test_that_there_is_no_best_solution_is_told(cli, store, tmp_path):
    file = tmp_path / "open.lp"
    file.write_text("Maximize\n obj: x + y\nSubject To\n c1: x - y <= 3\nGenerals\n x\nEnd\n")
    solved = gadgetopt.solve(file, "model@highs")
    refused = claim(solved, "no_method", status=Status.NOT_APPLICABLE)
    keep(store, solved, refused)
    out = cli("info", file, "--store", store)[1]
    assert out.splitlines()[-2:] == [
        f"{store}: 1 run by 1 method", "unbounded, solver, by model@highs",
    ]  # fmt: skip


def test_a_store_without_runs_on_it_says_so(cli, tiny, store, heuristic):
    keep(store, heuristic)
    out = cli("info", tiny / "e1_co_locate.json", "--store", store)[1]
    assert out.splitlines()[-1] == f"{store}: no run on this instance"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no.json"], "no.json: cannot be read"),
        (["README.md"], "README.md: not JSON"),
        (["instances/quickstart/smd.json", "--store", "no.sqlite"], "no.sqlite: no such store"),
    ],
)
def test_what_it_cannot_read_is_one_line(cli, arguments, said):
    code, out, err = cli("info", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1
