"""The report has tests of each two methods where it is asked for them."""

import re

import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.reporting.pairwise import as_text, pairwise_tests


@pytest.fixture
def store(tiny, tmp_path):
    path = tmp_path / "runs.sqlite"
    files = sorted(tiny.glob("*.json"))[:3]
    gadgetopt.compare(files, ["first_fit", "list_scheduling", "sjf_bco"], store=path, workers=0)
    return path


def cells(page):
    """The cells of the tables of tests, row by row."""
    tables = re.findall(r"<h3>Each two methods, by objective</h3>.*?</table>", page, re.DOTALL)
    rows = [row for table in tables for row in re.findall(r"<tr>(<td.*?)</tr>", table)]
    return [tuple(re.findall(r"<td[^>]*>([^<]*)</td>", row)) for row in rows]


def test_the_tests_are_those_of_the_summary(store, tmp_path, cli):
    out = tmp_path / "r.html"
    code, _, err = cli("report", store, "--out", out, "--tests", "objective", "--pictures", 0)
    assert (code, err) == (0, "")
    (table,) = as_text(pairwise_tests(store, "objective"), "objective")
    assert len(table.rows) == 3
    assert cells(out.read_text(encoding="utf-8")) == list(table.rows)


def test_nobody_who_does_not_ask_has_them(store, tmp_path):
    page = gadgetopt.write_report(store, tmp_path / "r.html", pictures=0) and (tmp_path / "r.html")
    assert "Each two methods" not in page.read_text(encoding="utf-8")


def test_an_unknown_measure_is_one_line(store, tmp_path):
    with pytest.raises(InputError, match="--tests: 'size' is not one of objective, time"):
        gadgetopt.write_report(store, tmp_path / "r.html", pictures=0, tests="size")
    assert not (tmp_path / "r.html").exists()
