"""A column of the runs against another: medians with bands, one curve per method."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gadgetopt.errors import InputError
from gadgetopt.reporting.figures import LEGEND_ABOVE, TEMPLATE, add_note
from gadgetopt.reporting.html_report.style import Style, style
from gadgetopt.reporting.instance_columns import columns_of_origins, joined
from gadgetopt.reporting.summary import chosen
from gadgetopt.reporting.summary.labels import labels
from gadgetopt.reporting.tables import ratios
from gadgetopt.runs.comparison import ROW_KEYS, Entry

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Quantities that are intervals: columns of their lower and upper ends.
INTERVALS = {
    "ratio": ("ratio_low", "ratio_high"),
    "net_ratio": ("net_ratio_low", "net_ratio_high"),
}

#: With more values of x than this, and fewer runs at each than `_FEW`, ranges of x are joined.
_MOST_VALUES = 12
_FEW = 5
_RANGES = 10

#: Parts of a figure beside each other, and the height of a row of them in pixels.
MOST_ACROSS = 3
HEIGHT_PX = 420

Row = Mapping[str, Any]


@dataclass
class Point:
    """The runs of a curve at a value of x: their values' lower and upper ends."""

    lows: list[float] = field(default_factory=list)
    highs: list[float] = field(default_factory=list)

    def add(self, low: float, high: float) -> None:
        """Add a run."""
        self.lows.append(low)
        self.highs.append(high)


@dataclass(frozen=True)
class Facet:
    """A part of a figure: the curves of a system.

    Attributes
    ----------
    system : str
    curves : mapping
        The points of each curve by x.
    left_out : int
        Runs without a value of y.
    ranges : bool
        True if ranges of x were joined.
    """

    system: str
    curves: Mapping[str, Mapping[Any, Point]]
    left_out: int
    ranges: bool


def plot_runs(
    runs: Path | str | Sequence[Entry],
    x: str,
    y: str = "ratio",
    by: str = "method",
    *,
    systems: Sequence[str] = (),
    methods: Sequence[str] = (),
    instances: Sequence[str] = (),
) -> Figure:
    """Return a figure of a column of runs against another: a median with a band per method.

    The line is the median of the runs at a value of x, the band reaches from their lower to their
    upper quartile. Of a ratio that is known as an interval only, line and band are those of the
    upper ends; a thin line shows the median of the lower ends where it differs. The line is
    broken where the median is unknown, because nothing bounds half of the ratios or more. Runs of
    several systems are drawn side by side, a part of the figure for each; a method looks alike in
    all of them.

    Parameters
    ----------
    runs : path or sequence of Entry
        A store, or the entries of a comparison.
    x : str
        A column of the runs or their instances: `param_*`, `size_*`, `feature_*`, `time_s`, ...
        If its values are many and each has few runs, at most ten ranges of x take their place.
    y : str
        `ratio`, `net_ratio`, or a column of numbers such as `gap`, `time_s`, `objective`.
    by : str
        A column with a value for each curve.
    systems, methods, instances : sequence of str
        Only these, as in `gadgetopt.summary`.

    Returns
    -------
    plotly.graph_objects.Figure

    Raises
    ------
    InputError
        If there is no such store, column, system, method or instance, or nothing to draw.
    """
    table = ratios(runs) if isinstance(runs, Path | str) else list(runs)
    rows = _rows(chosen(table, systems, methods, instances))
    _check("--x", x, rows)
    _check("--by", by, rows)
    _check("--y", y, rows)
    facets = [
        Facet(system, *_curves(own, x, y, by)) for system, own in _by_system(rows, by).items()
    ]
    facets = [facet for facet in facets if facet.curves]
    if not facets:
        raise InputError(f"plot: no run has a number for --y {y} and a value for --x {x}")
    return _figure(facets, x, y, by)


