"""One row a system: which methods, which ratios, what is not certified, what theorems say."""

import json
import math

import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.reporting.html_report.ratios_by_system import (
    plot_systems,
    ratios_by_system,
    system_rows,
)
from gadgetopt.reporting.summary import summarize

from .entries_of import result, table

pytestmark = pytest.mark.usefixtures("in_this_process")


def runs(*, bound=4):
    """Return three instances each of two systems: a heuristic, an exact method and a bound."""
    out = []
    for k, objective in enumerate((4, 5, 8)):
        name = f"i{k}"
        out.append(result(name, "sjf_bco", objective=objective))
        out.append(result(name, "ladder", "exact", 4, bound))
        out.append(result(name, "smd", objective=4, system="smd"))
        out.append(result(name, "cg", "exact", 4, 4, system="smd"))
    return table(out)


def trace(figure, system, name):
    (found,) = [t for t in figure.data if t.meta == system and t.name == name]
    return found


def test_a_row_is_of_the_first_heuristic_with_its_median_and_its_worst_ratio():
    rows = system_rows(summarize(runs()))
    assert [row.name for row in rows] == ["smd", "sjf_bco"]  # the nearest to optimal is on top
    far = rows[1]
    assert (far.median, far.worst, far.instances) == ((1.25, 1.25), (2, 2), 3)
    figure = plot_systems(runs())
    assert list(figure.layout.yaxis.ticktext) == ["smd", "sjf_bco"]
    assert list(figure.layout.yaxis.tickvals) == [1, 0]
    assert trace(figure, "sjf_bco", "worst ratio").x == (2,)
    assert trace(figure, "sjf_bco", "median ratio").marker.symbol == "circle"


def test_a_narrow_figure_names_its_rows_above_them():
    wide, narrow = plot_systems(runs()), plot_systems(runs(), narrow=True)
    assert [(t.x, t.y, t.mode) for t in wide.data] == [(t.x, t.y, t.mode) for t in narrow.data]
    assert not narrow.layout.yaxis.showticklabels
    named = {note.text: note.y for note in narrow.layout.annotations}
    assert named == dict(zip(wide.layout.yaxis.ticktext, wide.layout.yaxis.tickvals, strict=True))
    assert all(note.xanchor == "left" and note.yshift > 0 for note in narrow.layout.annotations)


def test_the_caption_speaks_of_medians_only_where_there_are_several_instances():
    assert "blue is its median ratio" in ratios_by_system(summarize(runs())).caption
    one = [e for e in runs() if e.result.instance == "i0"]
    said = ratios_by_system(summarize(one)).caption
    assert "the mark is its ratio on one instance" in said
    assert "median" not in said


def test_a_ratio_that_is_not_certified_is_hollow_and_reaches_to_its_upper_end():
    figure = plot_systems(runs(bound=2), systems=["sjf_bco"])
    mark = trace(figure, "sjf_bco", "median ratio")
    assert mark.marker.symbol == "circle-open"
    assert (mark.x[0], mark.x[0] + mark.error_x.array[0]) == (1.25, 2.5)
    assert "A hollow mark is not certified" in ratios_by_system(summarize(runs(bound=2))).caption
    assert "hollow" not in ratios_by_system(summarize(runs())).caption


@pytest.mark.parametrize(
    ("guarantee", "mode"), [((3.0, 3.0), ["markers"]), ((3.0, 5.0), ["lines", "markers"])]
)
def test_a_theorem_is_a_bar_with_a_band_to_the_largest_promise(guarantee, mode):
    frame = summarize(runs())
    frame.loc[frame["method"] == "sjf_bco", "guaranteed"] = 3
    for column, value in zip(("guarantee_median", "guarantee_worst"), guarantee, strict=True):
        frame.loc[frame["method"] == "sjf_bco", column] = value
    traces = [
        t
        for t in ratios_by_system(frame).variants[0].traces
        if t["name"] == "proven by the theorem"
    ]
    assert [t["mode"] for t in traces] == mode
    assert traces[-1]["x"] == [3.0]
    assert "upright bar" in ratios_by_system(frame).caption


def test_a_vacuous_theorem_is_said_and_does_not_stretch_the_axis():
    frame = summarize(runs())
    frame.loc[frame["method"] == "sjf_bco", "guaranteed"] = 3
    frame.loc[frame["method"] == "sjf_bco", ["guarantee_median", "guarantee_worst"]] = 1e9
    variant = ratios_by_system(frame).variants[0]
    (said,) = [t for t in variant.traces if t["mode"] == "text"]
    assert said["text"] == ["theorem > 1000 →"]
    assert variant.layout["xaxis"]["range"][1] < math.log10(3)


def test_a_store_is_drawn_by_plot_and_stands_at_the_head_of_its_report(cli, tmp_path):
    store, out = tmp_path / "s.sqlite", tmp_path / "fig.json"
    instance = "instances/quickstart/sjf_bco.json"
    code, *_ = cli("compare", instance, "--methods", "first_fit,ladder", "--store", store)
    assert code == 0
    assert cli("plot", store, "--out", out)[0] == 0
    drawn = json.loads(out.read_text())
    assert drawn["layout"]["yaxis"]["ticktext"] == ["sjf_bco, first_fit"]
    assert json.loads(gadgetopt.plot(store).to_json())["data"] == drawn["data"]
    page = tmp_path / "r.html"
    gadgetopt.write_report(store, page)
    text = page.read_text()
    assert text.index('id="all-systems"') < text.index('class="said"') < text.index('id="overview"')


def test_runs_without_a_ratio_are_refused_in_one_line():
    with pytest.raises(InputError, match="plot: no run has a ratio, expected a heuristic"):
        plot_systems(table([result("i", "own", objective=None)]))
