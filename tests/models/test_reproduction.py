"""The reproduction record has every paper, the four verdicts only, and counts that add up."""

import re
from collections import Counter
from pathlib import Path

import pytest

from gadgetopt.trust.statements import statements

PAGE = (Path(__file__).parents[2] / "docs" / "reproduction.md").read_text(encoding="utf-8")
VERDICTS = ("agrees", "shape agrees", "does not", "not attempted")
PAPERS = {
    "SJF-BCO", "GADGET", "SMD", "DAPPLE", "SPP", "A-SRPT", "ADSP", "Adversarial online allocation",
    "BGL", "Interference-aware placement, MARL", "OneFlow SBP", "PD-ORS", "Forest packing",
}  # fmt: skip


def sections():
    """Return the rows of each section, cell by cell, by its title."""
    found = {}
    for part in PAGE.split("\n## ")[1:]:
        title = re.split(r" \(|\n", part)[0]
        rows = [line.strip("| ").split(" | ") for line in part.splitlines() if line[:1] == "|"]
        found[title] = rows[2:]
    return found


SECTIONS = sections()


def verdict_of(cell):
    return next(v for v in sorted(VERDICTS, key=len, reverse=True) if cell.startswith(v))


def test_every_paper_has_a_section():
    assert set(SECTIONS) == PAPERS | {"Knapsack and parallel machines"}


@pytest.mark.parametrize("title", SECTIONS)
def test_rows_are_whole_and_end_with_a_verdict(title):
    for row in SECTIONS[title]:
        assert len(row) == 4
        assert verdict_of(row[3]) in VERDICTS
        # What was not attempted says why.
        assert not row[3].startswith("not attempted") or len(row[3]) > len("not attempted")


def test_the_counts_are_those_of_the_sections():
    table = PAGE.split("<!-- counts -->")[1].split("<!-- /counts -->")[0]
    counted = {
        cells[0]: [int(x) for x in cells[2:]]
        for cells in (line.strip("| ").split(" | ") for line in table.strip().splitlines()[2:])
    }
    for title, rows in SECTIONS.items():
        count = Counter(verdict_of(row[3]) for row in rows)
        assert counted[title] == [count[v] for v in VERDICTS], title
    assert set(counted) == set(SECTIONS)
    totals = [sum(column) for column in zip(*counted.values(), strict=True)]
    lead = PAGE.split("<!-- counts -->")[0]
    assert [int(x) for x in re.findall(r"\d+", lead)] == [sum(totals), *totals]


def test_statements_that_the_record_names_exist():
    known = {f"{system.name}/{statement.name}" for system, statement in statements()}
    named = set(re.findall(r"`((?:sjf_bco|gadget|smd|oneflow_sbp)/[a-z0-9-]+)`", PAGE))
    assert named
    assert named <= known