def _rows(table: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return the rows of runs with all columns; methods named apart where conditions differ."""
    stored = {e.result.fingerprint: e.stored for e in table if e.stored is not None}
    fingerprints = [e.result.fingerprint for e in table]
    named = [{**e.row(), "method": m} for e, m in zip(table, labels(table), strict=True)]
    return joined(named, fingerprints, ROW_KEYS, columns_of_origins(stored))[0]


def _by_system(rows: Sequence[Row], by: str) -> dict[str, list[Row]]:
    """Return the rows of each system; all together where a system is a curve."""
    out: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        out["" if by == "problem" else str(row["problem"])].append(row)
    return dict(out)


def _check(option: str, name: str, rows: Sequence[Row]) -> None:
    known = dict.fromkeys(key for row in rows for key in row)
    numbers = tuple(INTERVALS) if option == "--y" else ()
    if name not in known and name not in numbers:
        names = ", ".join((*numbers, *known))
        raise InputError(f"{option}: {name!r} is not a column of these runs, which have {names}")


def _curves(
    rows: Sequence[Row], x: str, y: str, by: str
) -> tuple[dict[str, dict[Any, Point]], int, bool]:
    """Return each curve's points, the number of runs left out, and if ranges of x were joined.

    A method that has no value of y at all, such as the ratio of a relaxation, is not counted.
    """
    told = [row for row in rows if row.get(x) is not None]
    if all(isinstance(row[by], int | float) for row in told):
        told.sort(key=lambda row: float(row[by]))
    start = "" if by in ("method", "problem", "preset") else f"{spaced(by)} "
    found = [(f"{start}{row[by]}", row[x], _value(row, y)) for row in told]
    with_values = {curve for curve, _, ends in found if ends is not None}
    found = [run for run in found if run[0] in with_values]
    ranges = _ranges([at for _, at, ends in found if ends is not None], len(with_values))
    curves: defaultdict[str, defaultdict[Any, Point]] = defaultdict(lambda: defaultdict(Point))
    for curve, at, ends in found:
        if ends is not None:
            curves[curve][ranges.get(at, at)].add(*ends)
    left_out = sum(ends is None for _, _, ends in found)
    return {name: dict(points) for name, points in curves.items()}, left_out, bool(ranges)


def _value(row: Row, y: str) -> tuple[float, float] | None:
    """Return the lower and upper end of a run's value; None if it has none."""
    low_name, high_name = INTERVALS.get(y, (y, y))
    low, high = row.get(low_name), row.get(high_name)
    if y in INTERVALS and low is not None:
        return float(low), math.inf if high is None else float(high)
    if not isinstance(low, int | float) or isinstance(low, bool):
        return None
    return float(low), float(low)


def _ranges(values: Sequence[Any], curves: int) -> dict[Any, float]:
    """Return the middle of each value's range, if the values are many and rare numbers."""
    distinct = set(values)
    if not all(isinstance(v, int | float) for v in distinct) or len(distinct) <= _MOST_VALUES:
        return {}
    if len(values) >= _FEW * len(distinct) * curves:
        return {}
    ordered = sorted(distinct)
    count = max(2, min(_RANGES, len(values) // (_FEW * curves)))
    size = math.ceil(len(ordered) / count)
    parts = [ordered[k : k + size] for k in range(0, len(ordered), size)]
    return {v: (part[0] + part[-1]) / 2 for part in parts for v in part}


def quantile(values: Sequence[float], share: float) -> float:
    """Return a quantile with linear interpolation between neighbours; values may be infinite."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    k = math.floor(place)
    low, rest = ordered[k], place - k
    if rest == 0 or ordered[k + 1] == low:
        return low
    return low + rest * (ordered[k + 1] - low)


# -- drawing ---------------------------------------------------------------------------------------


def _figure(facets: Sequence[Facet], x: str, y: str, by: str) -> Figure:
    from plotly.subplots import make_subplots

    across = min(len(facets), MOST_ACROSS)
    down = math.ceil(len(facets) / across)
    figure = make_subplots(
        down,
        across,
        subplot_titles=[facet.system for facet in facets] if len(facets) > 1 else None,
        vertical_spacing=0.25 / down,
    )
    names = list(dict.fromkeys(name for facet in facets for name in facet.curves))
    shown: set[str] = set()
    for place, facet in enumerate(facets):
        row, col = divmod(place, across)
        _draw(figure, facet, (row + 1, col + 1), names, shown, y)
        axes = {"title": {"text": spaced(x)}, "type": _type(facet), "zeroline": False}
        figure.update_xaxes(axes, row=row + 1, col=col + 1)
        title = {"text": spaced(y)} if col == 0 else None
        figure.update_yaxes({"title": title, "zeroline": False}, row=row + 1, col=col + 1)
    figure.update_layout(
        template=TEMPLATE,
        legend={**LEGEND_ABOVE, "x": 0, "xanchor": "left", "title": {"text": ""}},
        margin={"t": 60, "b": 110},
        meta={"x": x, "y": y, "by": by},
    )
    if down > 1:
        figure.update_layout(height=HEIGHT_PX * down)
    if len(facets) > 1:  # above the names of the systems
        figure.update_layout(legend_y=1 + 0.08 / down)
    add_note(figure, caption(facets, x, y))
    return figure


def _type(facet: Facet) -> str:
    """Return the type of the axis of x."""
    places = {at for points in facet.curves.values() for at in points}
    numbers = all(isinstance(at, int | float) and not isinstance(at, bool) for at in places)
    return "linear" if numbers else "category"


def _draw(
    figure: Figure,
    facet: Facet,
    cell: tuple[int, int],
    names: Sequence[str],
    shown: set[str],
    y: str,
) -> None:
    """Add a facet's curves to its cell; each method has one entry in the legend."""
    ordered = _type(facet) == "linear"
    for name, points in facet.curves.items():
        at = sorted(points) if ordered else list(points)
        for trace in _traces(name, style(names.index(name)), at, [points[p] for p in at], y):
            if trace.showlegend is not False:
                trace.showlegend = None if name not in shown else False
                shown.add(name)
            figure.add_trace(trace, row=cell[0], col=cell[1])


def _traces(name: str, look: Style, at: list[Any], points: list[Point], y: str) -> list[Any]:
    """Return the band, the line of medians, and where they differ that of the lower ends."""
    import plotly.graph_objects as go

    shared = {"legendgroup": name, "mode": "lines", "hoverinfo": "skip", "showlegend": False}
    tint = f"rgba({', '.join(str(int(look.colour[k : k + 2], 16)) for k in (1, 3, 5))}, 0.18)"
    edge = {**shared, "line": {"width": 0, "color": look.colour}}
    traces = []
    for part in _parts(at, points):
        bounds = [_band(p) for _, p in part]
        places = [place for place, _ in part]
        traces += [
            go.Scatter(**edge, x=places, y=[low for low, _ in bounds]),
            go.Scatter(
                **edge, x=places, y=[high for _, high in bounds], fill="tonexty", fillcolor=tint
            ),
        ]
    medians = [quantile(p.highs, 0.5) for p in points]
    traces.append(
        go.Scatter(
            x=at,
            y=[value if math.isfinite(value) else None for value in medians],
            name=name,
            legendgroup=name,
            mode="lines+markers",
            hoverinfo="text+name",
            hovertext=[_told(p, y) for p in points],
            line={"color": look.colour, "dash": look.dash, "width": 2},
            marker={"symbol": look.symbol, "size": 7},
        )
    )
    if any(p.lows != p.highs for p in points):
        lows = [quantile(p.lows, 0.5) for p in points]
        thin = {"color": look.colour, "dash": look.dash, "width": 1}
        traces.append(go.Scatter(**shared, x=at, y=lows, name=name, line=thin))
    return traces


def _parts(at: Sequence[Any], points: Sequence[Point]) -> list[list[tuple[Any, Point]]]:
    """Return the neighbouring points that have a band, in parts."""
    parts: list[list[tuple[Any, Point]]] = [[]]
    for place, point in zip(at, points, strict=True):
        if math.isfinite(quantile(point.highs, 0.25)):
            parts[-1].append((place, point))
        elif parts[-1]:
            parts.append([])
    return [part for part in parts if part]


def _band(point: Point) -> tuple[float, float]:
    """Return the quartiles; if the upper one is unknown, the largest known value in its place."""
    upper = quantile(point.highs, 0.75)
    known = max(high for high in point.highs if math.isfinite(high))
    return quantile(point.highs, 0.25), upper if math.isfinite(upper) else known


def _told(point: Point, y: str) -> str:
    """Return the numbers of a point as text."""
    q1, median, q3 = (quantile(point.highs, share) for share in (0.25, 0.5, 0.75))
    text = f"{len(point.highs)} runs, median {median:.4g}, quartiles {q1:.4g} to {q3:.4g}"
    closed = sum(low == high for low, high in zip(point.lows, point.highs, strict=True))
    if y in INTERVALS and closed < len(point.highs):
        text += f"; {closed} known exactly, median of lower ends {quantile(point.lows, 0.5):.4g}"
    return text


def caption(facets: Sequence[Facet], x: str, y: str) -> str:
    """Return what line and band are, and which runs are not in the figure."""
    points = [p for facet in facets for own in facet.curves.values() for p in own.values()]
    counts = [len(point.highs) for point in points]
    each = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    parts = [f"Line: median; band: lower to upper quartile of {each} runs"]
    if any(p.lows != p.highs for p in points):
        parts.append("Ratios are intervals: line and band of upper ends, thin line: of lower ends")
        unknown = sum(math.isinf(high) for point in points for high in point.highs)
        if unknown:
            parts.append(f"{_runs(unknown)} without an upper end: bands end at the largest known")
    if any(facet.ranges for facet in facets):
        parts.append(f"Runs joined in ranges of {spaced(x)}, drawn at their middles")
    left_out = sum(facet.left_out for facet in facets)
    if left_out:
        parts.append(f"Left out: {_runs(left_out)} without {spaced(y)}")
    return ".<br>".join(parts) + "."


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"


def spaced(name: str) -> str:
    """Return a column's name for an axis: "param_extra" becomes "extra"."""
    for prefix in ("param_", "size_", "feature_"):
        name = name.removeprefix(prefix)
    return {"time_s": "time (s)", "ratio": "approximation ratio"}.get(name, name.replace("_", " "))
