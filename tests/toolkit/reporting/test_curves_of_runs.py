"""Runs against a column of their instances: medians, bands, and what is not known."""

import json
import math
import statistics
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.reporting.curves_of_runs import plot_runs, quantile
from gadgetopt.runs.comparison import compare
from gadgetopt.runs.origins import Origin
from gadgetopt.runs.store import StoredInstance
from gadgetopt.system.generation import parse_series, write_series
from gadgetopt.system.result import Status

from .entries_of import result, table

pytestmark = pytest.mark.usefixtures("in_this_process")


@given(st.lists(st.integers(-9, 9), min_size=1), st.sampled_from([0.25, 0.5, 0.75]))
def test_quantiles_are_those_of_numpy(values, share):
    assert math.isclose(quantile(values, share), np.quantile(values, share), abs_tol=1e-12)


def test_a_quantile_is_infinite_only_if_it_needs_what_is_unknown():
    assert quantile([1, 2, math.inf], 0.5) == 2
    assert quantile([1, math.inf], 0.5) == math.inf
    assert quantile([math.inf] * 2, 0.5) == math.inf


def swept(bounds=(4, 4, 4, 2, 2, None), values=(0.1, 0.2), systems=("sjf_bco",)):
    """Six instances for each value; method `own` is one worse than `best` on each."""
    results, stored = [], {}
    for system in systems:
        for value in values:
            for k, bound in enumerate(bounds):
                name = f"x={value}_{k}"
                own = [
                    result(name, "own", objective=5 + k, system=system, time_s=k),
                    result(name, "best", objective=4 + k, system=system),
                    result(name, "bound", "relaxation", None, bound, system=system),
                ]
                results += own
                where = own[0].fingerprint
                origin = Origin(name, "paper", 0, k, {"x": value, "rule": f"r{value}"})
                stored[where] = StoredInstance(where, system, name, {}, {}, (origin,))
    entries = table(results)
    return [replace(e, stored=stored[e.result.fingerprint]) for e in entries]


def line(figure, name):
    (found,) = [t for t in figure.data if t.name == name and t.showlegend is not False]
    return found


def test_the_line_is_the_median_of_upper_ends_and_the_thin_one_of_lower_ends():
    entries = swept()
    figure = plot_runs(entries, "param_x")
    own = [
        e
        for e in entries
        if e.result.method == "own" and e.stored.origins[0].parameters["x"] == 0.1
    ]
    highs = [math.inf if e.ratio.high is None else float(e.ratio.high) for e in own]
    lows = [float(e.ratio.low) for e in own]
    assert list(line(figure, "own").x) == [0.1, 0.2]
    assert line(figure, "own").y[0] == statistics.median(highs)
    (thin,) = [t for t in figure.data if t.name == "own" and t.showlegend is False]
    assert thin.y[0] == statistics.median(lows)
    text = figure.layout.annotations[0].text
    assert "band: lower to upper quartile of 6 runs" in text
    assert "Ratios are intervals: line and band of upper ends, thin line: of lower ends" in text
    assert "4 runs without an upper end" in text  # two values, two methods
    assert not any(t.name == "bound" for t in figure.data)  # a relaxation has no ratio


def test_the_line_is_broken_where_half_of_the_ratios_have_no_bound():
    figure = plot_runs(swept(bounds=(4, None, None)), "param_x")
    assert list(line(figure, "own").y) == [None, None]
    drawn = json.loads(figure.to_json())
    assert "Infinity" not in json.dumps(drawn)


def test_closed_ratios_need_no_second_line():
    figure = plot_runs(swept(bounds=(4, 5, 6)), "param_x")
    assert [t.name for t in figure.data if t.name] == ["own", "best"]
    assert "interval" not in figure.layout.annotations[0].text


def test_other_columns_and_groups():
    figure = plot_runs(swept(), "instance_index", "time_s", "param_x", methods=["own"])
    assert list(line(figure, "x 0.1").y) == [0, 1, 2, 3, 4, 5]
    assert {t.name for t in figure.data if t.name} == {"x 0.1", "x 0.2"}
    texts = plot_runs(swept(), "param_rule", "objective", methods=["own"])
    assert list(line(texts, "own").x) == ["r0.1", "r0.2"]
    assert texts.layout.xaxis.type == "category"
    assert line(texts, "own").y[0] == statistics.median(range(5, 11))


def test_runs_without_a_value_are_counted():
    entries = swept(bounds=(4, 4))
    failed = result("x=0.1_0", "own", status=Status.ERROR, reason="it broke")
    entries += [replace(table([failed])[0], stored=entries[0].stored)]
    text = plot_runs(entries, "param_x").layout.annotations[0].text
    assert "Left out: 1 run without approximation ratio" in text


def test_many_values_with_few_runs_each_are_joined_in_ranges():
    values = tuple(k / 10 for k in range(40))
    figure = plot_runs(swept(bounds=(4,), values=values), "param_x", methods=["own"])
    assert len(line(figure, "own").x) == 8
    assert "Runs joined in ranges of x" in figure.layout.annotations[0].text


