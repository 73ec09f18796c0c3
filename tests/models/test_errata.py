"""Every checked statement comes out as its entry and the page say."""

import json
import re
import shlex
from pathlib import Path

import pytest

from gadgetopt.cli.checking import row_of
from gadgetopt.system.files import library, read_instance
from gadgetopt.system.methods import find_method
from gadgetopt.trust.statements import Finding, check, chosen, counterexample_path, statements

ROOT = Path(__file__).parents[2]
EVERY = [
    pytest.param(system, statement, id=f"{system.name}/{statement.name}")
    for system, statement in statements()
]


@pytest.fixture(scope="module")
def page():
    """Return the verdict that the page has for each statement."""
    text = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    refuted, holds = text.split("## Checked, and they hold")
    found = re.findall(r"^### (\S+)\n\n[^\n]*: \*(refuted)", refuted, flags=re.MULTILINE)
    found += [(name, "holds") for name in re.findall(r"^\| `(\S+)` \|", holds, flags=re.MULTILINE)]
    assert len(found) == len(dict(found))
    return dict(found)


@pytest.mark.parametrize(("system", "statement"), EVERY)
def test_a_check_finds_what_its_entry_and_the_page_say(system, statement, page):
    found = check(system, statement)
    assert found.verdict == statement.verdict, found.shown
    assert found.verdict == page[f"{system.name}/{statement.name}"]
    assert (statement.grade == "holds") == (statement.verdict == "holds")


@pytest.mark.parametrize(("system", "statement"), EVERY)
def test_an_entry_is_complete(system, statement):
    assert statement.proof
    assert statement.repair or statement.verdict == "holds"
    if statement.counterexample:
        document = read_instance(library() / counterexample_path(system, statement))
        assert document.problem.name == system.name
        assert document.name == f"{system.name}_{statement.name}"
        assert len(document.origin["note"]) > 100, "no derivation"
    if statement.command:
        assert statement.counterexample == ("{}" in statement.command)
        words = shlex.split(statement.command)
        for flag in {"--method", "--methods"} & set(words):
            for call in words[words.index(flag) + 1].split(","):
                find_method(system, call)


def test_the_page_has_every_statement_and_no_other(page):
    assert set(page) == {f"{system.name}/{statement.name}" for system, statement in statements()}
    assert sum(verdict == "refuted" for verdict in page.values()) >= 25


def test_every_counterexample_belongs_to_a_statement():
    named = {counterexample_path(system, statement) for system, statement in statements()}
    there = (path.relative_to(library()) for path in (library() / "errata").rglob("*.json"))
    assert {path.as_posix() for path in there} == named - {""}


def test_the_command_prints_one_statement(cli):
    code, out, _ = cli("errata", "gadget/equation-9")
    assert code == 0
    assert "workers on 2 of 3 servers; the equation is violated at 1" in out
    assert "repair: degree 2 x_is" in out
    assert "counterexample: instances/errata/gadget/equation-9.json" in out


def test_the_command_gives_json_of_a_system(cli):
    code, out, _ = cli("errata", "adsp_rates", "--json")
    assert code == 0
    rows = json.loads(out)
    assert [row["verdict"] for row in rows] == [row["expected"] for row in rows] == ["refuted"] * 2
    assert rows[0]["grade"] == "dimensions"
    assert rows[0]["commands"] == ["gadgetopt errata adsp_rates/momentum-units"]


def test_an_unknown_statement_is_refused_in_one_line(cli):
    code, _, err = cli("errata", "smd/no-such")
    assert code == 2
    assert err.startswith("gadgetopt: smd/no-such: no such statement, expected one of smd/lemma-2")
    assert err.count("\n") == 1


def test_a_check_that_finds_another_verdict_is_told(monkeypatch, cli):
    ((system, statement),) = chosen(["smd/grid"])
    monkeypatch.setattr(
        "gadgetopt.trust.statements.check", lambda *_: Finding(holds=None, shown="nothing")
    )
    assert row_of(system, statement)["verdict"] == "open"
    code, out, _ = cli("errata", "smd/grid")
    assert code == 1
    assert "expected: refuted" in out
