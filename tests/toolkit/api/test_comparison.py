"""What `compare` returns."""

import gc

import pytest

import gadgetopt
from gadgetopt.api.comparison import Comparison, ratio_figure
from gadgetopt.runs.comparison import ROW_KEYS


@pytest.fixture(scope="module")
def table(tiny):
    return gadgetopt.compare(tiny, ["first_fit", "ladder"], workers=0, time_limit=20)


def test_it_is_a_sequence_of_entries(table):
    assert isinstance(table, Comparison)
    assert len(table) == len(list(table)) == 12
    assert table[0] is next(iter(table))
    assert [e.result.method for e in table[:2]] == ["first_fit", "ladder"]


def test_frame_has_the_columns_of_the_table_and_of_the_instances(table):
    frame = table.frame
    assert list(frame.columns[: len(ROW_KEYS)]) == list(ROW_KEYS)
    assert frame.size_jobs.notna().all()
    assert frame.feature_load.notna().all()
    assert list(frame.objective) == [entry.row()["objective"] for entry in table]


def test_it_shows_itself_in_one_line_and_as_a_table(table):
    assert repr(table) == "<Comparison: 12 runs, 2 methods, 6 instances>"
    assert str(table).startswith(repr(table))
    assert "e4a_three_jobs" in str(table)
    assert all(len(line) <= 160 for line in str(table).splitlines())


def test_the_figure_has_a_row_per_method(table):
    figure = ratio_figure(table)
    assert [trace.y[0] for trace in figure.data] == ["ladder", "first_fit"]
    assert ratio_figure([]) is None


def test_its_report_is_written(table, tmp_path):
    path = table.report(tmp_path / "page.html")
    assert "<title>Comparison" in path.read_text()


def test_runs_that_nobody_keeps_are_deleted_with_it(tiny):
    table = gadgetopt.compare(tiny / "e1_co_locate.json", "first_fit", workers=0)
    store = table.store
    assert store.is_file()
    del table
    gc.collect()
    assert not store.exists()


def test_ratios_of_a_store_is_the_same(table, tiny, tmp_path):
    store = tmp_path / "runs.sqlite"
    made = gadgetopt.compare(tiny, ["first_fit"], workers=0, store=store)
    read = gadgetopt.ratios(store)
    assert [e.row() for e in read] == [e.row() for e in made]
    assert list(read.frame.columns) == list(made.frame.columns)
    assert store.is_file()


def test_an_entry_of_a_comparison_can_be_drawn(table):
    assert gadgetopt.plot(table[0].result).data


def test_its_summary_is_that_of_its_runs(table):
    frame = table.summary(by="size_jobs", methods=["first_fit"])
    assert set(frame.method) == {"first_fit"}
    assert frame.runs.sum() == 6
    assert gadgetopt.summary(table).equals(table.summary())


def test_a_notebook_reads_what_was_found(table):
    assert "first_fit" in table._repr_html_().split("<table")[0]
