"""The store: runs are read back as written, and foreign files are never changed."""

import json
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.cli.comparing import print_table
from gadgetopt.errors import InputError
from gadgetopt.reporting.tables import ratios
from gadgetopt.runs.comparison import compare
from gadgetopt.runs.rows import Row, decode_number, encode_number, from_row, to_row
from gadgetopt.runs.store import Store
from gadgetopt.runs.store_tables import SCHEMA_VERSION
from gadgetopt.system.files import read
from gadgetopt.system.result import Limits, Result

pytestmark = pytest.mark.usefixtures("in_this_process")


@given(st.one_of(st.integers(), st.fractions(), st.floats(allow_nan=False), st.none()))
def test_numbers_come_back_exactly(x):
    again = decode_number(encode_number(x))
    assert again == x
    assert isinstance(again, float) == isinstance(x, float)


def test_a_rational_with_denominator_one_is_an_integer():
    assert encode_number(Fraction(4, 2)) == "2"


def test_what_goes_in_comes_out(tiny, tmp_path):
    store = tmp_path / "runs.sqlite"
    table = compare([tiny / "e2_contention_pays.json"], ["sjf_bco", "energetic"], store=store)
    again = ratios(store)
    assert [e.row() for e in again] == [e.row() for e in table]
    with Store(store, create=False) as kept:
        assert [r.result.solution for r in kept.runs()] == [e.result.solution for e in table]
        assert kept.runs()[0].result.evaluation == table[0].result.evaluation
    assert [e.promises for e in again] == [e.promises for e in table]


class _Recorded(dict[str, Any]):
    """A row that remembers which of its columns were read."""

    def __init__(self, row: Row):
        super().__init__(row)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.read.add(name)
        return super().get(name, default)


def test_table_writer_and_reader_of_runs_name_the_same_columns(tiny, tmp_path):
    path = tmp_path / "runs.sqlite"
    compare([tiny / "e2_contention_pays.json"], ["first_fit"], store=path)
    with sqlite3.connect(path) as connection:
        table = {name for _, name, *_ in connection.execute("PRAGMA table_info(runs)")}
    with Store(path, create=False) as store:
        (run,) = store.runs()
    row = _Recorded(to_row(run))
    assert from_row(row) == run
    of_the_store = {"finished_at", "position"}
    assert table - of_the_store == set(row) == row.read
    assert {field.name for field in fields(Result)} - {"document"} <= table


def test_a_finished_run_is_not_repeated_and_a_fresh_one_is(tiny, tmp_path):
    store, done = tmp_path / "runs.sqlite", []
    count = lambda result, *_: done.append(result.method)  # noqa: E731
    for _ in range(2):
        compare([tiny], ["first_fit"], store=store, on_result=count)
    assert len(done) == len(list(tiny.glob("*.json")))
    compare([tiny / "e1_co_locate.json"], ["first_fit"], store=store, fresh=True, on_result=count)
    assert len(done) == len(list(tiny.glob("*.json"))) + 1


def test_an_error_is_tried_again_when_that_is_asked_for(tiny, tmp_path, monkeypatch):
    store, path = tmp_path / "runs.sqlite", [tiny / "e1_co_locate.json"]
    with monkeypatch.context() as broken:
        broken.setattr("gadgetopt.models.sjf_bco.algorithms.sjf_bco.run", None)
        compare(path, ["sjf_bco"], store=store, workers=0)
    assert compare(path, ["sjf_bco"], store=store)[0].result.status == "error"
    (again,) = compare(path, ["sjf_bco"], store=store, retry_errors=True)
    assert again.result.objective == 2


def test_the_same_data_under_two_names_is_solved_once_and_shown_under_both(tiny, tmp_path):
    envelope = json.loads((tiny / "e1_co_locate.json").read_text())
    (tmp_path / "a.json").write_text(json.dumps(envelope))
    (tmp_path / "b.json").write_text(json.dumps({**envelope, "name": "[bold]copy[/red]"}))
    done = []
    table = compare([tmp_path], ["first_fit"], on_result=lambda result, *_: done.append(result))
    assert len(done) == 1
    assert [e.result.instance for e in table] == ["e1_co_locate", "[bold]copy[/red]"]
    print_table(table)


def test_an_empty_file_is_no_store_to_read_from(tmp_path):
    (tmp_path / "empty").touch()
    with pytest.raises(InputError, match="not a gadgetopt store"):
        ratios(tmp_path / "empty")
    assert (tmp_path / "empty").stat().st_size == 0


