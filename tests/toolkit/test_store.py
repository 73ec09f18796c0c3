"""The store: what goes in comes out, and a foreign file is never touched."""

import json
import sqlite3
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.cli.comparing import print_table
from gadgetopt.comparison import compare
from gadgetopt.errors import InputError
from gadgetopt.report import ratios
from gadgetopt.result import Limits
from gadgetopt.store import SCHEMA_VERSION, Store, decode_number, encode_number


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
    assert [e.result.solution for e in again] == [e.result.solution for e in table]
    assert [e.promises for e in again] == [e.promises for e in table]
    assert again[0].result.evaluation == table[0].result.evaluation


def test_a_finished_run_is_not_repeated_and_a_rerun_is(tiny, tmp_path):
    store, done = tmp_path / "runs.sqlite", []
    count = lambda result, *_: done.append(result.method)  # noqa: E731
    for _ in range(2):
        compare([tiny], ["first_fit"], store=store, on_result=count)
    assert len(done) == len(list(tiny.glob("*.json")))
    compare([tiny / "e1_co_locate.json"], ["first_fit"], store=store, rerun=True, on_result=count)
    assert len(done) == len(list(tiny.glob("*.json"))) + 1


def test_an_error_is_tried_again(tiny, tmp_path, monkeypatch):
    store, path = tmp_path / "runs.sqlite", [tiny / "e1_co_locate.json"]
    with monkeypatch.context() as broken:
        broken.setattr("gadgetopt.models.sjf_bco.algorithms.run", None)
        assert compare(path, ["sjf_bco"], store=store)[0].result.status == "error"
    assert compare(path, ["sjf_bco"], store=store)[0].result.objective == 2


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
        store.connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    with pytest.raises(InputError, match="newer gadgetopt"):
        Store(path)


def test_a_missing_store_is_not_made_by_reading_it(tmp_path):
    with pytest.raises(InputError, match="no such store"):
        ratios(tmp_path / "none.sqlite")
    assert not (tmp_path / "none.sqlite").exists()
