"""A dual bound that a given feasible solution refutes is an error everywhere."""

import dataclasses
import json

import pytest
from toy import BEST, DOCUMENT, TOO_MUCH, TOY

from gadgetopt.cli.solving import verify_here
from gadgetopt.errors import BoundRefuted, InputError
from gadgetopt.system.data import Certificate
from gadgetopt.system.files import Document, library, parse, read_instance
from gadgetopt.system.result import Status
from gadgetopt.trust.ratio import cross_examine
from gadgetopt.trust.run import solve
from gadgetopt.trust.verification import verify, verify_bound

pytestmark = pytest.mark.usefixtures("in_this_process")


class Claim(Certificate):
    """Claims an upper bound."""

    value: int


SYSTEM = dataclasses.replace(
    TOY, certificate_type=Claim, check_bound=lambda instance, certificate: certificate.value
)
INSTANCE = dataclasses.replace(DOCUMENT, problem=SYSTEM)


def document(kind, data):
    return Document(SYSTEM, kind, "x", data)


def test_verify_raises_where_the_solution_refutes_the_certificate():
    solution = document("solution", BEST)
    assert verify(INSTANCE, solution, document("certificate", Claim(value=4))).objective == 4
    with pytest.raises(BoundRefuted, match="dual bound 3 is refuted: a feasible solution has 4"):
        verify(INSTANCE, solution, document("certificate", Claim(value=3)))


def test_an_infeasible_solution_refutes_nothing():
    overfull = document("solution", TOO_MUCH)
    assert not verify(INSTANCE, overfull, document("certificate", Claim(value=3))).feasible


@pytest.fixture
def files(cli, root, tmp_path):
    instance = root / "instances" / "quickstart" / "knapsack.json"
    solution, proof = tmp_path / "solution.json", tmp_path / "proof.json"
    assert cli("solve", instance, "--method", "lagrangian", "--certificate", proof)[0] == 0
    assert cli("solve", instance, "--out", solution)[0] == 0
    return instance, solution, proof


def test_the_command_line_says_that_a_bound_is_refuted(cli, files, monkeypatch):
    instance, solution, proof = files
    arguments = ("verify", instance, solution, "--bound", proof)
    assert cli(*arguments)[0] == 0
    assert json.loads(cli(*arguments, "--json")[1])["bound_refuted"] is False
    # A check that lies, in this process: that of the command line is out of reach.
    monkeypatch.setattr("gadgetopt.trust.verification.certified_bound", lambda *_: 1)
    monkeypatch.setattr(
        "gadgetopt.runs.engine.once.run_command", lambda _, asked, __: verify_here(*asked)
    )
    code, out, _ = cli(*arguments)
    assert code == 1
    assert "1 (refuted)" in out
    assert "the dual bound 1 is refuted: a feasible solution has" in out
    assert "relative gap" not in out
    code, out, _ = cli(*arguments, "--json")
    row = json.loads(out)
    assert (code, row["bound_refuted"], row["gap"]) == (1, True, None)


def test_a_verified_bound_beside_a_better_solution_is_an_error_of_the_comparison():
    bound, best = solve(DOCUMENT, "bound_only"), solve(DOCUMENT, "best")
    told = cross_examine([dataclasses.replace(bound, bound=3), best], lambda _: "max")
    assert [r.status for r in told] == [Status.ERROR, Status.FEASIBLE]


def test_a_node_of_two_thousand_digits_is_named_in_a_short_line():
    instance = read_instance(library() / "bgl_partition" / "tiny" / "triangles_bridge.json")
    tree = {"kind": "tree", "nodes": [int("1" + "0" * 1999), 1], "parents": [0]}
    proof = {"kind": "cuts", "cuts": [tree], "tree": [{"kind": "leaf", "cuts": [], "prices": []}]}
    file = {"gadgetopt": 1, "problem": "bgl_partition", "kind": "certificate", "name": "x"}
    text = json.dumps({**file, "data": {"proof": proof}})
    with pytest.raises(InputError, match=r"100000\.\.\. \(2000 digits\)") as refused:
        verify_bound(instance, parse(text, "proof.json"))
    assert len(str(refused.value)) < 200
