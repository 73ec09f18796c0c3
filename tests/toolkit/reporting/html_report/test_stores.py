"""Reports of unusual stores: empty, old, being filled, full of errors."""

import json
import math
import sqlite3
from dataclasses import replace

import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.reporting.html_report import write_report
from gadgetopt.runs.store import Store
from gadgetopt.system.result import Status, TracePoint
from gadgetopt.trust.theorems import Promise

from .conftest import failed, stored, unpacked


@pytest.fixture
def instance(tiny):
    return gadgetopt.read(tiny / "e2_contention_pays.json")


def filled(path, runs, document=None):
    with Store(path) as store:
        if document is not None:
            store.add_instance(document)
        for run in runs:
            store.add(run)
    return path


def test_an_empty_store_makes_a_page_that_says_so(tmp_path, cli):
    store = filled(tmp_path / "runs.sqlite", [])
    code, out, _ = cli("report", store, "--out", tmp_path / "report.html")
    assert code == 0
    assert "0 runs" in out
    assert "no finished run" in (tmp_path / "report.html").read_text()


def test_one_run_makes_a_page(tmp_path, instance):
    store = filled(tmp_path / "runs.sqlite", [stored(instance, "sjf_bco")], instance)
    made = write_report(store, tmp_path / "report.html")
    assert made["runs"] == made["pictures"] == 1
    assert unpacked(tmp_path / "report.html", "data")["columns"]["method"] == ["sjf_bco"]


def test_of_one_instance_ratios_stand_above_what_differs(tmp_path, instance):
    store = filled(tmp_path / "runs.sqlite", [stored(instance, "sjf_bco")], instance)
    write_report(store, tmp_path / "report.html")
    first, *others = unpacked(tmp_path / "report.html", "spec-sjf_bco-columns")["variants"]
    assert first["label"] == "time of the run (s)"
    assert others


def test_a_run_says_what_proved_its_bound(tmp_path, root):
    document = gadgetopt.read(root / "instances/quickstart/knapsack.json")
    run = stored(document, "direct@highs")
    told = {"kind": "tree", "formulation": "direct", "leaves": 1234, "bytes": 5678}
    told |= {"bound": "8222", "prove_s": 0.5, "check_s": 0.025}
    run = replace(run, result=replace(run.result, notes={"nodes": 7, "proof": told}))
    other = stored(document, "greedy")
    other = replace(other, result=replace(other.result, notes={"proof": {"refused": "too long"}}))
    store = filled(tmp_path / "runs.sqlite", [run, other], document)
    write_report(store, tmp_path / "report.html")
    assert unpacked(tmp_path / "report.html", "data")["columns"]["proof"] == [
        "tree proof over direct, 1,234 leaves, 5,678 bytes, found in 0.50 s, checked in 25.0 ms, "
        "proves 8222",
        "refused: too long",
    ]
    assert unpacked(tmp_path / "report.html", "details-0")[0]["notes"] == {"nodes": "7"}


def test_a_store_of_errors_alone_makes_a_page_with_their_reasons(tmp_path, instance):
    runs = [failed(stored(instance, "random_placement", s), "<b>no</b> luck") for s in range(3)]
    store = filled(tmp_path / "runs.sqlite", runs, instance)
    assert write_report(store, tmp_path / "report.html")["pictures"] == 0
    text = (tmp_path / "report.html").read_text()
    assert "3 errors" in text
    assert "&lt;b&gt;no&lt;/b&gt; luck" in text
    assert 'data-name="errors" class="n error">✕ 3</td>' in (tmp_path / "report.html").read_text(
        "utf-8"
    )


def test_what_a_method_refused_is_left_out(tmp_path, instance):
    run = stored(instance, "sjf_bco")
    refused = replace(run, result=replace(run.result, status=Status.NOT_APPLICABLE))
    store = filled(tmp_path / "runs.sqlite", [refused])
    assert write_report(store, tmp_path / "report.html")["runs"] == 0


def test_a_store_without_its_instances_has_no_pictures_and_says_why(tmp_path, instance):
    store = filled(tmp_path / "runs.sqlite", [stored(instance, "sjf_bco")])
    made = write_report(store, tmp_path / "report.html")
    assert (made["runs"], made["pictures"]) == (1, 0)
    (detail,) = unpacked(tmp_path / "report.html", "details-0")
    assert "older gadgetopt" in detail["no_picture"]


