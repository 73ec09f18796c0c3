"""A summary with a column per method: what its cells say, and how it looks."""

from fractions import Fraction
from typing import get_args

import pytest

from gadgetopt.errors import InputError
from gadgetopt.reporting.summary.cross_table import (
    checked_cells,
    cross_tables,
    grid,
    legend,
    markdown,
    needs_traces,
)
from gadgetopt.runs.study import Cell
from gadgetopt.system.result import Status, TracePoint, Voucher

from ..entries_of import result, study, table

CELLS = get_args(Cell)

#: What a run's trace ends with; what was checked counts from its end on.
ENDED = (TracePoint(7.0, 0, 0),)

#: Two instances of one group: optima 4 and 10; `own` finds 5 and 10, `search` proves both.
RUNS = [
    result("a", "own", "approximation", 5, time_s=0.25, trace=(TracePoint(0.25, 5, None),)),
    result("a", "search", "exact", 4, 4, voucher=Voucher.VERIFIED, time_s=1.0, trace=ENDED),
    result("b", "own", "approximation", 10, 8, time_s=3.0),
    result("b", "search", "exact", 10, 10, time_s=7.0, trace=(TracePoint(3.0, 10, 5), *ENDED)),
]


def cells_of(runs, names, by=()):
    (made,) = cross_tables(table(runs), by, checked_cells(names))
    return {head: [row[k] for row in made.rows] for k, head in enumerate(made.heads)}


@pytest.mark.parametrize(
    ("name", "own", "search"),
    [
        ("mean", "1.125", "1.000"),
        ("median", "1.125", "1.000"),
        ("worst", "1.250", "1.000"),
        ("share", "0.900", "1.000"),
        ("least_share", "0.800", "1.000"),
        ("net_mean", "", ""),
        ("at_optimum", "1/2", "2/2"),
        ("tightness", "0.800 (1 of 2)", "1.000"),
        ("objective", "7.5", "7"),
        ("bound", "", "7"),  # one of the runs of `own` has no bound
        ("gap", "", "gap 0.00%"),
        ("solved", "2/2", "2/2"),
        ("optimal", "0/2", "2/2"),
        ("verified", "0/2", "1/2"),
        ("time", "1.24 s", "3.00 s"),  # sqrt(1.25 * 4) - 1 and sqrt(2 * 8) - 1
        # Samples of two hold both of one, or one of each.
        ("time_interval", "1.24 s (0.25..3.00)", "3.00 s (1.00..7.00)"),
        # 1 s of nothing; 3 s of nothing and 4 s of a gap of one half: sqrt(2 * 6) - 1.
        ("integral", "", "2.46 s"),
        ("integral_interval", "", "2.46 s (1.00..5.00)"),
        ("mean_time", "1.62 s", "4.00 s"),  # 1.625, rounded to the even digit
        ("longest", "3.00 s", "7.00 s"),
    ],
)
def test_a_cell_is_what_the_runs_say(name, own, search):
    found = cells_of(RUNS, [name])
    assert (found["inst."], found["own"], found["search"]) == (["2"], [own], [search])


def test_every_measure_has_a_text_and_a_meaning():
    assert checked_cells(CELLS) == CELLS
    assert len(legend(CELLS).split("; ")) == len(CELLS)
    # `net_mean` says nothing of a system without a fixed part.
    assert cells_of(RUNS, CELLS)["search"][0].count(", ") == len(CELLS) - 2


def test_a_note_is_a_number_that_every_run_has():
    runs = [
        result("a", "own", objective=4, notes={"rounds": 3, "why": "text", "closed": True}),
        result("b", "own", objective=4, notes={"rounds": 8, "why": "text", "trees": 1}),
    ]
    assert cells_of(runs, ["note:rounds"])["own"] == ["5.5"]
    assert cells_of(runs, ["objective", "note:rounds"], ["instance"])["own"] == ["4, 3", "4, 8"]
    for other in ("trees", "why", "closed", "unknown"):  # not of every run, or no number
        assert cells_of(runs, [f"note:{other}"])["own"] == [""]
    assert legend(checked_cells(["note:rounds"])) == (
        "cells: rounds as the method notes it, the mean."
    )


def test_an_open_gap_is_an_interval_and_its_inverse_too():
    runs = [result("a", "own", objective=6, bound=4), result("a", "other", objective=5)]
    assert cells_of(runs, ["mean", "share"])["own"] == ["1.200..1.500, 0.667..0.833"]
    runs = [result("a", "own", objective=6)]
    assert cells_of(runs, ["worst", "least_share"])["own"] == ["1.000..?, 0.000..1.000"]


def test_a_ratio_of_some_instances_says_of_how_many():
    runs = [*RUNS, result("c", "own"), result("c", "search", "exact", 3, 3)]
    assert cells_of(runs, ["mean", "objective"])["own"] == ["1.125 (2 of 3)"]


def test_a_single_instance_shows_its_exact_values():
    runs = [result("a", "own", objective=Fraction(7, 2), bound=Fraction(7, 2))]
    found = cells_of(runs, ["objective", "bound"], ["instance"])
    assert found == {"instance": ["a"], "own": ["3.5, 3.5"]}


def test_a_method_that_always_failed_or_never_ran_is_told():
    runs = [
        result("a", "own", status=Status.ERROR, reason="it broke"),
        result("a", "search", "exact", 4, 4),
        result("b", "search", "exact", 4, 4),
    ]
    found = cells_of(runs, ["mean"], ["instance"])
    assert found["own"] == ["error", ""]


def test_systems_have_tables_of_their_own():
    made = cross_tables(study(), ["size_jobs"], ("mean", "worst"))
    assert [t.system for t in made] == ["sjf_bco", "knapsack"]
    for t in made:
        assert t.heads == ("jobs", "inst.", "own", "random", "bound", "search")
        assert [row[0] for row in t.rows] == ["4", "8", "12"]
        assert grid(t).row_count == 3
    text = markdown(made, ("mean", "worst"))
    assert text.count("| jobs | inst. | `own` | `random` | `bound` | `search` |") == 2
    assert "**sjf\\_bco**" in text


def test_an_unknown_measure_is_one_line():
    with pytest.raises(InputError, match="--cells: 'average' is not one of mean, median"):
        checked_cells(["mean", "average"])
    with pytest.raises(InputError, match=r"--cells: 'note:' is not one of .*, note:NAME"):
        checked_cells(["note:"])


def test_a_bound_of_a_maximisation_is_tight_at_one_too():
    runs = [
        result("a", "bound", "relaxation", None, 5, system="knapsack"),
        result("a", "search", "exact", 4, system="knapsack"),
    ]
    assert cells_of(runs, ["tightness"])["bound"] == ["0.800"]


@pytest.mark.parametrize("names", [["integral"], ["mean", "integral_interval"]])
def test_integrals_need_traces_and_nothing_else_does(names):
    assert needs_traces(checked_cells(names))
    assert not needs_traces([c for c in CELLS if "integral" not in c])