def test_other_limits_are_another_run(tiny, tmp_path):
    store, done = tmp_path / "runs.sqlite", []
    for time_s in (1.0, 2.0):
        compare(
            [tiny / "e1_co_locate.json"],
            ["first_fit"],
            limits=Limits(time_s=time_s),
            store=store,
            on_result=lambda result, *_: done.append(result),
        )
    assert len(done) == 2


def test_a_damaged_file_is_refused_and_left_as_it_is(tmp_path):
    path = tmp_path / "runs.sqlite"
    path.write_bytes(b"SQLite format 3\0 but no more")
    with pytest.raises(InputError, match="cannot be used as a store"):
        Store(path)
    assert path.read_bytes() == b"SQLite format 3\0 but no more"


def test_a_text_file_is_refused_and_left_as_it_is(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("these are notes\n" * 100)
    with pytest.raises(InputError, match="cannot be used as a store"):
        Store(path)
    assert path.read_text() == "these are notes\n" * 100


def test_somebody_elses_database_is_refused(tmp_path):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE runs (x)")
    before = path.read_bytes()
    with pytest.raises(InputError, match="not a gadgetopt store"):
        Store(path)
    assert path.read_bytes() == before


def test_a_store_of_a_newer_version_is_refused(tmp_path):
    path = tmp_path / "runs.sqlite"
    with Store(path) as store:
        store._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    with pytest.raises(InputError, match="newer gadgetopt"):
        Store(path)


def test_clients_that_make_one_store_at_the_same_moment_do_not_trip_over_each_other(tmp_path):
    barrier = threading.Barrier(6)

    def open_together(k):
        barrier.wait()
        with Store(tmp_path / f"{k}.sqlite") as store:
            return store.finished(["run"])

    with ThreadPoolExecutor(6) as clients:
        opened = clients.map(open_together, [k for k in range(40) for _ in range(6)])
        assert list(opened) == [set()] * 240


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("status = 'bogus'", "ValueError: 'bogus' is not a valid Status"),
        ("parameters = '{'", "JSONDecodeError: Expecting property name"),
        ("promises = '[1]'", "TypeError: "),
        ("solution = '{\"a\": 1}'", "ValidationError: "),
    ],
)
def test_a_run_that_cannot_be_read_is_one_line(tiny, tmp_path, caplog, change, said):
    path = tmp_path / "runs.sqlite"
    compare([tiny / "e1_co_locate.json"], ["sjf_bco"], store=path)
    with Store(path) as store:
        (key,) = store.find_keys("")
        store._connection.execute(f"UPDATE runs SET {change}")
    with Store(path) as store:
        assert store.runs() == []
        with pytest.raises(InputError) as refused:
            store.get(key)
    (line,) = caplog.messages
    assert line == f"{refused.value}; left out"
    assert line.startswith(f"{path}: run {key[:12]}: cannot be read: {said}")
    assert len(line.splitlines()) == 1


def test_a_missing_store_is_not_made_by_reading_it(tmp_path):
    with pytest.raises(InputError, match="no such store"):
        ratios(tmp_path / "none.sqlite")
    assert not (tmp_path / "none.sqlite").exists()


def test_a_store_of_the_second_version_is_brought_up_to_date_by_reading_it(tiny, tmp_path):
    path = tmp_path / "runs.sqlite"
    before = compare([tiny / "e1_co_locate.json"], ["first_fit"], store=path)
    with sqlite3.connect(path) as old:
        old.executescript(
            "DROP TABLE instances; DROP TABLE claims; DROP INDEX runs_by_position;"
            "ALTER TABLE runs DROP COLUMN position; ALTER TABLE runs DROP COLUMN code;"
            "ALTER TABLE runs DROP COLUMN sense;"
            "PRAGMA user_version = 2"
        )
    assert [e.row() for e in ratios(path)] == [e.row() for e in before]
    with Store(path, create=False) as store:
        assert store.instances() == {}


def test_a_store_is_read_where_nothing_can_be_written(tiny, tmp_path):
    folder = tmp_path / "archive"
    folder.mkdir()
    table = compare([tiny / "e1_co_locate.json"], ["first_fit"], store=folder / "runs.sqlite")
    folder.chmod(0o555)
    try:
        assert [e.row() for e in ratios(folder / "runs.sqlite")] == [e.row() for e in table]
    finally:
        folder.chmod(0o755)


