"""That a model has no solution, or no optimum, is proved, and said to be."""

import dataclasses
import math

import pytest
from toy import BEST, DOCUMENT, KNAPSACK, TOY, method, outcome

from gadgetopt.reporting.sentences import headline
from gadgetopt.reporting.summary import summarize
from gadgetopt.runs.comparison import compare
from gadgetopt.system.data import ModelProof
from gadgetopt.system.files import library, read_instance, write
from gadgetopt.system.result import Limits, Status, Voucher
from gadgetopt.trust.certificate import certified_bound
from gadgetopt.trust.certifying import certify
from gadgetopt.trust.infeasibility import infeasible_voucher, is_verified, status_voucher
from gadgetopt.trust.proving import why_unproved
from gadgetopt.trust.run import solve


@pytest.fixture(params=["impossible", "endless"])
def run(request):
    return solve(DOCUMENT, f"{request.param}@highs", Limits(time_s=60))


@pytest.fixture(scope="module")
def hopeless(tmp_path_factory):
    """Two jobs in a horizon of one slot."""
    document = read_instance(library() / "sjf_bco/tiny/e1_co_locate.json")
    data = document.data.model_copy(update={"horizon_slots": 1})
    path = tmp_path_factory.mktemp("hopeless") / "short.json"
    write(dataclasses.replace(document, data=data, name="short"), path)
    return path


def test_that_there_is_no_optimum_is_proved_and_checked(run):
    assert not is_verified(run)
    assert why_unproved(run) == f"{run.status} rests on the word of {run.method} alone"
    certified = certify(DOCUMENT, run, 600.0)
    assert certified.status is run.status
    assert (certified.objective, certified.bound) == (None, None)
    assert status_voucher(certified) is Voucher.VERIFIED
    assert is_verified(certified)
    assert certified.notes["proof"]["shows"] == str(run.status)
    assert f"{run.status} (verified)" in str(certified)
    # The toy is a maximisation: nothing feasible is -inf, unbounded inf.
    proved = certified_bound(TOY, KNAPSACK, certified.certificate)
    assert proved == (-math.inf if run.status is Status.INFEASIBLE else math.inf)
    assert certify(DOCUMENT, certified, 1.0) is certified


def test_such_a_proof_counts_as_a_methods_own(run):
    proof = certify(DOCUMENT, run, 600.0).certificate
    for fields, status in (
        ({}, run.status),
        ({"proved": run.status}, run.status),
        ({"solution": BEST}, Status.ERROR),
    ):
        proves = method("proves", outcome(certificate=proof, **fields))
        system = dataclasses.replace(TOY, methods=(*TOY.methods, proves))
        result = solve(dataclasses.replace(DOCUMENT, problem=system), "proves")
        assert result.status is status
        assert is_verified(result) == (status is not Status.ERROR)


def test_a_ray_of_a_relaxation_proves_nothing():
    run = solve(DOCUMENT, "endless@highs", Limits(time_s=60))
    proof = certify(DOCUMENT, run, 600.0).certificate
    relaxed = tuple(
        dataclasses.replace(f, strength="relaxation", decode=None) if f.name == "endless" else f
        for f in TOY.formulations
    )
    with pytest.raises(ValueError, match="is not exact, and may be unbounded"):
        certified_bound(dataclasses.replace(TOY, formulations=relaxed), KNAPSACK, proof)


def test_a_run_with_a_solution_is_not_called_infeasible():
    impossible = solve(DOCUMENT, "impossible@highs", Limits(time_s=60))
    best = dataclasses.replace(
        solve(DOCUMENT, "plain@highs", Limits(time_s=60)), formulation="impossible", bound=9
    )
    certified = certify(DOCUMENT, best, 5.0)
    assert certified.status is not Status.INFEASIBLE
    assert infeasible_voucher(impossible) is Voucher.SOLVER


def test_stores_and_sentences_say_who_vouches(hopeless, tmp_path, cli):
    store = tmp_path / "runs.sqlite"
    options = ("--store", store, "--workers", "0")
    assert cli("compare", hopeless, "--methods", "time_indexed@highs", *options)[0] == 0
    assert "proved infeasible by time_indexed@highs (claimed by a solver)" in " ".join(
        cli("summary", store)[1].split()
    )
    code, out, _ = cli("certify", store, "--budget", "30")
    assert (code, "1 of 1 bounds verified now" in out) == (0, True)
    assert "0 of 0 bounds" in cli("certify", store)[1]
    table = compare([hopeless], ["time_indexed@highs"], store=store, workers=0)
    assert table[0].infeasible.voucher is Voucher.VERIFIED
    (line,) = headline(summarize(table), table)
    assert "proved infeasible by time_indexed@highs (verified)" in line
    assert line in " ".join(cli("summary", store)[1].split())


def test_the_command_line_proves_writes_and_checks_it(hopeless, tmp_path, cli, in_this_process):
    proof = tmp_path / "proof.json"
    code, out, err = cli(
        "solve", hopeless, "--method", "time_indexed@highs", "--certify", "30",
        "--certificate", proof,
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "infeasible (verified)" in out
    code, out, _ = cli("verify", hopeless, "--bound", proof)
    assert (code, out.split()) == (0, ["status", "infeasible", "(verified)"])
    code, out, _ = cli("verify", hopeless, "--bound", proof, "--json")
    assert '"status": "infeasible"' in out


def test_a_changed_model_is_refused(run):
    proof = certify(DOCUMENT, run, 600.0).certificate
    assert isinstance(proof, ModelProof)
    other = KNAPSACK.model_copy(update={"capacity": 2})
    with pytest.raises(ValueError, match="model: is not that of"):
        certified_bound(TOY, other, proof)
