"""Every checked statement comes out as its entry and the page say."""

import json
import re
from pathlib import Path

import pytest

from gadgetopt.system.files import library
from gadgetopt.trust.statements import check, statements

ROOT = Path(__file__).parents[2]
EVERY = [
    pytest.param(system, statement, id=f"{system.name}/{statement.name}")
    for system, statement in statements()
]


@pytest.mark.parametrize(("system", "statement"), EVERY)
def test_a_check_finds_what_its_entry_says(system, statement):
    found = check(statement)
    assert found.verdict == statement.verdict, found.shown
    assert (statement.grade == "holds") == (statement.verdict == "holds")
    assert not statement.witness or (library() / statement.witness).is_file()


def test_the_page_lists_every_statement_with_its_verdict():
    text = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\S+)` \|.*?\|.*?\| (holds|refuted)", text, flags=re.MULTILINE)
    assert dict(rows) == {
        f"{system.name}/{statement.name}": statement.verdict for system, statement in statements()
    }
    assert len(rows) == len(dict(rows))
    assert sum(verdict == "refuted" for _, verdict in rows) >= 25


def test_the_command_prints_one_statement(cli):
    code, out, _ = cli("errata", "gadget/equation-9")
    assert code == 0
    assert "servers [3] violate the equation" in out
    assert "repair: degree 2 x_is" in out


def test_the_command_gives_json_of_a_system(cli):
    code, out, _ = cli("errata", "adsp_rates", "--json")
    assert code == 0
    (row,) = json.loads(out)
    assert row["verdict"] == row["expected"] == "refuted"
    assert row["grade"] == "dimensions"


def test_an_unknown_statement_is_refused_in_one_line(cli):
    code, _, err = cli("errata", "smd/no-such")
    assert code == 2
    assert err.startswith("gadgetopt: smd/no-such: no such statement, expected one of smd/lemma-2")
    assert err.count("\n") == 1