def test_instances_come_back_with_their_size_and_data(tiny, tmp_path):
    document = read(tiny / "e1_co_locate.json")
    with Store(tmp_path / "runs.sqlite") as store:
        store.add_instance(document)
        store.add_instance(document)
        (known,) = store.instances().values()
        again = store.instance(known.fingerprint)
        assert store.instance("of another") is None
    assert (known.name, known.problem, known.size["jobs"]) == ("e1_co_locate", "sjf_bco", 2)
    assert (again.data, again.origin) == (document.data, document.origin)


def test_without_details_a_run_is_what_a_table_needs(tiny, tmp_path):
    path = tmp_path / "runs.sqlite"
    compare([tiny / "e1_co_locate.json"], ["sjf_bco"], store=path)
    with Store(path, create=False) as store:
        (whole,), (short,) = store.runs(), store.runs(details=False)
        assert store.runs_of([whole.key, "of no run"]) == {whole.key: short}
    assert whole.result.solution is not None
    assert replace(whole.result, solution=None, evaluation=None, trace=()) == short.result


def test_what_runs_have_in_common_is_held_once(tiny, tmp_path):
    path = tmp_path / "runs.sqlite"
    compare([tiny / "e1_co_locate.json"], ["random_placement"], seeds=2, store=path)
    with Store(path, create=False) as store:
        one, other = (run.result for run in store.runs(details=False))
    shared = ("problem", "instance", "fingerprint", "method", "kind", "parameters", "versions")
    assert all(getattr(one, name) is getattr(other, name) for name in shared)


def test_a_claim_keeps_other_clients_away_until_its_client_dies(tmp_path):
    with Store(tmp_path / "runs.sqlite") as one, Store(tmp_path / "runs.sqlite") as other:
        living = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        other._owner = (other._owner[0], living.pid)
        assert other.claim("run")
        assert not one.claim("run")
        living.communicate()
        assert one.claim("run")


def test_a_claim_of_another_host_expires(tmp_path, monkeypatch):
    with Store(tmp_path / "runs.sqlite") as one, Store(tmp_path / "runs.sqlite") as other:
        other._owner = ("elsewhere", 1)
        assert other.claim("run")
        assert not one.claim("run")
        monkeypatch.setattr("gadgetopt.runs.store.CLAIM_S", -1.0)
        other.renew_claims()
        assert one.claim("run")


def test_a_claim_of_another_host_that_lies_in_the_future_is_void(tmp_path, monkeypatch):
    with Store(tmp_path / "runs.sqlite") as one, Store(tmp_path / "runs.sqlite") as other:
        other._owner = ("elsewhere", 1)
        assert other.claim("run")
        # Clocks that differ by seconds do no harm.
        now = time.time()
        monkeypatch.setattr("gadgetopt.runs.store.time.time", lambda: now - 30.0)
        assert not one.claim("run")
        assert one.running() == 1
        # A claim made while a clock was a day ahead does not hold for a day.
        monkeypatch.setattr("gadgetopt.runs.store.time.time", lambda: now - 86_400.0)
        assert one.running() == 0
        assert one.claim("run")


@pytest.mark.parametrize("pid", [2**62, -(2**62), 2**31])
def test_a_claim_of_a_process_that_cannot_be_is_void(tmp_path, pid):
    with Store(tmp_path / "runs.sqlite") as store:
        host, _ = store._owner
        until = time.time() + 30.0
        store._connection.execute(
            "INSERT INTO claims VALUES ('run', ?, ?, ?, 1)", (host, pid, until)
        )
        assert store.claim("run")


def test_a_failure_does_not_replace_what_another_client_finished(tiny, tmp_path):
    path = tmp_path / "runs.sqlite"
    compare([tiny / "e1_co_locate.json"], ["first_fit"], store=path)
    with Store(path) as store:
        (run,) = store.runs()
        row = to_row(run)
        store.add_row({**row, "status": "error", "reason": "crashed"}, keep_finished=True)
        assert store.get(run.key) == run
        store.add_row({**row, "status": "error", "reason": "crashed"})
        assert store.get(run.key).result.reason == "crashed"
        assert store.finished([run.key]) == {run.key}
        assert store.finished([run.key], retry_errors=True) == set()


def test_what_was_interrupted_does_not_replace_what_was_finished(tiny, tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        compare([tiny / "e1_co_locate.json"], ["first_fit"], store=store.path)
        (run,) = store.runs()
        store.add_row({**to_row(run), "limit_hit": "interrupted", "objective": "100"})
        assert store.get(run.key) == run
