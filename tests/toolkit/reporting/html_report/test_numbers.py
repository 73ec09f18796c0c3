"""The numbers that figures draw agree with the store: the page's JSON against SQL."""

import json
import math
import sqlite3
import statistics
from collections import defaultdict
from fractions import Fraction

import pytest

from .conftest import unpacked

# The best objective and the best bound of every instance, written without the code under test.
RUNS = """
WITH known AS (
    SELECT fingerprint, min(number(objective)) AS least, max(number(objective)) AS most,
           min(number(bound)) AS least_bound, max(number(bound)) AS most_bound
    FROM runs WHERE status <> 'error' GROUP BY fingerprint
)
SELECT runs.*, number(objective) AS value,
       CASE problem WHEN 'sjf_bco' THEN number(objective) / least
                    ELSE most / number(objective) END AS low,
       CASE problem WHEN 'sjf_bco' THEN number(objective) / most_bound
                    ELSE least_bound / number(objective) END AS high,
       CASE problem WHEN 'sjf_bco' THEN least ELSE most END AS best,
       CASE problem WHEN 'sjf_bco' THEN most_bound ELSE least_bound END AS best_bound
FROM runs JOIN known USING (fingerprint) WHERE NOT refused ORDER BY runs.rowid
"""


def number(text):
    return None if text is None else float(Fraction(text))


@pytest.fixture(scope="module")
def runs(thousand):
    with sqlite3.connect(thousand) as connection:
        connection.row_factory = sqlite3.Row
        connection.create_function("number", 1, number)
        rows = [dict(row) for row in connection.execute(RUNS)]
    assert len(rows) == 1000
    return rows


@pytest.fixture(scope="module")
def keys(page):
    """The beginning of the key of every run, in the order that figures count them by."""
    return unpacked(page, "data")["columns"]["key"]


SYSTEMS = ("sjf_bco", "knapsack")


def of(runs, system):
    return [run for run in runs if run["problem"] == system]


def certified(run):
    return run["high"] is not None and math.isclose(run["low"], run["high"], rel_tol=1e-9)


def drawn_runs(variant, keys):
    """Yield key, trace and place of every mark that stands for a run."""
    for trace in variant["traces"]:
        if trace.get("hoverinfo") != "skip":
            for k, i in enumerate(trace.get("customdata", ())):
                yield keys[i], trace, k


def marks_are_the_ratios(variant, keys, runs, along, other):
    """Check position along the axis of ratios, intervals and hollow marks; return the marks."""
    expected = {run["key"][: len(keys[0])]: run for run in runs if run["low"] is not None}
    found = {key: (trace, k) for key, trace, k in drawn_runs(variant, keys)}
    assert found.keys() == expected.keys()
    for key, (trace, k) in found.items():
        run = expected[key]
        assert trace["meta"] == run["method"]
        assert trace[along][k] == pytest.approx(run["low"])
        assert trace["marker"]["symbol"].endswith("-open") != certified(run)
        if not certified(run):
            width = 0 if run["high"] is None else run["high"] - run["low"]
            assert trace[f"error_{along}"]["array"][k] == pytest.approx(width, abs=1e-8)
    return {key: trace[other][k] for key, (trace, k) in found.items()}, expected


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_strip_shows_every_ratio_of_the_store(page, runs, keys, system):
    variant = unpacked(page, f"spec-{system}-ratios")["variants"][0]
    marks_are_the_ratios(variant, keys, of(runs, system), "x", "y")
    assert all(trace["name"] == trace["meta"] for trace in variant["traces"])


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_theorem_is_one_band_from_its_least_to_its_largest_ratio(page, runs, system):
    variants = unpacked(page, f"spec-{system}-ratios")["variants"]
    told = defaultdict(list)
    for run in of(runs, system):
        ratios = defaultdict(list)
        for p in json.loads(run["promises"]):
            if p["ratio"] is not None and not p["failing"]:
                ratios[p["standing"]].append(number(p["ratio"]))
        for standing, own in ratios.items():
            if min(own) <= 1000:  # others are vacuous
                told[run["method"], standing].append(min(own))
    shown = defaultdict(dict)
    for trace in variants[-1]["traces"]:
        if trace["name"] != trace["meta"]:
            key = trace["meta"], trace["name"].split(",")[0]
            shown[key][trace["mode"]] = trace["x"]
    rated = {run["method"] for run in of(runs, system) if run["low"] is not None}
    assert shown.keys() == {key for key in told if key[0] in rated}
    for key, drawn in shown.items():
        assert drawn["markers"] == pytest.approx([statistics.median(told[key])], rel=1e-6)
        ends = [min(told[key]), max(told[key])]
        assert drawn.get("lines", 2 * drawn["markers"]) == pytest.approx(ends, rel=1e-6)


