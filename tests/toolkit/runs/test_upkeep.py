"""What a store says about itself, what is deleted from it, and runs that are only counted."""

import json
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from gadgetopt.errors import InputError
from gadgetopt.runs import upkeep
from gadgetopt.runs.comparison import compare
from gadgetopt.runs.store import Store
from gadgetopt.runs.upkeep import delete, facts, fitting, selected
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits

pytestmark = pytest.mark.usefixtures("in_this_process")

LIMITS = Limits(60.0)  # those of the command line


@pytest.fixture
def store(tiny, tmp_path):
    path = tmp_path / "s.sqlite"
    compare(
        [tiny / "e1_co_locate.json", tiny / "e2_contention_pays.json"],
        ["first_fit", "random_placement"],
        limits=LIMITS,
        seeds=2,
        store=path,
        workers=0,
    )
    return path


def change(path, statement):
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


def keys(path):
    with Store(path, create=False) as runs:
        return {run.key for run in runs.runs()}


def test_status_counts_runs_by_method_and_finds_stale_ones(cli, store):
    change(store, "UPDATE runs SET code = 'older' WHERE method = 'first_fit'")
    change(store, "UPDATE runs SET status = 'error', reason = 'x' WHERE seed = 1")
    code, out, _ = cli("status", store, "--json")
    assert code == 0
    found = json.loads(out)
    assert [found[k] for k in ("instances", "runs", "errors", "stale", "running")] == [
        *(2, 6, 2, 2, 0)
    ]
    assert [(m["method"], m["statuses"], m["stale"]) for m in found["methods"]] == [
        ("first_fit", {"feasible": 2}, 2),
        ("random_placement", {"feasible": 2, "error": 2}, 0),
    ]
    code, out, _ = cli("status", store)
    assert out.startswith(f"{store}: 6 runs of 2 instances, ")
    assert "2 stale: made by other or unknown code" in out


def test_a_method_that_is_gone_is_stale(store):
    change(store, "UPDATE runs SET method = 'gone' WHERE method = 'first_fit'")
    with Store(store, create=False) as runs:
        assert {fact.method for fact in facts(runs) if fact.stale} == {"gone"}


def test_status_says_what_a_renamed_method_is_called_now(cli, store, monkeypatch):
    renamed = replace(problem("sjf_bco"), renamed={"gone": "first_fit"})
    monkeypatch.setattr(upkeep, "problem", lambda _: renamed)
    change(store, "UPDATE runs SET method = 'gone' WHERE method = 'first_fit'")
    assert "sjf_bco: method 'gone': is now the method 'first_fit'" in cli("status", store)[1]
    told = {
        m["method"]: m["renamed"] for m in json.loads(cli("status", store, "--json")[1])["methods"]
    }
    assert told == {
        "gone": "method 'gone': is now the method 'first_fit'",
        "random_placement": None,
    }


def test_delete_asks_for_yes_and_deletes_what_fits_all_filters(cli, store):
    before = keys(store)
    chosen = ("delete", store, "--methods", "random_*", "--instances", "e1_co_locate")
    code, out, err = cli(*chosen)
    assert (code, out) == (2, "")
    assert err == f"gadgetopt: delete: 2 of 6 runs in {store}: --yes deletes them\n"
    assert keys(store) == before
    code, out, _ = cli(*chosen, "--yes")
    assert code == 0
    assert out.startswith(f"deleted 2 runs; 4 left in {store}; ")
    assert len(keys(store)) == 4
    assert keys(store) < before
    code, out, _ = cli("delete", store, "--older-than", 1, "--yes")
    assert out == "0 of 4 runs fit; nothing is deleted\n"


