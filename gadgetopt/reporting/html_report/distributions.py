"""Figure of the ratios of every method, one mark per run, with what theorems promise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gadgetopt.numbers.tolerance import as_double
from gadgetopt.reporting.cells import VACUOUS
from gadgetopt.reporting.html_report.figure import (
    MOST_POINTS,
    Figure,
    Trace,
    Variant,
    fair_share,
    points,
    ratio_axis,
    thinned,
)
from gadgetopt.reporting.html_report.progress import median
from gadgetopt.reporting.html_report.reading import Line, System
from gadgetopt.reporting.html_report.style import Style

#: Vertical position of marks in a method's row of height one; a single kind is centred.
_CERTIFIED, _OPEN, _SPREAD = 0.0, -0.3, 0.09

#: With more marks than this in a row they are faint, so that the box is seen among them.
_MANY, _FAINT = 30, 0.25


def distribution(system: System, looks: Mapping[str, Style], index: Mapping[str, int]) -> Figure:
    """Return a strip plot of ratios: one row per method, the best median on top.

    Parameters
    ----------
    system : System
    looks : mapping
        Style by method.
    index : mapping
        Position of a run in the page's table, by key.
    """
    by_method = {m: [x for x in system.lines if x.label == m] for m in looks}
    methods = [m for m in looks if any(line.low is not None for line in by_method[m])]
    methods.sort(key=lambda m: median([x.low for x in by_method[m] if x.low is not None]))
    rows = {method: len(methods) - 1 - k for k, method in enumerate(methods)}
    traces: list[Trace] = []
    promises: list[Trace] = []
    vacuous = False
    for method in methods:
        most = fair_share(len(system.lines), len(methods))
        traces += _marks(method, looks[method], by_method[method], rows[method], index, most)
        for standing in ("proven", "claimed"):
            promised = _promised(by_method[method], standing)
            telling = [x for x in promised if x <= VACUOUS]
            vacuous = vacuous or len(telling) < len(promised)
            if telling:
                promises += _band(method, standing, telling, rows[method])
    measured = [v for t in traces if "text" not in t for v in [*t["x"], *_ends(t)]]
    promised = [x for t in promises for x in t["x"]]
    rows_axis = {
        "tickvals": list(rows.values()),
        "ticktext": list(rows),
        "range": [-0.6, len(methods) - 0.4],
        "automargin": True,
        "zeroline": False,
    }
    height = max(240, 34 * len(methods) + 90)

    def layout(shown: Sequence[float]) -> dict[str, Any]:
        title = {"text": "approximation ratio (1 is optimal)"}
        axis = {"title": title, **ratio_axis(shown)}
        return {"xaxis": axis, "yaxis": rows_axis, "meta": "rows", "height": height}

    variants = [Variant("ratios", traces, layout(measured))]
    if promises:
        both = [*promises, *traces]
        variants.append(Variant("ratios and theorems", both, layout([*measured, *promised])))
    infinite = sum(line.low == math.inf for line in system.lines)
    caption = (
        "A filled mark is a certified ratio. The box spans the quartiles and shows the median. "
        "A hollow mark is not certified: the true ratio lies on the line to its right, or anywhere "
        "to the right if the line ends in an arrow."
    )
    if promises:
        caption += (
            " The second choice adds what theorems promise on these instances: a band from the "
            "least to the largest ratio, with a bar at the median. An asterisk marks a theorem "
            "that is only claimed."
        )
    if vacuous:
        caption += f" Vacuous promises, beyond {VACUOUS:.0f}, are not drawn."
    if infinite:
        caption += f" {infinite} runs of infinite ratio (an objective of 0) are not drawn."
    if len(system.lines) > MOST_POINTS:
        caption += " Only the worst runs and an even selection of the others are drawn."
    return Figure("ratios", "Ratios", caption, variants, "Show")


def _marks(
    method: str,
    look: Style,
    lines: Sequence[Line],
    row: int,
    index: Mapping[str, int],
    most: int,
) -> list[Trace]:
    finite = [line for line in lines if line.low is not None and math.isfinite(line.low)]
    finite.sort(key=lambda line: -(line.low or 0))
    closed = [line for line in finite if line.certified]
    unclosed = [line for line in finite if not line.certified]
    out: list[Trace] = []
    if len(closed) > 2:
        out.append(
            {
                "type": "box",
                "orientation": "h",
                "x": [line.low for line in closed],
                "y": [row + _CERTIFIED] * len(closed),
                "meta": method,
                "name": method,
                "width": 0.5,
                "boxpoints": False,
                "hoverinfo": "skip",
                "line": {"color": look.colour, "width": 2},
                "fillcolor": look.colour + "22",
            }
        )
    for group, place in ((closed, _CERTIFIED), (unclosed, _OPEN if closed else _CERTIFIED)):
        kept = [group[i] for i in thinned(range(len(group)), most)]
        if not kept:
            continue
        trace = points(
            method,
            look,
            [line.low or 0.0 for line in kept],
            [row + place + _SPREAD * (k % 3 - 1) for k in range(len(kept))],
            customdata=[index[line.key] for line in kept],
        )
        if len(kept) > _MANY:
            trace["marker"] = {**trace["marker"], "opacity": _FAINT}
        if group is unclosed:
            trace["marker"] = {**trace["marker"], "symbol": f"{look.symbol}-open"}
            trace["error_x"] = {
                "symmetric": False,
                "array": [_width(line) for line in kept],
                "arrayminus": [0.0] * len(kept),
                "thickness": 1,
                "width": 3,
                "color": look.colour,
            }
        out.append(trace)
        endless = [k for k, line in enumerate(kept) if not line.certified and not _bounded(line)]
        if endless:
            out.append(
                {
                    "type": "scatter",
                    "mode": "text",
                    "meta": method,
                    "name": method,
                    "x": [trace["x"][k] for k in endless],
                    "y": [trace["y"][k] for k in endless],
                    "text": ["  →"] * len(endless),
                    "textposition": "middle right",
                    "textfont": {"color": look.colour, "size": 13},
                    "hoverinfo": "skip",
                }
            )
    return out


def _promised(lines: Sequence[Line], standing: str) -> list[float]:
    """Return the ratio that theorems of a standing promise for each run, the least of several."""
    out = []
    for line in lines:
        ratios = [
            as_double(promise.ratio)
            for promise in line.entry.promises
            if promise.applies and promise.standing == standing and promise.ratio is not None
        ]
        if ratios:
            out.append(min(ratios))
    return out


def _band(method: str, standing: str, promised: Sequence[float], row: int) -> list[Trace]:
    """Return a band from the least to the largest promised ratio, and a bar at the median."""
    ends, middle = [min(promised), max(promised)], median(promised)
    name = f"{standing}, {method}"
    said = f"{standing} by a theorem: {ends[0]:.4g} to {ends[1]:.4g}, median {middle:.4g}"
    common = {
        "type": "scatter",
        "meta": method,
        "name": name,
        "hovertemplate": f"{said}<extra></extra>",
    }
    band = {
        **common,
        "mode": "lines",
        "x": ends,
        "y": [row, row],
        "line": {"color": "ink", "width": 12},
        "opacity": 0.22,
    }
    symbol = "line-ns-open" if standing == "proven" else "asterisk-open"
    bar = {
        **common,
        "mode": "markers",
        "x": [middle],
        "y": [row],
        "marker": {
            "symbol": symbol,
            "size": 20 if standing == "proven" else 9,
            "color": "ink",
            "line": {"width": 2},
        },
    }
    return [bar] if ends[0] == ends[1] else [band, bar]


def _bounded(line: Line) -> bool:
    return line.high is not None and math.isfinite(line.high)


def _width(line: Line) -> float:
    return (line.high or 0.0) - (line.low or 0.0) if _bounded(line) else 0.0


def _ends(trace: Trace) -> list[float]:
    if "error_x" not in trace:
        return []
    return [x + w for x, w in zip(trace["x"], trace["error_x"]["array"], strict=True)]
