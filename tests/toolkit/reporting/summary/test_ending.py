"""A comparison ends with what fits a screen, however large it was."""

import io

import pytest
from rich.console import Console

from gadgetopt.reporting.summary.ending import MOST_LINES, print_ending, remarks
from gadgetopt.system.registry import problem_names
from gadgetopt.system.result import Status
from gadgetopt.trust.theorems import Promise

from ..entries_of import result, study, table


def ending(entries, width, left_out=None, detailed=False):
    console = Console(file=io.StringIO(), width=width)
    print_ending(entries, console, "runs.sqlite", left_out or {}, detailed)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [80, 100, 160])
@pytest.mark.parametrize("systems", [1, 2, 4, 21])
def test_500_instances_end_in_at_most_40_lines(width, systems):
    names = problem_names()[:systems]
    entries = study(instances=500 // systems, seeds=1, systems=names)
    left_out = {(name, "search"): 7 for name in names}
    lines = ending(entries, width, left_out)
    assert len(lines) <= MOST_LINES - 2  # two more are about the store
    assert all(len(line) <= width for line in lines)
    text = " ".join(" ".join(lines).split())
    assert "ratio" in text
    assert "left out where they do not apply: " in text
    shown = [name for name in names if f"{name} " in text]
    assert len(shown) == len(names) or f"and {len(names) - len(shown)} more systems" in text
    assert len(shown) >= min(systems, 17)


def test_many_methods_are_a_row_per_system():
    runs = [
        result(f"i{k}", f"method_{m}", objective=10 + m, system=system)
        for system in ("sjf_bco", "smd") for k in range(3) for m in range(30)
    ]  # fmt: skip
    lines = ending(table(runs), 100)
    assert len(lines) <= MOST_LINES
    assert any("first heuristic" in line for line in lines)
    assert "method_29" not in "".join(lines)


def test_a_wide_screen_shows_what_a_narrow_one_leaves_out():
    entries = study(instances=40)
    narrow, wide = "".join(ending(entries, 64)), "".join(ending(entries, 160))
    assert "certified  " in wide
    assert "certified  " not in narrow
    for word in ("median", "worst"):
        assert word in narrow, word


def test_the_sentence_comes_first_and_what_is_shown_is_explained():
    lines = ending(study(instances=40), 160)
    assert lines[0].startswith("sjf_bco, own: ")
    text = " ".join(" ".join(lines).split())
    for said in ("v verified, c cross-checked, s claimed by a solver", "shifted by 1 s",
                 "at the time limit", "several seeds count as their mean"):  # fmt: skip
        assert said in text


def test_of_single_instances_that_were_shown_only_the_sentence_follows():
    runs = [result("i", "own", objective=4), result("i", "search", "exact", 4, 4)]
    assert len(ending(table(runs), 160, detailed=True)) == 1
    assert len(ending(table(runs), 160)) > 4


def test_errors_of_one_kind_are_one_line_and_many_kinds_are_counted():
    runs = [
        result(f"i{k}", f"m{k % 5}", status=Status.ERROR, reason="it broke" * 40)
        for k in range(20)
    ]  # fmt: skip
    lines = remarks(table(runs), "runs.sqlite")
    assert len(lines) == 4
    assert lines[0].startswith("ERROR sjf_bco m0 on i0 and 3 more: it broke")
    assert len(lines[0]) < 200
    assert lines[-1] == "and 2 more: gadgetopt status runs.sqlite"


def test_a_refuted_theorem_is_one_line_with_its_worst_run():
    runs = [
        r for k in range(5)
        for r in (
            result(f"i{k}", "own", "approximation", 20 + k),
            result(f"i{k}", "search", "exact", 10, 10),
        )
    ]  # fmt: skip
    assert remarks(table(runs, [Promise("Claim", "2", "claimed", 2)]), "s") == [
        "Refuted claim: system sjf_bco, method own, instance i4 (worst of 4 runs): ratio 2.400 > "
        "2.000 claimed by 'Claim'"
    ]


def test_refusals_are_no_errors():
    refused = result("i", "search", "exact", status=Status.NOT_APPLICABLE, reason="large")
    lines = ending(table([result("i", "own", objective=4), refused]), 160)
    assert not any("ERROR" in line for line in lines)


def test_nothing_is_no_crash():
    assert ending([], 80) == []
