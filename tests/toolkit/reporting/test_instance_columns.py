"""Ratios with size and feature columns: joined by the instance's data, not by its name."""

import csv
import io
import json
import sqlite3
from dataclasses import replace

import pytest

from gadgetopt.reporting.instance_columns import (
    columns,
    columns_of_origins,
    instance_rows,
    joined,
    parameter_columns,
)
from gadgetopt.reporting.tables import THEOREM_KEYS
from gadgetopt.runs.comparison import ROW_KEYS, compare
from gadgetopt.runs.origins import Origin, origin_of
from gadgetopt.runs.store import Store, StoredInstance
from gadgetopt.system.features import features_of
from gadgetopt.system.files import library, read_instance, write
from gadgetopt.system.generation import parse_series, write_series

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
        assert filled_in == size | own  # files by hand have no generator


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
    rows, keys = joined([{"x": 1}, {"x": 2}], ["a", "b"], ("x",), columns_of_origins(known))
    assert columns(known) == {"a": {"size_items": 3, "feature_load": 0.5}}
    assert keys == ("x", "size_items", "feature_load")
    assert rows == [
        {"x": 1, "size_items": 3, "feature_load": 0.5},
        {"x": 2, "size_items": None, "feature_load": None},
    ]
    assert instance_rows(["a", "a", "b"], known) == {
        "toy": [{"instance": "one", "items": 3, "load": 0.5}]
    }


# -- parameters of generators ----------------------------------------------------------------------


def rows(cli, store):
    code, out, err = cli("ratios", store, "--features", "--json")
    assert code == 0, err
    return json.loads(out)


def test_parameters_are_columns_with_their_defaults_and_the_seed(cli, tmp_path):
    files = write_series(
        parse_series("sjf_bco:mini_paper:jobs=[3,4]:count=2:seed=5", "x"), tmp_path
    )
    compare(files, ["first_fit"], store=tmp_path / "s.sqlite", workers=0)
    assert [
        tuple(
            row[name]
            for name in (
                *("preset", "instance_seed", "instance_index"),
                *("param_jobs", "param_servers", "param_horizon_slots"),
            )
        )
        for row in rows(cli, tmp_path / "s.sqlite")
    ] == [("mini_paper", 5, index, jobs, 4, 600) for jobs in (3, 4) for index in (0, 1)]


def test_an_instance_that_two_values_give_has_a_row_for_each(cli, tmp_path):
    one = read_instance(PATHS[0])
    files = []
    for value in (1, 2, 2):
        origin = {"generator": "paper", "parameters": {"x": value, "list": [1, 2]}, "seed": 0}
        files.append(tmp_path / f"x={value}_{len(files)}.json")
        write(replace(one, name=files[-1].stem, origin=origin), files[-1])
    store = tmp_path / "s.sqlite"
    for part in (files[:1], files):  # the second time everything is in the store
        compare(part, ["first_fit"], store=store, workers=0)
    found = [(row["instance"], row["param_x"], row["param_list"]) for row in rows(cli, store)]
    assert found == [("x=1_0", 1, "[1, 2]"), ("x=2_1", 2, "[1, 2]")]
    with Store(store, create=False) as runs:
        assert len(runs.runs()) == 1
        (instance,) = runs.instances().values()
    assert [(o.name, o.parameters["x"]) for o in instance.origins] == [
        ("x=1_0", 1),
        ("x=2_1", 2),
        ("x=2_2", 2),
    ]


@pytest.mark.parametrize("read_only", [True, False])
def test_a_store_of_the_fourth_version_has_the_origins_of_its_documents(read_only, tmp_path):
    (file,) = write_series(parse_series("sjf_bco:quickstart:jobs=3", "x"), tmp_path)
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        store.add_instance(read_instance(file))
        store.add_instance(read_instance(PATHS[0]))
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE origins")
        connection.execute("ALTER TABLE runs DROP COLUMN sense")
        connection.execute("PRAGMA user_version = 4")
        connection.execute(
            "INSERT INTO instances VALUES ('f', 'sjf_bco', 'damaged', '{}', '{}', 'no JSON')"
        )
    connection.close()
    with Store(path, create=not read_only) as store:
        known = store.instances()
    assert [i.origins for i in known.values() if i.name != "e1_co_locate"] == [
        (Origin(file.stem, "quickstart", 0, 0, {"jobs": 3}),),
        (),
    ]


def test_imported_instances_have_the_options_of_the_import():
    origin = origin_of("a", {"format": "philly", "options": {"jobs": 4, "sizes": "paper"}})
    assert parameter_columns(origin) == {"param_jobs": 4, "param_sizes": "paper"}
    assert origin.preset == "philly"
    assert origin_of("b", {"parameters": 3, "generator": {}, "seed": True}) == Origin("b")
