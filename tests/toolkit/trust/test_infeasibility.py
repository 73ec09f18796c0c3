"""That an instance has no solution is as well known as the bound that proves it."""

from dataclasses import replace

import pytest

import gadgetopt
from gadgetopt.reporting.sentences import headline
from gadgetopt.reporting.summary import summarize
from gadgetopt.runs.comparison import compare
from gadgetopt.system.methods import MethodCall, find_method
from gadgetopt.system.result import Limits, MethodOutcome, Status, Voucher
from gadgetopt.trust.judgement import judge

pytestmark = pytest.mark.usefixtures("in_this_process")


@pytest.fixture
def short(tiny, tmp_path):
    """The first tiny instance, whose optimum is 2, with a horizon of one slot."""
    document = gadgetopt.read(tiny / "e1_co_locate.json")
    data = document.data.model_copy(update={"horizon_slots": 1})
    path = tmp_path / "short.json"
    gadgetopt.write(replace(document, data=data, name="short"), path)
    return path


def test_a_verified_bound_beyond_the_horizon_is_a_verified_proof(short, tmp_path, cli):
    store = tmp_path / "runs.sqlite"
    table = compare([short], store=store, workers=0)
    proof = table[0].infeasible
    assert (proof.method, proof.voucher) == ("ladder", Voucher.VERIFIED)
    assert proof.why == "makespan_slots is at least 2, but horizon_slots is 1"
    assert all(entry.promises == () or entry.row()["guarantee"] is None for entry in table)
    line = f"sjf_bco: proved infeasible by ladder (verified): {proof.why}"
    assert headline(summarize(table), table) == [line]
    code, out, _ = cli("compare", short, "--store", store, "--workers", "0")
    assert (code, line in " ".join(out.split())) == (0, True)
    assert line in " ".join(cli("summary", store)[1].split())
    assert "no method found a solution" not in out


def test_a_proof_in_the_store_counts_also_where_its_method_is_not_compared(short, tmp_path):
    store = tmp_path / "runs.sqlite"
    compare([short], ["ladder"], store=store, workers=0)
    table = compare([short], ["first_fit"], store=store, workers=0)
    assert len(table) == 1
    (line,) = headline(summarize(table), table)
    assert line.startswith("sjf_bco: proved infeasible by ladder (verified): ")


def test_solving_says_why_there_is_no_solution(short, cli):
    code, out, _ = cli("solve", short, "--method", "ladder")
    assert code == 0
    assert "makespan_slots is at least 2, but horizon_slots is 1" in out


@pytest.mark.parametrize(
    ("bound", "proved", "status"),
    [
        (2, None, Status.INFEASIBLE),
        (1, None, Status.NO_SOLUTION),
        (1, Status.INFEASIBLE, Status.INFEASIBLE),
        (None, None, Status.NO_SOLUTION),
    ],
)
def test_only_a_bound_beyond_the_limit_is_a_reason(short, bound, proved, status):
    document = gadgetopt.read(short)
    call = find_method(document.problem, "ladder")
    told = {"infeasible": "because I say so"}
    outcome = MethodOutcome(dual_bound=bound, proved=proved, notes=told)
    result = judge(document, MethodCall(call.method), outcome, Limits(), 0, 0.1)
    assert result.status is status
    reason = "makespan_slots is at least 2, but horizon_slots is 1" if bound == 2 else None
    assert result.notes.get("infeasible") == reason
