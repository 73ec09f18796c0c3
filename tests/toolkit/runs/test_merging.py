"""Stores of a campaign on several machines become one."""

import json
import sqlite3
from dataclasses import replace

import pytest

from gadgetopt.runs.comparison import compare
from gadgetopt.runs.merging import Merged, merge
from gadgetopt.runs.store import Store
from gadgetopt.system.result import Limits, Voucher

FIRST, SECOND = "e1_co_locate.json", "e2_contention_pays.json"


def done(tiny, path, names, methods, seeds=2):
    files = [tiny / name for name in names]
    compare(files, methods, limits=Limits(60.0), seeds=seeds, store=path, workers=0)
    return path


def merged(into, *paths):
    with Store(into) as store:
        sources = [Store(path, create=False) for path in paths]
        try:
            return merge(store, sources)
        finally:
            for source in sources:
                source.__exit__()


def everything(path):
    with Store(path, create=False) as store:
        return {run.key: run for run in store.runs()}, store.instances()


@pytest.fixture
def parts(tiny, tmp_path):
    a = done(tiny, tmp_path / "a.sqlite", [FIRST], ["first_fit", "random_placement"])
    b = done(tiny, tmp_path / "b.sqlite", [FIRST, SECOND], ["random_placement"])
    return a, b


def test_the_runs_and_instances_of_all_stores_are_there_once(parts, tmp_path):
    whole = tmp_path / "all.sqlite"
    assert merged(whole, *parts) == Merged(added=5, kept=2)
    runs, instances = everything(whole)
    of_parts = [everything(path) for path in parts]
    assert runs.keys() == of_parts[0][0].keys() | of_parts[1][0].keys()
    for own, _ in of_parts:
        for key, run in own.items():
            assert runs[key].result.solution == run.result.solution
            assert runs[key].result.objective == run.result.objective
    assert instances.keys() == of_parts[1][1].keys()
    assert merged(whole, *parts) == Merged(kept=7)


def test_runs_are_listed_in_the_order_of_the_stores(parts, tmp_path):
    whole = tmp_path / "all.sqlite"
    merged(whole, *parts)
    keys = [key for path in parts for key in everything(path)[0]]
    assert list(everything(whole)[0]) == list(dict.fromkeys(keys))


def test_a_comparison_goes_on_with_what_was_merged(parts, tiny, tmp_path):
    whole = tmp_path / "all.sqlite"
    merged(whole, *parts)
    done(tiny, whole, [FIRST, SECOND], ["first_fit", "random_placement"])
    assert len(everything(whole)[0]) == 6


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        ("status = 'error', reason = 'x', objective = NULL", 2),
        ("limit_hit = 'interrupted'", 2),
        ("bound = '1', bound_voucher = 'solver'", 0),
    ],
)
def test_a_run_that_did_not_finish_gives_way_to_one_that_did(parts, tmp_path, spoil, expected):
    a, b = parts
    with sqlite3.connect(a) as connection:
        connection.execute(f"UPDATE runs SET {spoil} WHERE method = 'random_placement'")
    connection.close()
    found = merged(tmp_path / "all.sqlite", a, b)
    assert (found.replaced, found.kept) == (expected, 2 - expected)
    assert merged(tmp_path / "other.sqlite", b, a).replaced == 2 - expected


def test_a_stronger_voucher_wins(parts, tmp_path):
    a, b = parts
    with Store(b) as store:
        run = next(run for run in store.runs() if run.result.instance == "e1_co_locate")
        result = replace(run.result, bound=1, bound_voucher=Voucher.VERIFIED)
        store.add(replace(run, result=result))
    whole = tmp_path / "all.sqlite"
    assert merged(whole, a, b).replaced == 1
    assert everything(whole)[0][run.key].result.bound_voucher is Voucher.VERIFIED


def test_the_command_says_what_it_did(parts, cli, tmp_path):
    whole = tmp_path / "all.sqlite"
    code, out, _ = cli("merge", *parts, "--into", whole)
    assert (code, out) == (0, f"{whole}: 5 runs added, 0 replaced, 2 known before\n")
    found = json.loads(cli("merge", parts[0], "--into", whole, "--json")[1])
    assert found == {"store": str(whole), "added": 0, "replaced": 0, "kept": 3, "damaged": 0}


def test_mistakes_have_their_line(parts, cli, tmp_path):
    code, _, err = cli("merge", *parts, "--into", parts[0])
    assert (code, err) == (
        2,
        f"gadgetopt: merge: {parts[0]}: is also one of the stores to read\n",
    )
    code, _, err = cli("merge", tmp_path / "none.sqlite", "--into", tmp_path / "all.sqlite")
    assert (code, err) == (2, f"gadgetopt: {tmp_path / 'none.sqlite'}: no such store\n")
    assert not (tmp_path / "all.sqlite").exists()


def test_a_damaged_run_is_left_out_and_the_others_are_merged(parts, tmp_path):
    a, b = parts
    with sqlite3.connect(b) as connection:
        connection.execute(
            "UPDATE runs SET instance = cast(x'ff' AS TEXT) WHERE instance = 'e2_contention_pays'"
        )
    connection.close()
    assert merged(tmp_path / "all.sqlite", a, b) == Merged(added=3, kept=2, damaged=2)