def test_a_store_that_another_client_fills_is_read_as_it_is(tmp_path, instance):
    path = filled(tmp_path / "runs.sqlite", [stored(instance, "sjf_bco")], instance)
    with Store(path) as other:
        assert other.claim("a run of the other client's")
        made = write_report(path, tmp_path / "report.html")
        other.add(stored(instance, "first_fit"))
    assert made["runs"] == 1
    assert "1 more" in (tmp_path / "report.html").read_text()
    assert write_report(path, tmp_path / "report.html")["runs"] == 2


def test_runs_under_other_limits_are_other_methods_of_the_report(tmp_path, instance):
    runs = [stored(instance, "sjf_bco", limits=gadgetopt.Limits(time_s=t)) for t in (1.0, 2.0)]
    store = filled(tmp_path / "runs.sqlite", runs, instance)
    write_report(store, tmp_path / "report.html")
    columns = unpacked(tmp_path / "report.html", "data")["columns"]
    assert columns["method"] == ["sjf_bco 1 s", "sjf_bco 2 s"]


def test_a_limit_of_memory_is_told_from_none(tmp_path, instance):
    limits = [gadgetopt.Limits(time_s=1.0, memory_mb=memory) for memory in (None, 500.0)]
    runs = [stored(instance, "sjf_bco", limits=each) for each in limits]
    store = filled(tmp_path / "runs.sqlite", runs, instance)
    write_report(store, tmp_path / "report.html")
    columns = unpacked(tmp_path / "report.html", "data")["columns"]
    assert columns["method"] == ["sjf_bco no memory limit", "sjf_bco 500 MB"]


def test_a_refuted_claim_is_not_held_against_the_proven_theorem(tmp_path, instance):
    run = stored(instance, "sjf_bco")
    claimed = Promise("as printed", "Theorem 1", "claimed", 0.5)
    proven = Promise("repaired", "Theorem 2", "proven", 0.75)
    holds = replace(proven, ratio=2)
    runs = [
        replace(run, key=f"{k:064}", promises=made)
        for k, made in enumerate([(claimed, holds), (claimed, proven), (holds,)])
    ]
    store = filled(tmp_path / "runs.sqlite", runs, instance)
    write_report(store, tmp_path / "report.html")
    columns = unpacked(tmp_path / "report.html", "data")["columns"]
    assert columns["exceeded"] == ["claimed", "proven", None]
    assert columns["theorem"] == [2, 0.75, 2]


def test_numbers_beyond_what_a_browser_holds_are_left_out(tmp_path, instance):
    run = stored(instance, "sjf_bco")
    huge = replace(run, result=replace(run.result, gap=math.inf, objective=10**400))
    store = filled(tmp_path / "runs.sqlite", [huge], instance)
    write_report(store, tmp_path / "report.html")
    columns = unpacked(tmp_path / "report.html", "data")["columns"]
    assert columns["gap"] == columns["objective"] == [None]
    assert columns["low"] == [1]


def test_a_run_that_found_nothing_counts_in_the_median_gap(tmp_path, instance):
    run = stored(instance, "sjf_bco")
    closed = (TracePoint(0.5, run.result.objective, run.result.objective),)
    found = replace(run.result, trace=closed, time_s=0.5)
    nothing = replace(
        found, objective=None, solution=None, status=Status.NO_SOLUTION, trace=(), time_s=1.0
    )
    runs = [replace(run, key=f"{k:064}", result=r) for k, r in enumerate([nothing, found, nothing])]
    store = filled(tmp_path / "runs.sqlite", runs, instance)
    write_report(store, tmp_path / "report.html")
    for variant in unpacked(tmp_path / "report.html", "spec-sjf_bco-gap")["variants"]:
        (curve,) = variant["traces"]
        assert set(curve["y"]) == {1.0}


