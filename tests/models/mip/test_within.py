"""`--within`: the relaxed model is an instance of its own, and its claims are exact."""

from fractions import Fraction

import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.runs.comparison import compare
from gadgetopt.system.files import library, read_instance
from gadgetopt.system.result import Limits, Status, Voucher
from gadgetopt.trust.certifying import certify
from gadgetopt.trust.run import solve

pytestmark = pytest.mark.usefixtures("in_this_process")

#: 2 a + 3 k with a + k >= 4.5, but a <= 4.4999995 and k = 0: HiGHS takes that for feasible.
SHORT = """Minimize
 cost: 2 a + 3 k
Subject To
 need: a + k >= 4.5
 most: a <= 4.4999995
Bounds
 0 <= a <= 10
 k <= 0
Generals
 k
End
"""


@pytest.fixture
def short(tmp_path):
    path = tmp_path / "short.lp"
    path.write_text(SHORT)
    return path


def test_what_no_exact_point_satisfies_has_an_optimum_within_the_tolerance(short):
    exact = read_instance(short)
    run = certify(exact, solve(exact, "model@highs", Limits(time_s=60)), 60.0)
    assert run.status is Status.INFEASIBLE
    assert "the integers admit no exact point" in run.notes["remark"]
    relaxed = exact.within("1e-6")
    assert relaxed.fingerprint != exact.fingerprint
    assert relaxed.name == "short within 1e-6"
    run = certify(relaxed, solve(relaxed, "model@highs", Limits(time_s=60)), 60.0)
    optimum = 9 - Fraction(2, 10**6)  # 2 (9/2 - 1/10**6)
    assert (run.status, run.objective, run.bound) == (Status.OPTIMAL, optimum, optimum)
    assert run.bound_voucher is Voucher.VERIFIED


def test_a_tolerance_of_0_changes_nothing_and_others_than_numbers_are_refused(short):
    exact = read_instance(short)
    assert exact.within("0") is exact
    for wrong, said in (("x", "is no number"), ("-1e-6", "negative"), ("inf", "is no number")):
        with pytest.raises(InputError, match=f"within: .*{said}"):
            exact.within(wrong)
    knapsack = read_instance(library() / "quickstart" / "knapsack.json")
    with pytest.raises(InputError, match="has no rows that could hold within a tolerance"):
        knapsack.within("1e-6")


def test_tables_stores_and_commands_say_it(short, tmp_path, cli):
    store, proof = tmp_path / "runs.sqlite", tmp_path / "proof.json"
    how = {"store": store, "workers": 0, "certify": "30"}
    for within, status in ((None, "infeasible"), ("1e-6", "optimal"), ("1e-6", "optimal")):
        (entry,) = compare([short], ["model@highs"], within=within, **how)
        assert entry.result.status == status
    assert [row.result.instance for row in gadgetopt.ratios(store)] == [
        "short",
        "short within 1e-6",
    ]
    for form in ("table", "markdown", "latex", "csv"):  # exact and relaxed runs are rows apart
        code, out, _ = cli("summary", store, "--format", form)
        told = out.replace(r"\allowbreak{}", "").replace(r"\texttt{", "")
        assert code == 0
        assert "model@highs within 1e-6" in told
        assert told.count("model@highs") > told.count("model@highs within 1e-6")
    asked = ("--within", "1e-6")
    code, out, _ = cli(
        "solve", short, "--method", "model@highs", "--certify", "30", "--certificate", proof, *asked
    )
    assert (code, "short within 1e-6" in out) == (0, True)
    code, out, _ = cli("verify", short, "--bound", proof, *asked)
    assert (code, "(verified)" in out) == (0, True)
    code, _, err = cli("verify", short, "--bound", proof)
    assert (code, "of other data" in err) == (2, True)


def test_python_takes_the_tolerance_wherever_the_command_line_does(short):
    optimum = 9 - Fraction(2, 10**6)
    asked = {"certify": "30", "within": "1e-6"}
    run = gadgetopt.solve(short, "model@highs", **asked)
    (entry,) = gadgetopt.compare(short, "model@highs", workers=0, **asked)
    proof = gadgetopt.prove(short, "30", "model@highs", within="1e-6")
    for result in (run, entry.result, proof.result):
        assert (result.instance, result.objective) == ("short within 1e-6", optimum)
    assert proof.bound == optimum
    knapsack = library() / "quickstart" / "knapsack.json"
    for call in (gadgetopt.solve, gadgetopt.compare, gadgetopt.prove):
        with pytest.raises(InputError, match="has no rows that could hold within a tolerance"):
            call(knapsack, within="1e-6")
        with pytest.raises(InputError, match="within: 'x' is no number"):
            call(short, within="x")
