"""One row a system: the median and the worst ratio of its first heuristic beside its theorem."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gadgetopt.errors import InputError
from gadgetopt.reporting.cells import VACUOUS, counted
from gadgetopt.reporting.figures import INK, LEGEND_ABOVE, TEMPLATE
from gadgetopt.reporting.html_report.figure import Figure, Trace, Variant, log_axis
from gadgetopt.reporting.html_report.style import COLOURS
from gadgetopt.reporting.sentences import Row, by_system, interval, leading
from gadgetopt.reporting.summary import summary

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from gadgetopt.runs.comparison import Entry

_MEDIAN, _WORST = COLOURS[0], COLOURS[1]
#: The largest axis that a far-away ratio may stretch; what lies beyond it has an arrow.
_FARTHEST = VACUOUS
_SPAN = "median to worst ratio"
_PROVEN = "proven by the theorem"
_TITLE = "approximation ratio (1 is optimal)"


@dataclass(frozen=True)
class SystemRow:
    """What one system's row shows.

    Attributes
    ----------
    median, worst : tuple of float
        Lower and upper end of the ratio; an unknown upper end is infinite.
    theorem : tuple of float or None
        The median and the worst ratio that a proven theorem guarantees.
    """

    name: str
    instances: int
    median: tuple[float, float]
    worst: tuple[float, float]
    theorem: tuple[float, float] | None


def system_rows(frame: pd.DataFrame) -> list[SystemRow]:
    """Return a row for each system of a summary that has ratios, the nearest to optimal first."""
    subjects = [row for rows in by_system(frame) if (row := leading(rows)) is not None]
    found = [_system_row(row) for row in subjects if row["rated"]]
    return sorted(found, key=lambda row: (row.worst[0], row.median[0], row.name))


def _system_row(row: Row) -> SystemRow:
    system, method = row["system"], row["method"]
    low, high = row["guarantee_median"], row["guarantee_worst"]
    return SystemRow(
        name=system if method == system else f"{system}, {method}",
        instances=row["rated"],
        median=(row["ratio_median_low"], row["ratio_median_high"]),
        worst=(row["ratio_worst_low"], row["ratio_worst_high"]),
        theorem=(low, high) if row["guaranteed"] else None,
    )


def ratios_by_system(frame: pd.DataFrame) -> Figure:
    """Return the figure of a summary, as the browser draws it."""
    rows = system_rows(frame)
    places = {row.name: len(rows) - 1 - k for k, row in enumerate(rows)}
    farthest = max((x for row in rows for x in _drawn(row)), default=1.0)
    end = max(1.2, farthest * 1.15)
    traces = [t for row in rows for t in _row_traces(row, places[row.name], end)]
    layout = {
        "xaxis": {"title": {"text": _TITLE}, **log_axis(1.0, end)},
        "yaxis": {
            "tickvals": list(places.values()),
            "ticktext": list(places),
            "range": [-0.6, len(rows) - 0.4],
            "automargin": True,
            "zeroline": False,
        },
        "meta": "rows",
        "height": max(200, 26 * len(rows) + 90),
    }
    return Figure(
        "systems",
        "How far from optimal",
        _caption(rows),
        [Variant("ratios and theorems", traces, layout)],
    )


def plot_systems(
    runs: Path | str | Sequence[Entry],
    *,
    systems: Sequence[str] = (),
    methods: Sequence[str] = (),
    instances: Sequence[str] = (),
    narrow: bool = False,
) -> go.Figure:
    """Return a figure with one row a system: its first heuristic's ratios beside its theorem.

    The first heuristic is the one that the head of a summary speaks of: the paper's algorithm,
    where it was run. A line leads from the median to the worst ratio over the instances. Marks
    are hollow where the ratio is only known as an interval, whose lower end they show.

    Parameters
    ----------
    runs : path or sequence of Entry
        A store, or the entries of a comparison.
    systems, methods, instances : sequence of str
        Only these, as in `gadgetopt.summary`.
    narrow : bool, default False
        Write a system's name above its row instead of beside it, for a column or a phone.

    Returns
    -------
    plotly.graph_objects.Figure

    Raises
    ------
    InputError
        If there is no such store, system, method or instance, or no run has a ratio.
    """
    import plotly.graph_objects as go

    frame = summary(runs, systems=systems, methods=methods, instances=instances)
    figure = ratios_by_system(frame)
    if figure.empty:
        raise InputError("plot: no run has a ratio, expected a heuristic and a bound or optimum")
    variant = figure.variants[0]
    named: set[str] = set()
    out = go.Figure()
    for trace in variant.traces:
        first = trace["name"] not in {*named, _SPAN}
        named.add(trace["name"])
        out.add_trace({**_inked(trace), "legendgroup": trace["name"], "showlegend": first})
    out.update_layout(
        template=TEMPLATE,
        legend=LEGEND_ABOVE,
        margin={"t": 40, "b": 50, "l": 10, "r": 20},
        **variant.layout,
    )
    if narrow:
        _name_above(out)
    return out


def _name_above(figure: go.Figure) -> None:
    """Move the names of rows from the axis to above the rows, which get room for them."""
    axis = figure.layout.yaxis
    for name, place in zip(axis.ticktext, axis.tickvals, strict=True):
        figure.add_annotation(
            text=name,
            xref="paper",
            x=0,
            y=place,
            yshift=9,
            xanchor="left",
            yanchor="bottom",
            showarrow=False,
            font={"color": INK, "size": 13},
        )
    # The legend has room for one word each, in one line.
    figure.update_traces(name="theorem", selector={"name": _PROVEN})
    figure.update_traces(marker={"size": 12}, selector={"marker.symbol": "line-ns-open"})
    figure.update_yaxes(showticklabels=False, range=[-0.5, len(axis.tickvals) - 0.2])
    figure.update_xaxes(title={"font": {"size": 13}}, tickfont={"size": 13})
    legend = {"font": {"size": 12}, "itemwidth": 30, "x": 0, "xanchor": "left"}
    figure.update_layout(height=42 * len(axis.tickvals) + 90, legend=legend)


def _inked(trace: Trace) -> Trace:
    """Return a trace with the colour of text where the page's theme would choose it."""
    parts = {
        name: {**value, "color": INK}
        for name, value in trace.items()
        if isinstance(value, dict) and value.get("color") == "ink"
    }
    return {**trace, **parts}