@pytest.mark.parametrize("system", SYSTEMS)
def test_boxes_hold_the_certified_ratios(page, runs, system):
    variant = unpacked(page, f"spec-{system}-ratios")["variants"][0]
    for trace in variant["traces"]:
        if trace["type"] == "box":
            own = [
                r["low"]
                for r in of(runs, system)
                if r["method"] == trace["meta"] and r["low"] is not None and certified(r)
            ]
            assert sorted(trace["x"]) == pytest.approx(sorted(own))


@pytest.mark.parametrize("system", SYSTEMS)
def test_ratios_stand_above_the_size_and_features_of_their_instances(
    page, runs, keys, system, thousand
):
    with sqlite3.connect(thousand) as connection:
        told = {
            fingerprint: {**json.loads(size), **json.loads(features)}
            for fingerprint, size, features in connection.execute(
                "SELECT fingerprint, size, features FROM instances"
            )
        }
    variants = unpacked(page, f"spec-{system}-columns")["variants"]
    names = {name.replace("_", " "): name for columns in told.values() for name in columns}
    own = {name for run in of(runs, system) for name in told[run["fingerprint"]]}
    noted = {
        run["key"]: {
            name.replace("_", " "): x
            for name, x in json.loads(run["notes"]).items()
            if isinstance(x, float)
        }
        for run in of(runs, system)
    }
    measures = {name for notes in noted.values() for name in notes}
    assert {v["label"] for v in variants} == {n.replace("_", " ") for n in own} | measures | {
        "time of the run (s)"
    }
    for variant in variants:
        having = [
            run
            for run in of(runs, system)
            if variant["label"] not in measures or variant["label"] in noted[run["key"]]
        ]
        marks, expected = marks_are_the_ratios(variant, keys, having, "y", "x")
        for key, x in marks.items():
            run = expected[key]
            column = names.get(variant["label"])
            true = run["time_s"] if column is None else told[run["fingerprint"]][column]
            assert x == pytest.approx(noted[run["key"]].get(variant["label"], true))


def check_profile(variant, runs, cost, skip_empty=True):
    """Recompute, at every step of every curve, the share of instances reached by then."""
    instances = {run["fingerprint"] for run in runs if run["objective"] is not None}
    groups = defaultdict(list)
    for run in runs:
        groups[run["method"], run["fingerprint"]].append(cost(run))
    methods = {m for (m, _), costs in groups.items() if any(c is not None for c in costs)}
    assert {trace["meta"] for trace in variant["traces"]} == methods
    for trace in variant["traces"]:
        for x, y in zip(trace["x"], trace["y"], strict=True):
            share = 0.0
            for (method, _), costs in groups.items():
                if method == trace["meta"]:
                    within = sum(c is not None and c <= x * (1 + 1e-6) for c in costs)
                    share += within / len(costs) / len(instances)
            assert y == pytest.approx(share) or (x == trace["x"][0] and y == 0)


@pytest.mark.parametrize("system", SYSTEMS)
def test_quality_profiles_count_the_ratios_of_the_store(page, runs, system):
    known, proved = unpacked(page, f"spec-{system}-quality")["variants"]
    check_profile(known, of(runs, system), lambda run: run["low"])
    check_profile(proved, of(runs, system), lambda run: run["high"] if run["low"] else None)


