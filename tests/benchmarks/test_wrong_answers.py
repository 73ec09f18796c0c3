"""Models on which solvers were wrong: each right answer is proved, and wrong ones are refuted."""

from __future__ import annotations

import dataclasses
import importlib
import re
import time
from fractions import Fraction

import pytest

import gadgetopt
from gadgetopt.proofs.checker.verdict import check
from gadgetopt.proofs.reading.model_files import read_model
from gadgetopt.system.result import Voucher
from gadgetopt.trust.certifying import certify


@pytest.fixture(scope="module")
def script(root):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(root / "benchmarks"))
        return importlib.import_module("wrong_answers")


@pytest.fixture(scope="module")
def cases(script):
    return {case.name: case for case in script.cases(script.FOLDER)}


NAMES = (
    "crates", "shifts", "ration", "one_oven", "bonus", "boxes", "product", "lamps", "idle",
    "forced", "apart", "narrow", "falling",
)  # fmt: skip


def test_every_model_is_a_case(script, cases):
    assert list(cases) == list(NAMES)
    assert {path.stem for path in script.FOLDER.glob("*.lp")} == set(NAMES)
    assert {path.stem for path in script.FOLDER.glob("*.proof")} == set(NAMES)
    for case in cases.values():
        assert re.fullmatch(r"[\w-]+/[\w-]+#\d+(, [\w-]+/[\w-]+#\d+)*", case.source)


@pytest.mark.parametrize("name", NAMES)
def test_the_right_answer_is_proved_in_less_than_a_second(script, cases, name):
    begin = time.process_time()
    assert script.fault_of_proof(cases[name]) is None
    assert time.process_time() - begin < 1


@pytest.mark.parametrize("name", NAMES)
def test_todays_highs_is_not_refuted(script, cases, name):
    case = cases[name]
    named = read_model(case.path)
    assert "refuted" not in script.judged(case, script.by_highs(case.path, named))
    assert "refuted" not in script.judged(case, script.by_highs_without_presolve(case.path, named))


@pytest.mark.parametrize(
    ("name", "status", "value", "said"),
    [
        ("crates", "optimal", 28.0, "**28**, refuted"),
        ("shifts", "optimal", 12.999999, "12.999999, within 1e-6"),
        ("shifts", "optimal", 21.0, "**21**, refuted"),
        ("ration", "optimal", 150.02, "**150.02**, refuted"),
        ("boxes", "infeasible", None, "**infeasible**, refuted"),
        ("apart", "optimal", 0.0, "**0**, refuted"),
        ("apart", "infeasible", None, "infeasible"),
        ("falling", "infeasible", None, "**infeasible**, refuted"),
        ("falling", "unbounded", None, "unbounded"),
        ("crates", "time limit reached", None, "time limit reached"),
    ],
)
def test_a_wrong_answer_is_refuted(script, cases, name, status, value, said):
    assert script.judged(cases[name], script.Said(status, value)) == said


@pytest.mark.parametrize(
    ("name", "claimed"),
    [
        ("crates", "28"),
        ("shifts", "21"),
        ("ration", "150.02"),
        ("one_oven", "5400"),
        ("bonus", "15"),
    ],
)
def test_what_highs_1_14_claimed_is_refuted_by_certify(script, cases, name, claimed):
    """As `gadgetopt compare --certify` does where that version is installed."""
    document = gadgetopt.read(cases[name].path)
    result = gadgetopt.solve(document, "model@highs", time_limit=20)
    assert (result.status, result.objective) == ("optimal", Fraction(cases[name].optimum))
    worse = dataclasses.replace(
        result,
        objective=Fraction(claimed),
        bound=Fraction(claimed),
        bound_voucher=Voucher.SOLVER,
        certificate=None,
    )
    refuted = certify(document, worse, 60.0)
    assert refuted.status == "error"
    assert refuted.evaluation.objective == result.objective
    assert f"claimed optimum {claimed}, but the search for a proof found" in refuted.reason


def test_a_wrong_proof_or_point_is_a_fault(script, cases):
    other = cases["crates"]._replace(optimum="28")
    assert "27.9" in script.fault_of_proof(other)
    moved = cases["crates"]._replace(point={"crates": Fraction(9), "litres": Fraction(6)})
    assert "row 0" in script.fault_of_proof(moved)
    half = cases["crates"]._replace(point={"crates": Fraction(19, 2), "litres": Fraction(6)})
    assert "column 0" in script.fault_of_proof(half)
    dear = cases["crates"]._replace(point={"crates": Fraction(10), "litres": Fraction(6)})
    assert "another value" in script.fault_of_proof(dear)
    assert script.fault_of_proof(cases["apart"]._replace(optimum="unbounded")) is not None


def test_the_page_has_what_the_script_prints(script, cases, root):
    """The right answers and sources; what solvers said is as it was when the page was written."""
    page = (root / "docs" / "wrong_answers.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert len(rows) == len(NAMES)
    for row, case in zip(rows, cases.values(), strict=True):
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert cells[0] == f"`{case.name}`"
        assert cells[1] == case.optimum
        assert all(source in cells[-1] for source in case.source.split(", "))


def test_the_pages_example_is_what_check_says(script, cases, root):
    page = (root / "docs" / "wrong_answers.md").read_text(encoding="utf-8")
    case = cases["shifts"]
    said = check(case.path.with_suffix(".proof"), case.path).sentences[1]
    assert said == "proved: no feasible point has an objective below 13"
    assert said in page
    assert case.path.read_text().split("\n", 1)[1].strip() in page