def test_an_instance_without_runs_goes_with_its_last_run(cli, store):
    assert cli("delete", store, "--instances", "e1*", "--yes")[0] == 0
    with Store(store, create=False) as runs:
        assert [i.name for i in runs.instances().values()] == ["e2_contention_pays"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "delete: no filter; --instances '*' deletes all runs"),
        (("--methods", "ladder", "--yes"), "--methods: 'ladder' fits none of first_fit"),
        (("--status", "eror", "--yes"), "--status: 'eror' fits none of feasible"),
        (("--older-than", "x"), "'x' is not a positive number"),
    ],
)
def test_mistakes_have_their_line_and_delete_nothing(arguments, said, cli, store):
    before = keys(store)
    code, out, err = cli("delete", store, *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert keys(store) == before


def test_a_run_that_was_done_again_in_the_meantime_is_kept(store):
    with Store(store) as runs:
        doomed = facts(runs)
        change(store, "UPDATE runs SET finished_at = '2030-01-01T00:00:00.000Z' WHERE seed = 1")
        assert delete(runs, doomed) == 4
        assert {fact.finished_at for fact in facts(runs)} == {"2030-01-01T00:00:00.000Z"}


def test_while_a_client_works_no_instance_is_deleted(cli, store):
    with Store(store) as client:
        assert client.claim("k")
        out = cli("delete", store, "--instances", "*", "--yes")[1]
        assert "the file keeps its size while others use it" in out
        assert len(client.instances()) == 2
    assert keys(store) == set()


def test_deleting_beside_a_comparison_loses_and_corrupts_nothing(tiny, store):
    paths, failures = [tiny / "e1_co_locate.json", tiny / "e2_contention_pays.json"], []

    def work():
        try:
            compare(paths, ["random_placement"], limits=LIMITS, seeds=40, store=store, workers=0)
        except Exception as error:  # told by the assertion below
            failures.append(error)

    worker = threading.Thread(target=work)
    worker.start()
    while worker.is_alive():
        with Store(store) as runs:
            delete(runs, selected(facts(runs), methods=["first_fit"]) if keys_of(runs) else [])
    worker.join()
    assert not failures
    with Store(store, create=False) as runs:
        assert {fact.method for fact in facts(runs)} == {"random_placement"}
        assert len(runs.runs()) == 80
        assert len(runs.instances()) == 2
        assert [row["integrity_check"] for row in runs.query("PRAGMA integrity_check")] == ["ok"]


def keys_of(runs):
    return [fact for fact in facts(runs) if fact.method == "first_fit"]


def test_a_bound_without_a_solution_is_called_as_in_tables(cli, tiny, tmp_path):
    held = tmp_path / "held.sqlite"
    compare([tiny / "e1_co_locate.json"], ["combinatorial"], store=held, workers=0)
    (method,) = json.loads(cli("status", held, "--json")[1])["methods"]
    assert method["statuses"] == {"bound_only": 1}
    assert cli("delete", held, "--status", "no_solution", "--yes")[1].startswith("deleted 1 run;")


def test_runs_of_a_client_that_was_killed_are_not_being_done(tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        store.claim("mine")
        assert store.running() == 1
        ended = subprocess.Popen([sys.executable, "-c", ""])
        ended.wait()
        with sqlite3.connect(tmp_path / "runs.sqlite") as claims:
            claims.execute("UPDATE claims SET pid = ?", (ended.pid,))
        assert store.running() == 0


# -- dry runs --------------------------------------------------------------------------------------


def test_a_dry_run_counts_and_makes_nothing(cli, tiny, store, tmp_path, monkeypatch):
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    given = (
        "--generate",
        "sjf_bco:mini_paper:jobs=[3,4]:count=2",
        "--methods",
        "first_fit,energetic",
    )
    code, out, err = cli("compare", *given, "--dry-run", "--workers", 2)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "8 runs of 4 instances: 0 stored, 8 to do (new store runs.sqlite)",
        "how long they take is unknown: no run of their methods is stored",
        "never longer than 4 min 24 s, 2 at a time: if each run takes its 60 s and 6 s of grace",
        "dry run: nothing was run and no file was made",
    ]
    there = ("compare", tiny / "e1_co_locate.json", "--store", store, "--dry-run", "--json")
    there = (*there, "--methods", "first_fit,random_placement", "--seeds", 3)
    plan = json.loads(cli(*there)[1])
    assert [plan[name] for name in ("runs", "stored", "to_do")] == [4, 3, 1]
    plan = json.loads(cli(*there, "--fresh")[1])
    assert [plan[name] for name in ("runs", "stored", "to_do")] == [4, 0, 4]
    assert list(folder.iterdir()) == []


def test_a_dry_run_expects_the_medians_of_the_stored_runs(cli, tiny, tmp_path):
    held = tmp_path / "held.sqlite"
    compare([tiny], ["first_fit", "sjf_bco"], store=held, workers=0)
    with sqlite3.connect(held) as runs:
        runs.execute("UPDATE runs SET time_s = position * position WHERE method = 'first_fit'")
        runs.execute("UPDATE runs SET time_s = 99 WHERE method = 'sjf_bco'")
        (median_s,) = runs.execute(
            "SELECT avg(time_s) FROM (SELECT time_s FROM runs WHERE method = 'first_fit' "
            "ORDER BY time_s LIMIT 2 OFFSET 2)"
        ).fetchone()
    given = ("compare", tiny, "--store", held, "--dry-run", "--fresh", "--workers", 2)
    plan = json.loads(cli(*given, "--methods", "first_fit,sjf_bco", "--json")[1])
    # Six runs of each; more than the limit of 60 s none takes.
    assert plan["expected_s"] == pytest.approx((6 * min(median_s, 60) + 6 * 60) / 2, abs=1)
    assert plan["expected_of_all"] is True
    lines = cli(*given, "--methods", "first_fit,lpt_ils")[1].splitlines()
    assert lines[1].startswith("at least ")
    assert lines[1].endswith("by the medians of each method's stored runs; some methods have none")
    lines = cli(*given, "--methods", "first_fit")[1].splitlines()
    assert lines[1].startswith("about ")
    assert "unknown" in cli(*given, "--methods", "lpt_ils")[1]


def test_a_dry_run_refuses_what_the_run_would_refuse(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = cli("compare", "--generate", "smd", "--methods", "nope", "--dry-run")
    assert code == 2
    assert "method 'nope'" in err
    assert list(tmp_path.iterdir()) == []


SPECS = ["lpt", "blueconnect:factors=[2, 2]", "blueconnect:factors=[4]"]


def names_of(method):
    return method, method.partition(":")[0]


@pytest.mark.parametrize(
    ("patterns", "chosen"),
    [
        ((), SPECS),
        (("lpt",), SPECS[:1]),
        (("blue*",), SPECS[1:]),
        (("blueconnect",), SPECS[1:]),
        (("blueconnect:factors=[2, 2]",), SPECS[1:2]),  # a name, though it reads like a pattern
    ],
)
def test_a_name_or_a_pattern_chooses(patterns, chosen):
    assert fitting(SPECS, "methods", patterns, names_of) == chosen


def test_what_fits_nothing_is_one_line_with_what_there_is():
    with pytest.raises(InputError, match=r"^--methods: 'x' fits none of blueconnect:.*, lpt$"):
        fitting(SPECS, "methods", ["x"], names_of)
    with pytest.raises(InputError, match=r"^--methods: 'x' fits none of no runs$"):
        fitting([], "methods", ["x"], names_of)
    many = [f"i{k:02d}" for k in range(14)]
    with pytest.raises(InputError, match=r"i11 and 2 more$"):
        fitting(many, "instances", ["x"], lambda name: (name,))


def test_a_pattern_may_fit_what_other_filters_took_away():
    assert fitting(SPECS[:1], "methods", ["blue*"], names_of, SPECS) == []
