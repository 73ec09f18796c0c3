"""A proof that fails by an error that nobody expected is told as that, wherever proofs are told."""

import dataclasses

import pytest
from toy import DOCUMENT

from gadgetopt.errors import ModelRefused
from gadgetopt.proofs import tree_producer
from gadgetopt.reporting.html_report.words import proof
from gadgetopt.reporting.sentences import headline
from gadgetopt.reporting.summary import summarize
from gadgetopt.runs.certifying import Counts
from gadgetopt.runs.comparison import compare
from gadgetopt.runs.rows import StoredRun
from gadgetopt.system.files import library
from gadgetopt.system.result import Limits, Status, Voucher
from gadgetopt.trust.certifying import certify
from gadgetopt.trust.proving import failed, why_unproved
from gadgetopt.trust.run import solve

QUICKSTART = library() / "quickstart" / "knapsack.json"


def raises(error):
    def instead(*_):
        raise error

    return instead


@pytest.fixture
def broken(monkeypatch):
    """What makes the proof of a root cannot be imported."""
    monkeypatch.setattr(tree_producer, "root_proof", raises(ImportError("no module 'lemmas'")))


def test_the_proof_of_a_root_that_fails_is_told(broken):
    result = solve(DOCUMENT, "plain@highs", Limits(time_s=60))
    assert (result.status, result.bound_voucher) == (Status.OPTIMAL, Voucher.SOLVER)
    why = "by an unexpected error: ImportError: no module 'lemmas' (test_failed_proofs.py:"
    assert failed(result).startswith(why)
    assert f"failed {why}" in str(result)
    assert f"; the proof failed {why}" in why_unproved(result)
    assert proof(result.notes["proof"]).startswith(f"failed {why}")


def test_a_check_that_refuses_our_own_proof_is_a_failure(monkeypatch):
    monkeypatch.setattr("gadgetopt.proofs.tree_kernel.proved", raises(ValueError("line 2: no")))
    result = solve(DOCUMENT, "plain@highs", Limits(time_s=60))
    assert (result.certificate, result.bound_voucher) == (None, Voucher.SOLVER)
    assert "unexpected error: ValueError: proof: line 2: no" in failed(result)


def test_a_reason_that_was_foreseen_is_no_failure(monkeypatch):
    monkeypatch.setattr(tree_producer, "root_proof", raises(ModelRefused("x: has no bound")))
    result = solve(DOCUMENT, "plain@highs", Limits(time_s=60))
    assert failed(result) is None
    assert result.notes["proof"] == {"refused": "x: has no bound"}
    assert why_unproved(result).endswith("; x: has no bound")


def test_a_search_that_fails_is_told(monkeypatch):
    result = dataclasses.replace(
        solve(DOCUMENT, "plain@highs", Limits(time_s=60)),
        bound_voucher=Voucher.SOLVER,
        certificate=None,
    )
    error = ZeroDivisionError("division by zero")
    monkeypatch.setattr("gadgetopt.trust.searches.compiled_formulation", raises(error))
    told = certify(DOCUMENT, result, 60)
    assert "unexpected error: ZeroDivisionError: division by zero" in failed(told)
    assert "unexpected error: ZeroDivisionError: division by zero" in why_unproved(told)


def test_a_comparison_counts_failed_proofs(broken, tmp_path):
    table = compare([QUICKSTART], ["direct@highs", "greedy"], store=None, workers=0)
    said = headline(summarize(table), table)[-1]
    assert said.startswith("1 proof failed by an unexpected error: ImportError: no module 'lemmas'")
    assert "[knapsack, direct@highs, knapsack]" in said


def test_solve_says_so_on_the_error_stream(broken, monkeypatch, cli, tmp_path):
    def solve_here(_, document, call, limits, seed, certify):
        return StoredRun("", solve(document, call, limits, seed), (), limits, "")

    monkeypatch.setattr("gadgetopt.runs.engine.once.Once.solve", solve_here)
    code, _, err = cli("solve", QUICKSTART, "--method", "direct@highs")
    assert code == 0
    assert "gadgetopt: not proved: the bound 8222" in err
    assert "the proof failed by an unexpected error: ImportError" in err
    file = tmp_path / "proof.json"
    code, _, err = cli("solve", QUICKSTART, "--method", "direct@highs", "--certificate", file)
    assert (code, file.exists()) == (1, False)
    assert "gadgetopt: no certificate to write: the bound 8222" in err
    assert "the proof failed by an unexpected error: ImportError" in err
    assert err.endswith("; --certify 10x searches for a proof\n")


@pytest.mark.parametrize(
    ("counts", "code"),
    [
        (Counts(), 0),
        (Counts(runs=2, verified=1), 0),
        (Counts(runs=2, partly=1), 0),
        (Counts(runs=2), 1),
        (Counts(runs=2, verified=1, failed=1), 1),
        (Counts(runs=2, interrupted=True), 130),
    ],
)
def test_certify_that_proves_nothing_or_fails_ends_with_1(counts, code, monkeypatch, cli, tmp_path):
    monkeypatch.setattr("gadgetopt.runs.certifying.certify_store", lambda *_, **__: counts)
    ended, out, _ = cli("certify", tmp_path / "runs.sqlite")
    assert ended == code
    assert ("failed by an unexpected error" in out) == (counts.failed > 0)
