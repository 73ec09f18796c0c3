"""Ratios with size and feature columns: joined by the instance's data, not by its name."""

import csv
import io
import json

import pytest

from gadgetopt.reporting.instance_columns import columns, instance_rows, joined
from gadgetopt.reporting.tables import THEOREM_KEYS
from gadgetopt.runs.comparison import ROW_KEYS
from gadgetopt.runs.store import Store, StoredInstance
from gadgetopt.system.features import features_of
from gadgetopt.system.files import library, read_instance

PATHS = [
    library() / "sjf_bco" / "tiny" / "e1_co_locate.json",
    library() / "knapsack" / "tiny" / "e6_two_rows.json",
]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A store with a run and the columns of both instances, of two systems."""
    from gadgetopt.runs.rows import StoredRun, run_key
    from gadgetopt.system.methods import find_method
    from gadgetopt.system.result import Limits
    from gadgetopt.trust.run import solve

    path = tmp_path_factory.mktemp("store") / "runs.sqlite"
    with Store(path) as store:
        for file, method in zip(PATHS, ("first_fit", "greedy"), strict=True):
            document = read_instance(file)
            result = solve(document, method)
            key = run_key(
                document.fingerprint, find_method(document.problem, method), Limits(), 0, "1"
            )
            store.add_instance(document)
            store.add(StoredRun(key, result, (), Limits(), "1"))
    return path


def test_every_row_has_all_columns_and_those_of_its_instance_are_filled(cli, filled):
    code, out, _ = cli("ratios", filled, "--features", "--json")
    assert code == 0
    rows = json.loads(out)
    for row, path in zip(rows, PATHS, strict=True):
        assert tuple(row) == tuple(rows[0])
        assert tuple(row)[: len(ROW_KEYS)] == ROW_KEYS
        document = read_instance(path)
        size = {f"size_{k}": v for k, v in document.problem.size(document.data).items()}
        own = {f"feature_{k}": v for k, v in features_of(document.problem, document.data).items()}
        filled_in = {k: row[k] for k in tuple(row)[len(ROW_KEYS) :] if row[k] is not None}
        assert filled_in == size | own


@pytest.mark.parametrize("form", ["csv", "latex"])
def test_other_formats_have_the_columns_too(cli, filled, form):
    out = cli("ratios", filled, "--features", "--format", form)[1]
    if form == "csv":
        first = next(csv.DictReader(io.StringIO(out)))
        assert float(first["feature_contention_slowdown"]) == 3
    else:
        assert "feature\\_contention\\_slowdown" in out


def test_parquet_has_the_columns_too(cli, filled, tmp_path):
    pytest.importorskip("pyarrow")
    import pandas as pd

    path = tmp_path / "ratios.parquet"
    assert cli("ratios", filled, "--features", "--format", "parquet", "--out", path)[0] == 0
    assert pd.read_parquet(path)["feature_contention_slowdown"][0] == 3


def test_the_terminal_shows_ratios_first_and_then_each_instance_once(cli, filled):
    out = cli("ratios", filled, "--features")[1]
    assert out.index("dual bound") < out.index("sjf_bco: size and features")
    assert out.index("sjf_bco: size and features") < out.index("knapsack: size and features")


def test_theorems_can_have_the_columns_too(cli, filled):
    rows = json.loads(cli("ratios", filled, "--features", "--theorems", "--json")[1])
    assert all(tuple(row)[: len(THEOREM_KEYS)] == THEOREM_KEYS for row in rows)


def test_an_instance_the_store_does_not_know_has_empty_columns():
    known = {"a": StoredInstance("a", "toy", "one", {"items": 3}, {"load": 0.5})}
    rows, keys = joined([{"x": 1}, {"x": 2}], ["a", "b"], ("x",), columns(known))
    assert keys == ("x", "size_items", "feature_load")
    assert rows == [
        {"x": 1, "size_items": 3, "feature_load": 0.5},
        {"x": 2, "size_items": None, "feature_load": None},
    ]
    assert instance_rows(["a", "a", "b"], known) == {
        "toy": [{"instance": "one", "items": 3, "load": 0.5}]
    }
