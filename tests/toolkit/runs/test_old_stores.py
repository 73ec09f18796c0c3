"""Stores of older versions: read unchanged, migrated when written to, runs not taken as current."""

import json
import sqlite3

import pytest

from gadgetopt import __version__
from gadgetopt.reporting.html_report import write_report
from gadgetopt.reporting.tables import ratios
from gadgetopt.runs.comparison import compare
from gadgetopt.runs.progress import days
from gadgetopt.runs.store import Store
from gadgetopt.runs.store_tables import APPLICATION_ID, SCHEMA_VERSION

pytestmark = pytest.mark.usefixtures("in_this_process")

#: The tables of version 3, which did not know what made a run.
VERSION_3 = """
CREATE TABLE runs (
    key TEXT PRIMARY KEY, problem TEXT NOT NULL, instance TEXT NOT NULL, fingerprint TEXT NOT NULL,
    method TEXT NOT NULL, kind TEXT NOT NULL, formulation TEXT, backend TEXT,
    parameters TEXT NOT NULL, seed INTEGER, limits TEXT NOT NULL, version TEXT NOT NULL,
    status TEXT NOT NULL, objective TEXT, claimed_objective TEXT, bound TEXT, bound_voucher TEXT,
    gap REAL, limit_hit TEXT, reason TEXT, refused INTEGER NOT NULL DEFAULT 0,
    time_s REAL NOT NULL, promises TEXT NOT NULL, solution TEXT, certificate TEXT, evaluation TEXT,
    trace TEXT NOT NULL, phases_s TEXT NOT NULL, versions TEXT NOT NULL, notes TEXT NOT NULL,
    finished_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    position INTEGER
) STRICT;
CREATE INDEX runs_by_position ON runs (position);
CREATE TABLE instances (
    fingerprint TEXT PRIMARY KEY, problem TEXT NOT NULL, name TEXT NOT NULL, size TEXT NOT NULL,
    features TEXT NOT NULL, document TEXT NOT NULL
) STRICT;
CREATE TABLE claims (
    key TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, until REAL NOT NULL,
    position INTEGER NOT NULL
) STRICT;
"""


@pytest.fixture
def path(tiny):
    return tiny / "e1_co_locate.json"


@pytest.fixture
def old(path, tmp_path):
    """A store of version 3 with one run, whose objective is one that no code of today finds."""
    new, old = tmp_path / "new.sqlite", tmp_path / "old.sqlite"
    compare([path], ["first_fit"], store=new, workers=0)
    with sqlite3.connect(old) as store:
        store.executescript(VERSION_3)
        store.execute("ATTACH ? AS new", (str(new),))
        for table in ("runs", "instances"):
            columns = [row[1] for row in store.execute(f"PRAGMA main.table_info({table})")]
            names = ", ".join(columns)
            store.execute(f"INSERT INTO main.{table} ({names}) SELECT {names} FROM new.{table}")
        store.execute("UPDATE runs SET key = 'old', objective = '77', solution = NULL")
        store.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        store.execute("PRAGMA user_version = 3")
    return old


def version(store):
    with sqlite3.connect(store) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def test_an_old_store_is_read_as_it_is_and_says_that_its_code_is_unknown(old, tmp_path, caplog):
    before = old.read_bytes()
    (entry,) = ratios(old)
    assert entry.result.objective == 77
    assert caplog.messages == [f"{old}: the code that made 1 of 1 runs is unknown"]
    assert write_report(old, tmp_path / "report.html")["runs"] == 1
    assert (old.read_bytes(), version(old)) == (before, 3)


def test_an_old_store_is_brought_up_to_date_and_its_runs_are_done_again(old, path, cli):
    code, out, err = cli("compare", path, "--methods", "first_fit", "--store", old, "--json")
    assert (code, [row["objective"] for row in json.loads(out)]) == (0, [2])
    assert err.splitlines() == [
        f"gadgetopt: 0 of 1 runs taken from {old}",
        f"gadgetopt: 1 run in {old} made by other or unknown code, to be run again",
        f"gadgetopt: bounds and solutions of 1 other run in {old} are used, "
        "1 of them made by other or unknown code",
    ]
    assert version(old) == SCHEMA_VERSION
    with Store(old, create=False) as store:
        unknown, known = (run.code for run in store.runs())
    assert unknown is None
    assert known.startswith(f"gadgetopt {__version__} ")
    err = cli("compare", path, "--methods", "first_fit", "--store", old, "--json")[2]
    assert err.startswith(f"gadgetopt: 1 of 1 runs taken from {old} (oldest ")