def test_each_system_is_a_part_of_the_figure_and_a_method_looks_alike_in_all():
    figure = plot_runs(swept(systems=("sjf_bco", "smd")), "param_x")
    drawn = [t for t in figure.data if t.hovertext]
    assert [(t.name, t.xaxis) for t in drawn] == [
        ("own", "x"),
        ("best", "x"),
        ("own", "x2"),
        ("best", "x2"),
    ]
    assert drawn[0].line.color == drawn[2].line.color != drawn[1].line.color
    assert [t.showlegend for t in drawn] == [None, None, False, False]
    assert [a.text for a in figure.layout.annotations[:2]] == ["sjf_bco", "smd"]
    assert figure.layout.annotations[2].name == "note"
    assert figure.layout.xaxis2.title.text == "x"


def test_systems_that_are_curves_share_one_part():
    figure = plot_runs(swept(systems=("sjf_bco", "smd")), "param_x", by="problem")
    assert {t.name for t in figure.data if t.name} == {"sjf_bco", "smd"}
    assert {t.xaxis for t in figure.data} == {"x"}


def test_a_figure_for_print_has_a_title_its_limits_and_no_note(cli, tmp_path):
    series = parse_series("sjf_bco:mini_paper:jobs=[2,3]:count=2", "x")
    store, out = tmp_path / "s.sqlite", tmp_path / "fig.json"
    compare(write_series(series, tmp_path), ["first_fit", "load_limit@highs"], store=store)
    command = ("plot", store, "--x", "param_jobs", "--out", out)
    code, _, err = cli(*command, "--title", "First fit", "--ylim", "1,2", "--xlim", "0,4")
    assert (code, err) == (0, "")
    layout = json.loads(out.read_text())["layout"]
    assert layout["title"]["text"] == "First fit"
    assert (layout["xaxis"]["range"], layout["yaxis"]["range"]) == ([0, 4], [1, 2])
    assert [a["name"] for a in layout["annotations"]] == ["note"]
    code, _, err = cli(*command, "--no-note")
    assert err.startswith("gadgetopt: note of the figure: Line: median; band:")
    assert "annotations" not in json.loads(out.read_text())["layout"]
    code, _, err = cli("plot", store, "--out", out, "--xlim", "1,3", "--title", "All systems")
    assert (code, err) == (0, "")
    assert json.loads(out.read_text())["layout"]["xaxis"]["range"] == [0, math.log10(3)]
    for option, text, said in (
        ("--ylim", "2,1", "--ylim: '2,1', expected two numbers LOW,HIGH, such as 1,1.5"),
        ("--xlim", "2", "--xlim: '2', expected two numbers LOW,HIGH, such as 1,1.5"),
    ):
        code, _, err = cli(*command, option, text)
        assert (code, err) == (2, f"gadgetopt: {said}\n")
    code, _, err = cli("plot", store, "--out", out, "--xlim", "0,3")
    assert (code, err.startswith("gadgetopt: --xlim: 0,3: the x axis is logarithmic")) == (2, True)
    code, _, err = cli("plot", store, "--out", out, "--ylim", "0,3")
    assert (code, err) == (
        2,
        "gadgetopt: --ylim: the y axis has names, expected one of numbers\n",
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"x": "param_y"}, "--x: 'param_y' is not a column of these runs, which have instance,"),
        ({"x": "param_x", "y": "tim"}, "--y: 'tim' is not a column"),
        ({"x": "param_x", "by": "metod"}, "--by: 'metod' is not a column"),
        ({"x": "param_x", "methods": ["ladder"]}, "--methods: 'ladder' fits none of"),
        ({"x": "param_x", "methods": ["bound"]}, "no run has a number for --y ratio"),
        ({"x": "param_x", "y": "status"}, "no run has a number for --y status"),
    ],
)
def test_mistakes_have_their_line(arguments, said):
    with pytest.raises(InputError, match=said):
        plot_runs(swept(), **arguments)


def test_the_command_draws_a_sweep_from_its_store(cli, tmp_path):
    series = parse_series("sjf_bco:mini_paper:jobs=[2,3,4]:count=3", "x")
    store, out = tmp_path / "s.sqlite", tmp_path / "fig.json"
    compare(write_series(series, tmp_path), ["first_fit", "load_limit@highs"], store=store)
    assert cli("plot", store, "--x", "param_jobs", "--out", out)[0] == 0
    drawn = json.loads(out.read_text())
    (curve,) = [t for t in drawn["data"] if t.get("hovertext")]
    assert (curve["name"], curve["x"]) == ("first_fit", [2, 3, 4])
    assert curve["hovertext"][0].startswith("3 runs, median ")
    same = gadgetopt.plot(store, x="param_jobs", methods=["first_fit"])
    assert json.loads(same.to_json())["data"] == drawn["data"]
    assert gadgetopt.plot(gadgetopt.ratios(store), x="param_jobs").data == same.data
    with pytest.raises(InputError, match="so it needs a comparison or a store"):
        gadgetopt.plot(gadgetopt.read(next(tmp_path.glob("sjf*.json"))), x="param_jobs")
    code, _, err = cli("plot", store, "--picture", "gantt", "--out", out)
    assert (code, err) == (
        2,
        f"gadgetopt: {store}: is a store, expected --run KEY with --picture\n",
    )
    code, _, err = cli("plot", store, "--x", "param_jobs", "--run", "ab", "--out", out)
    assert code == 2
    assert "--x: draws the runs of a store; leave out SOLUTION" in err