def test_time_profiles_count_the_proofs_of_the_store(page, runs):
    own = of(runs, "knapsack")
    spent = lambda run: max(run["time_s"], 0.001) if run["status"] == "optimal" else None  # noqa: E731
    fastest = defaultdict(lambda: math.inf)
    for run in own:
        fastest[run["fingerprint"]] = min(fastest[run["fingerprint"]], spent(run) or math.inf)
    (variant,) = unpacked(page, "spec-knapsack-time")["variants"]
    check_profile(variant, own, lambda run: spent(run) and spent(run) / fastest[run["fingerprint"]])


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_last_step_of_a_curve_is_inside_the_axis(page, system):
    for name in ("quality", "target"):
        for variant in unpacked(page, f"spec-{system}-{name}")["variants"]:
            axis = variant["layout"]["xaxis"]
            end = 10 ** axis["range"][1] if axis.get("type") == "log" else axis["range"][1]
            for trace in variant["traces"]:
                assert trace["x"][-1] == pytest.approx(end)
                assert trace["x"][-2] < end
                assert trace["y"][-1] == trace["y"][-2]


@pytest.mark.parametrize("system", SYSTEMS)
def test_times_to_target_are_those_of_the_traces(page, runs, system):
    variants = unpacked(page, f"spec-{system}-target")["variants"]
    for variant, target in zip(variants, (0, 0.01, 0.05, 0.1), strict=True):

        def reached(run, target=target):
            if run["objective"] is None:
                return None
            for time_s, incumbent, _ in json.loads(run["trace"]):
                value = number(incumbent)
                if value is not None and abs(value - run["best"]) <= (target + 1e-9) * run["best"]:
                    return max(time_s, 0.001)
            return None

        check_profile(variant, of(runs, system), reached)


@pytest.mark.parametrize("system", SYSTEMS)
def test_gaps_over_time_are_medians_over_the_traces(page, runs, system):
    variants = unpacked(page, f"spec-{system}-gap")["variants"]
    assert len(variants) == (2 if system == "knapsack" else 1)  # none of sjf_bco's has a bound

    def at(run, moment, best):
        gap = 1.0
        for time_s, incumbent, bound in json.loads(run["trace"]):
            if time_s <= moment * (1 + 1e-9):
                value, other = number(incumbent), best if best is not None else number(bound)
                known = value is not None and other is not None
                gap = min(1, abs(value - other) / max(abs(value), 1e-10)) if known else 1.0
        return gap

    for variant, best in zip(variants, (True, False), strict=False):
        assert variant["traces"]
        for trace in variant["traces"]:
            own = [
                run
                for run in of(runs, system)
                if run["method"] == trace["meta"]
                and run["status"] != "error"
                and any(incumbent for _, incumbent, _ in json.loads(run["trace"]))
                and (best or run["bound"] is not None)
            ]
            for x, y in list(zip(trace["x"], trace["y"], strict=True))[::7]:
                gaps = [at(run, x, run["best_bound"] if best else None) for run in own]
                assert y == pytest.approx(statistics.median(gaps), abs=1e-6)


def test_the_table_holds_what_the_store_holds(page, runs, keys):
    columns = unpacked(page, "data")["columns"]
    by_key = {run["key"][: len(keys[0])]: run for run in runs}
    assert len(set(keys)) == len(keys) == len(by_key)
    for i, key in enumerate(keys):
        run = by_key[key]
        assert columns["instance"][i] == run["instance"]
        assert columns["method"][i] == run["method"]
        assert columns["seed"][i] == run["seed"]
        assert columns["objective"][i] == (run["value"] if run["value"] is not None else None)
        assert columns["bound"][i] == number(run["bound"])
        assert columns["time_s"][i] == pytest.approx(run["time_s"], rel=1e-4)
        assert (columns["status"][i] == "error") == (run["status"] == "error")
        for end in ("low", "high"):
            true = run[end] if run["value"] is not None else None
            assert columns[end][i] == (None if true is None else pytest.approx(true))


def test_details_of_a_run_are_those_of_the_store(page, runs, keys):
    told = unpacked(page, "details-0")
    by_key = {run["key"]: run for run in runs}
    assert len(told) == 50
    for detail in told:
        run = by_key[detail["key"]]
        assert detail["fingerprint"] == run["fingerprint"]
        assert detail.get("reason") == run["reason"]
        trace = [[t, number(i), number(b)] for t, i, b in json.loads(run["trace"])]
        for shown, true in zip(detail.get("trace", []), trace, strict=True):
            assert shown == [x if x is None else pytest.approx(x, rel=1e-6) for x in true]