def test_a_gap_does_not_open_again_where_a_method_begins_its_next_part(tmp_path, instance):
    run = stored(instance, "sjf_bco")
    best = run.result.objective
    trace = ((0.1, 2 * best, best), (0.2, None, None), (0.3, 3 * best, best / 2), (0.4, best, best))
    told = replace(run.result, trace=tuple(TracePoint(*point) for point in trace), time_s=0.4)
    store = filled(tmp_path / "runs.sqlite", [replace(run, result=told)], instance)
    write_report(store, tmp_path / "report.html")
    for variant in unpacked(tmp_path / "report.html", "spec-sjf_bco-gap")["variants"]:
        (curve,) = variant["traces"]
        assert {y for x, y in zip(curve["x"], curve["y"], strict=True) if 0.1 < x < 0.4} == {0.5}
        assert curve["y"][-1] == 0


def test_equal_solutions_share_a_picture_and_the_budget_is_kept(tmp_path, instance):
    runs = [stored(instance, spec) for spec in ("sjf_bco", "first_fit", "list_scheduling")]
    again = replace(runs[0], key="f" * 64, result=replace(runs[0].result, method="same"))
    store = filled(tmp_path / "runs.sqlite", [*runs, again], instance)
    different = len({run.result.solution.model_dump_json() for run in runs})
    assert write_report(store, tmp_path / "a.html")["pictures"] == different
    assert write_report(store, tmp_path / "b.html", pictures=0)["pictures"] == 0
    tight = write_report(store, tmp_path / "c.html", pictures_mb=1e-6)["pictures"]
    assert tight == 1  # the one that passed the limit is kept


def test_a_solver_s_word_is_marked_as_such(tmp_path, instance):
    run = stored(instance, "time_indexed@highs")
    claimed = replace(
        run,
        result=replace(
            run.result, bound=run.result.objective, bound_voucher="solver", certificate=None
        ),
    )
    store = filled(tmp_path / "runs.sqlite", [claimed], instance)
    write_report(store, tmp_path / "report.html")
    assert unpacked(tmp_path / "report.html", "data")["columns"]["rests_on"] == ["solver"]
    assert "(claimed by a solver)" in " ".join((tmp_path / "report.html").read_text().split())


def test_a_run_of_a_store_is_drawn_by_its_key(tmp_path, instance, cli):
    run = stored(instance, "sjf_bco")
    store = filled(tmp_path / "runs.sqlite", [run, failed(run, "no")], instance)
    picture = tmp_path / "picture.json"
    assert cli("plot", store, "--run", run.key[:10], "--out", picture)[0] == 0
    assert json.loads(picture.read_text())["data"]
    code, _, err = cli("plot", store, "--run", "zz", "--out", picture)
    assert code == 2
    assert err == f"gadgetopt: --run: 'zz': no run begins so in {store}\n"
    code, _, err = cli("plot", store, "--run", run.key[::-1], "--out", picture)
    assert code == 2
    assert "has no feasible solution" in err


def test_bad_input_is_one_line(tmp_path, cli):
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE runs (x)")
    for arguments, said in (
        (("none.sqlite",), "none.sqlite: no such store"),
        ((other,), "not a gadgetopt store"),
        ((other, "--out", "page.pdf"), "--out: page.pdf: .pdf, expected .html"),
        ((other, "--pictures", "-1"), "'-1' is not a non-negative integer"),
    ):
        code, _, err = cli("report", *arguments)
        assert code == 2
        assert said in err
        assert err.count("\n") == 1


def test_a_damaged_store_is_one_line(tmp_path, instance, cli):
    run = stored(instance, "sjf_bco")
    runs = [replace(run, key=f"{k:064}") for k in range(40)]
    store = filled(tmp_path / "runs.sqlite", runs, instance)
    whole = store.read_bytes()
    store.write_bytes(whole[: len(whole) // 2] + bytes(len(whole) - len(whole) // 2))
    code, _, err = cli("report", store, "--out", tmp_path / "report.html")
    assert code == 2
    assert err.startswith(f"gadgetopt: {store}: cannot be used as a store")
    assert err.count("\n") == 1
    assert not (tmp_path / "report.html").exists()


def test_a_page_that_cannot_be_written_is_one_line(tmp_path):
    store = filled(tmp_path / "runs.sqlite", [])
    with pytest.raises(InputError, match="cannot be written"):
        write_report(store, store / "report.html")  # a file in the place of the folder
