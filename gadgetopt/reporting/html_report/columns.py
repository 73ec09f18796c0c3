"""Figures of ratios against size, features, time, and what methods note of their runs."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import quantiles
from typing import Any

from gadgetopt.reporting.html_report.figure import (
    Figure,
    Trace,
    Variant,
    fair_share,
    log_axis,
    points,
    ratio_axis,
    thinned,
)
from gadgetopt.reporting.html_report.reading import Line, System
from gadgetopt.reporting.html_report.style import Style
from gadgetopt.reporting.html_report.words import spoken

#: The column of the run's time, which every run has.
TIME = "time of the run (s)"

#: A line of medians needs at most so many values of a column, with at least so many runs at each.
_MOST_GROUPS, _LEAST_RUNS = 12, 3

#: A rank correlation of fewer runs says nothing.
_LEAST_CORRELATED = 5


def against_columns(system: System, looks: Mapping[str, Style], index: Mapping[str, int]) -> Figure:
    """Return a figure of ratios against a column of the instance, one variant per column.

    Columns that vary come first, the one whose rank correlation with the ratio is largest before
    the others, then what the runs note differently, then time, then columns that are constant.
    """
    measured = [line for line in system.lines if line.low is not None and math.isfinite(line.low)]
    measured.sort(key=lambda line: -(line.low or 0))
    most = fair_share(len(measured), len(looks))
    kept: list[Line] = []
    for method in looks:
        own = [line for line in measured if line.label == method]
        kept += [own[i] for i in thinned(range(len(own)), most)]
    variants = []
    for column in column_names(system):
        traces: list[Trace] = []
        for method, look in looks.items():
            own = [x for x in kept if x.label == method and value(system, x, column) is not None]
            for certified in (True, False):
                group = [line for line in own if line.certified is certified]
                if group:
                    traces.append(_cloud(system, method, look, group, column, index))
            if column != TIME:
                traces += _medians(system, method, look, measured, column)
        ends = [line.high for line in kept if line.high is not None]
        heights = ratio_axis([*(line.low or 1.0 for line in kept), *ends])
        layout = {
            "xaxis": {
                "title": {"text": spoken(column)},
                **column_axis([x for t in traces for x in t["x"]]),
            },
            "yaxis": {"title": {"text": "approximation ratio"}, **heights},
        }
        variants.append(Variant(spoken(column), traces, layout))
    caption = (
        "One mark is one run. A filled mark is a certified ratio. A hollow mark is the least that "
        "the ratio can be; the line from it ends at the most. If a column takes few values, a line "
        "joins each method's medians, and a band shows the quartiles."
    )
    if len(kept) < len(measured):
        caption += (
            f" {len(kept)} of {len(measured)} runs are drawn, each method's worst among them."
        )
    return Figure("columns", "Ratio against the instance", caption, variants, "Against")


def column_names(system: System) -> list[str]:
    """Return the names of all columns: varying ones, what runs note, time, then constant ones.

    Among the varying ones the first is the one that tells most of the ratios.
    """
    names = dict.fromkeys(c for measured in system.instances.values() for c in measured.columns)

    def constant(name: str) -> bool:
        return len({m.columns.get(name) for m in system.instances.values()}) == 1

    telling = [name for name in names if not constant(name)]
    telling.sort(key=lambda name: -rank_correlation(system, name))
    noted: dict[str, set[float]] = {}
    for line in system.lines:
        for name, x in _noted(line).items():
            noted.setdefault(name, set()).add(x)
    differing = (name for name, xs in noted.items() if len(xs) > 1 and name not in names)
    return [*telling, *differing, TIME, *(name for name in names if constant(name))]


def value(system: System, line: Line, column: str) -> float | None:
    """Return a column's value for a run."""
    if column == TIME:
        return line.entry.result.time_s
    if column in _noted(line):
        return _noted(line)[column]
    found = system.instances[line.instance].columns.get(column)
    return float(found) if found is not None and math.isfinite(found) else None


def rank_correlation(system: System, column: str) -> float:
    """Return the largest absolute rank correlation, over methods, of a column and the ratio."""
    import pandas as pd

    pairs = [
        (line.label, x, line.low)
        for line in system.lines
        if line.low is not None
        and math.isfinite(line.low)
        and (x := value(system, line, column)) is not None
    ]
    frame = pd.DataFrame(pairs, columns=["method", "column", "ratio"])
    largest = 0.0
    for _, own in frame.groupby("method"):
        if (
            len(own) < _LEAST_CORRELATED
            or own["column"].nunique() < 2
            or own["ratio"].nunique() < 2
        ):
            continue
        ranks = own[["column", "ratio"]].rank()
        largest = max(largest, abs(float(ranks["column"].corr(ranks["ratio"]))))
    return round(largest, 9)


def _noted(line: Line) -> dict[str, float]:
    """Return the measures among a run's notes: its floats, such as a prediction error."""
    notes = line.entry.result.notes
    return {name: x for name, x in notes.items() if isinstance(x, float) and math.isfinite(x)}


def _medians(
    system: System, method: str, look: Style, measured: Sequence[Line], column: str
) -> list[Trace]:
    """Return a line through the medians at each value, and the band between the quartiles.

    Only if the column has few values with several runs each, as in a sweep.
    """
    groups: defaultdict[float, list[float]] = defaultdict(list)
    for line in measured:
        x = value(system, line, column) if line.label == method else None
        if x is not None:
            groups[x].append(line.low or 0.0)
    if not 2 <= len(groups) <= _MOST_GROUPS or min(map(len, groups.values())) < _LEAST_RUNS:
        return []
    xs = sorted(groups)
    quarters = [quantiles(groups[x], n=4, method="inclusive") for x in xs]
    common = {
        "type": "scatter",
        "mode": "lines",
        "meta": method,
        "name": method,
        "hoverinfo": "skip",
    }
    band = {
        **common,
        "x": [*xs, *reversed(xs)],
        "y": [*(q[0] for q in quarters), *(q[2] for q in reversed(quarters))],
        "fill": "toself",
        "fillcolor": look.colour + "22",
        "line": {"width": 0},
    }
    middle = {
        **common,
        "x": xs,
        "y": [q[1] for q in quarters],
        "line": {"color": look.colour, "dash": look.dash, "width": 2},
    }
    return [band, middle]


def _cloud(
    system: System,
    method: str,
    look: Style,
    group: Sequence[Line],
    column: str,
    index: Mapping[str, int],
) -> Trace:
    trace = points(
        method,
        look,
        [value(system, line, column) or 0.0 for line in group],
        [line.low or 0.0 for line in group],
        customdata=[index[line.key] for line in group],
    )
    if not group[0].certified:
        trace["marker"] = {**trace["marker"], "symbol": f"{look.symbol}-open"}
        highs = [line.high for line in group]
        trace["error_y"] = {
            "symmetric": False,
            "array": [
                0.0 if h is None or math.isinf(h) else h - low
                for h, low in zip(highs, trace["y"], strict=True)
            ],
            "arrayminus": [0.0] * len(group),
            "thickness": 1,
            "width": 3,
            "color": look.colour,
        }
    return trace


def column_axis(values: Sequence[float]) -> dict[str, Any]:
    """Return an axis for a column.

    It is logarithmic if positive values differ by two orders of magnitude. Integers in a narrow
    range get no labels between them.
    """
    if values and max(values) - min(values) < 10 and all(x == int(x) for x in values):
        return {"dtick": 1}
    if not values or min(values) <= 0 or max(values) <= 100 * min(values):
        return {}
    return log_axis(min(values), max(values))