def test_runs_of_0_1_0_are_read_and_stale_and_done_again(path, cli, tmp_path):
    store = tmp_path / "runs.sqlite"
    compare([path], ["first_fit"], store=store, workers=0)
    with sqlite3.connect(store) as connection:
        (code,) = connection.execute("SELECT code FROM runs").fetchone()
        assert code.startswith(f"gadgetopt {__version__} ")
        before = f"gadgetopt 0.1.0 {'0' * 16}, " + code.split(", ", 1)[1]
        connection.execute(
            "UPDATE runs SET code = ?, version = '0.1.0', key = 'old', objective = '77'", (before,)
        )
    (entry,) = ratios(store)
    assert entry.result.objective == 77
    said = cli("status", store)[1]
    assert ": 1 by gadgetopt 0.1.0\n1 stale: made by other or unknown code" in said
    _, out, err = cli("compare", path, "--methods", "first_fit", "--store", store, "--json")
    assert [row["objective"] for row in json.loads(out)] == [2]
    assert f"1 run in {store} made by other or unknown code, to be run again" in err


def test_runs_of_one_method_by_several_codes_are_told_apart(old, path, tmp_path, caplog):
    from gadgetopt.reporting.html_report.reading import read_systems

    compare([path], ["first_fit", "sjf_bco"], store=old, workers=0)
    with Store(old, create=False) as store:
        (system,) = read_systems(store)
    unknown, known, other = system.methods
    assert unknown == "first_fit code unknown"
    assert known.startswith("first_fit code ")
    assert other == "sjf_bco"
    ratios(old)
    assert (
        caplog.messages[-1] == f"{old}: runs made by more than one version of the code: first_fit"
    )


def test_how_old_the_runs_are_that_are_taken_is_said(path, tmp_path, cli):
    store = tmp_path / "runs.sqlite"
    command = ("compare", path, "--methods", "first_fit,sjf_bco", "--store", store)
    cli(*command)
    with sqlite3.connect(store) as runs:
        runs.execute(
            "UPDATE runs SET finished_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-12 days') "
            "WHERE position = 1"
        )
    assert cli(*command)[2] == f"gadgetopt: 2 of 2 runs taken from {store} (oldest 12 days)\n"
    with sqlite3.connect(store) as runs:
        runs.execute("UPDATE runs SET finished_at = 'x'")
    assert cli(*command)[2] == f"gadgetopt: 2 of 2 runs taken from {store}\n"


@pytest.mark.parametrize(
    ("age", "text"),
    [(12.2, "12 days"), (2, "2 days"), (1.5, "36 h 00 min"), (1 / 86_400, "1 s"), (-1.0, "0 s")],
)
def test_ages_are_written_in_days_from_two_on(age, text):
    assert days(age) == text


@pytest.mark.parametrize("stated", [0, -1])
def test_a_store_of_no_version_is_one_line(old, cli, stated):
    with sqlite3.connect(old) as store:
        store.execute(f"PRAGMA user_version = {stated}")
    code, _, err = cli("ratios", old)
    assert (code, err) == (2, f"gadgetopt: {old}: store of version {stated}, expected 1 or more\n")


def test_an_error_of_an_old_store_that_was_a_method_that_does_not_apply(path, tmp_path, cli):
    store = tmp_path / "runs.sqlite"
    compare([path], ["first_fit"], store=store, workers=0)
    with sqlite3.connect(store) as runs:
        runs.execute("UPDATE runs SET status = 'error', objective = NULL, refused = 1")
        runs.execute("ALTER TABLE runs DROP COLUMN sense")
        runs.execute("PRAGMA user_version = 5")

    def statuses():
        return json.loads(cli("status", store, "--json")[1])["methods"][0]["statuses"]

    assert statuses() == {"not_applicable": 1}
    assert (version(store), ratios(store)) == (5, [])
    with Store(store) as opened:  # to write
        assert [run.result.status for run in opened.runs()] == ["not_applicable"]
    assert statuses() == {"not_applicable": 1}
    with sqlite3.connect(store) as runs:
        assert runs.execute("SELECT status FROM runs").fetchall() == [("not_applicable",)]
    assert version(store) == SCHEMA_VERSION