def _drawn(row: SystemRow) -> list[float]:
    """Return the finite ratios of a row, and its theorem's unless it says nothing."""
    ends = [*row.median, *row.worst, *(row.theorem or ())]
    return [x for x in ends if x <= _FARTHEST]


def _row_traces(row: SystemRow, place: int, end: float) -> list[Trace]:
    median, worst = min(row.median[0], end), min(row.worst[0], end)
    common = {"type": "scatter", "meta": row.name, "hovertemplate": f"{_told(row)}<extra></extra>"}
    out: list[Trace] = []
    if row.theorem is not None:
        out += _theorem(row.theorem, place, end, common)
    line = {"color": _WORST, "width": 3}
    span = {"x": [median, worst], "y": [place, place], "mode": "lines", "line": line}
    out.append({**common, "name": _SPAN, "opacity": 0.45, **span})
    for name, ends, x, colour in (
        ("worst ratio", row.worst, worst, _WORST),
        ("median ratio", row.median, median, _MEDIAN),
    ):
        known = f"{ends[0]:.3f}" == f"{ends[1]:.3f}"
        symbol = "circle" if known else "circle-open"
        edge = {"width": 0 if known else 2}
        mark: dict[str, Any] = {"symbol": symbol, "size": 10, "color": colour, "line": edge}
        trace = {**common, "name": name, "mode": "markers", "x": [x], "y": [place], "marker": mark}
        if not known and math.isfinite(ends[1]):
            trace["error_x"] = {
                "symmetric": False,
                "array": [min(ends[1], end) - x],
                "arrayminus": [0.0],
                "thickness": 1,
                "width": 3,
                "color": colour,
            }
        out.append(trace)
    return out


def _theorem(promised: tuple[float, float], place: int, end: float, common: Trace) -> list[Trace]:
    """Return a bar at the median promise with a band to the worst; an arrow if it is vacuous."""
    low, high = promised
    ink = {**common, "name": _PROVEN}
    if low > _FARTHEST:
        text = {"text": [f"theorem > {VACUOUS:.0f} →"], "textposition": "middle left"}
        font = {"color": "ink", "size": 11}
        return [{**ink, "mode": "text", "x": [end], "y": [place], "textfont": font, **text}]
    mark = {"symbol": "line-ns-open", "size": 16, "color": "ink", "line": {"width": 2}}
    out: list[Trace] = [{**ink, "mode": "markers", "x": [low], "y": [place], "marker": mark}]
    if high > low:
        line = {"color": "ink", "width": 8}
        span = {"x": [low, min(high, end)], "y": [place, place]}
        out.insert(0, {**ink, "mode": "lines", "line": line, "opacity": 0.2, **span})
    return out


def _told(row: SystemRow) -> str:
    said = f"{row.name}: median ratio {interval(*row.median)}, worst {interval(*row.worst)}"
    said += f" on {counted(row.instances, 'instance')}"
    if row.theorem is not None:
        most = row.theorem[1]
        said += f"; theorem: at most {'1000 or more' if most > VACUOUS else f'{most:.3f}'}"
    return said


def _caption(rows: Sequence[SystemRow]) -> str:
    said = "Each row is a system's first heuristic, which is the paper's algorithm if it was run: "
    one_each = all(row.instances == 1 for row in rows)
    marks = "the mark is its ratio on one instance."
    said += marks if one_each else "blue is its median ratio, orange its worst."
    if any(row.theorem is not None for row in rows):
        said += " The upright bar is what a proven theorem guarantees"
        over = ": its median over the instances, with a band to the largest."
        said += " there." if one_each else over
    if any(low != high for row in rows for low, high in (row.median, row.worst)):
        said += " A hollow mark is not certified: the ratio is at least that."
    return said
