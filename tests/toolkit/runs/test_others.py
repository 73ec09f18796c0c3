"""What a store knows beside the compared runs: its bounds and solutions count in their ratios."""

import json
import sqlite3

import pytest

import gadgetopt
from gadgetopt.reporting.sentences import others_line
from gadgetopt.reporting.tables import ratios
from gadgetopt.runs.comparison import compare
from gadgetopt.runs.others import Others
from gadgetopt.runs.rows import encode_number


@pytest.fixture
def path(tiny):
    return tiny / "e1_co_locate.json"


@pytest.fixture
def store(path, tmp_path):
    """A store in which an exact method closed the instance: its optimum is 2."""
    made = tmp_path / "batch.sqlite"
    (entry,) = compare([path], ["ladder"], store=made, workers=0)
    assert (entry.result.status, entry.result.bound) == ("optimal", 2)
    return made


def heuristics(path, store, **more):
    return compare([path], ["first_fit", "random_placement"], store=store, workers=0, **more)


def test_a_bound_that_only_the_store_knows_limits_the_ratio(path, store, tmp_path):
    alone = heuristics(path, tmp_path / "new.sqlite")
    assert [entry.ratio.high for entry in alone] == [None, None]
    table = heuristics(path, store)
    assert [entry.result.method for entry in table] == ["first_fit", "random_placement"]
    for entry in table:
        assert entry.ratio.high == entry.ratio.low == entry.result.objective / 2
        assert entry.ratio.voucher == "verified"
        assert entry.others == Others(1, 0)


def test_a_comparison_and_the_summary_of_its_store_agree(path, store):
    table = {(e.result.method, e.result.seed): e for e in heuristics(path, store, seeds=3)}
    whole = {(e.result.method, e.result.seed): e for e in ratios(store)}
    assert {key for key in whole if key[0] != "ladder"} == set(table)
    for key, entry in table.items():
        assert (entry.ratio, entry.ratio.voucher) == (whole[key].ratio, whole[key].ratio.voucher)
        assert entry.result.status == whole[key].result.status
        assert entry.result.bound_voucher == whole[key].result.bound_voucher


def test_a_solution_that_only_the_store_knows_refutes_a_bound(path, store):
    with sqlite3.connect(store) as runs:  # a bound of 2 with a solution of 1 beside it
        runs.execute("UPDATE runs SET objective = '1', bound = NULL, bound_voucher = NULL")
    (entry,) = compare([path], ["combinatorial"], store=store, workers=0)
    assert entry.result.status == "error"
    assert "but ladder has a solution of 1" in entry.result.reason


def test_runs_that_know_nothing_are_not_counted(path, store):
    with sqlite3.connect(store) as runs:
        runs.execute(
            "UPDATE runs SET status = 'error', objective = NULL, bound = NULL, bound_voucher = NULL"
        )
    table = heuristics(path, store)
    assert [entry.others for entry in table] == [Others(), Others()]
    assert others_line(table, store) == ""


def test_runs_of_other_code_count_as_in_a_summary_and_are_told(path, store):
    with sqlite3.connect(store) as runs:
        runs.execute("UPDATE runs SET code = 'gadgetopt 0.0.1'")
    table = heuristics(path, store)
    assert [entry.ratio.high for entry in table] == [
        e.ratio.high for e in ratios(store) if e.result.method != "ladder"
    ]
    assert others_line(table, store) == (
        f"bounds and solutions of 1 other run in {store} are used, "
        "1 of them made by other or unknown code"
    )


def test_other_instances_lend_nothing(path, store, tiny):
    (other,) = [p for p in sorted(tiny.glob("*.json")) if p != path][:1]
    table = heuristics(other, store)
    assert [entry.ratio.high for entry in table] == [None, None]


def test_runs_of_the_same_method_with_other_parameters_lend_their_solutions(path, tmp_path):
    made = tmp_path / "runs.sqlite"
    compare([path], ["sjf_bco"], store=made, workers=0)
    with sqlite3.connect(made) as runs:
        runs.execute("UPDATE runs SET objective = ?", (encode_number(1),))
    (entry,) = compare([path], ["sjf_bco_sweep"], store=made, workers=0)
    assert entry.ratio.low == entry.result.objective
    assert entry.others.runs == 1


def test_the_command_lists_only_what_was_asked_for_and_says_whose_bounds_it_uses(path, store, cli):
    command = ("compare", path, "--methods", "first_fit", "--store", store, "--workers", "0")
    code, out, _ = cli(*command)
    assert code == 0
    assert "bounds and solutions of 1 other run in" in " ".join(out.split())
    assert "ladder" not in out
    assert "at least 1.000" not in out
    code, out, err = cli(*command, "--json")
    (row,) = json.loads(out)
    assert (row["method"], row["ratio_high"], row["bound"]) == ("first_fit", 1.0, None)
    assert f"bounds and solutions of 1 other run in {store} are used" in err


def test_a_comparison_in_python_uses_its_store(path, store):
    table = gadgetopt.compare(path, "first_fit", store=store, workers=0)
    assert table.summary()["certified_verified"].tolist() == [1]
    assert str(table).endswith(f"bounds and solutions of 1 other run in {store} are used")
    assert "other run" not in str(gadgetopt.compare(path, "first_fit", workers=0))
