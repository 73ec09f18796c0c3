"""Figure of gaps over time: the median over a method's runs at every moment."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence

from gadgetopt.reporting.html_report.figure import (
    Figure,
    Trace,
    Variant,
    lines,
    log_axis,
)
from gadgetopt.reporting.html_report.profiles import LEAST_S, best_objectives
from gadgetopt.reporting.html_report.reading import Line, System, number
from gadgetopt.reporting.html_report.style import Style
from gadgetopt.system.result import Status

#: A gap from a moment on.
Curve = list[tuple[float, float]]

#: Number of moments at which the median is taken, evenly spread on a logarithmic axis.
_MOMENTS = 60


def gap_over_time(system: System, looks: Mapping[str, Style]) -> Figure:
    """Return the median gap of every method over time, for two definitions of the gap."""
    bounds, solvable = best_bounds(system), best_objectives(system)
    last = max((line.entry.result.time_s for line in system.lines), default=LEAST_S)
    moments = _moments(max(last, 2 * LEAST_S))
    # Beside a run's curve: what a method needs in some run for its curve to be meaningful.
    readings: tuple[tuple[str, Callable[[Line], Curve], Callable[[Line], bool]], ...] = (
        (
            "best dual bound known",
            lambda line: _gaps(line, bounds.get(line.instance), line.minimises),
            _solves,
        ),
        ("run's own bound", lambda line: _gaps(line, None, line.minimises), _bounds),
    )
    variants = []
    for label, gaps, says in readings:
        traces: list[Trace] = []
        for method, look in looks.items():
            own = [
                line
                for line in system.lines
                if line.label == method and line.instance in solvable and not _failed(line)
            ]
            if not any(says(line) and _solves(line) for line in own):
                continue
            curves = [gaps(line) for line in own]
            medians = [median([_at(curve, t) for curve in curves]) for t in moments]
            hover = f"{method}: %{{y:.2%}} after %{{x:.3g}} s<extra>{len(curves)} runs</extra>"
            traces.append(lines(method, look, moments, medians, hovertemplate=hover))
        layout = {
            "xaxis": {"title": {"text": "seconds"}, **log_axis(moments[0], moments[-1])},
            "yaxis": {
                "title": {"text": "median gap"},
                "range": [-0.03, 1.03],
                "tickformat": ".0%",
            },
        }
        if traces:
            variants.append(Variant(label, traces, layout))
    caption = (
        "The median gap of a method's runs over time: |objective - bound| / |objective|, and 100% "
        "while there is no incumbent. The methods' own traces say it; a finished run keeps its "
        "final gap, and runs with an error are left out."
    )
    return Figure("gap", "Gap over time", caption, variants, "Against the")


def best_bounds(system: System) -> dict[str, float]:
    """Return the best known dual bound of every instance that has one."""
    out: dict[str, float] = {}
    for line in system.lines:
        bound = number(line.entry.result.bound)
        if bound is not None and math.isfinite(bound):
            better = max if line.minimises else min
            out[line.instance] = better(bound, out.get(line.instance, bound))
    return out


def gap(incumbent: float | None, bound: float | None) -> float:
    """Return the relative gap, between 0 and 1; 1 if either number is unknown."""
    if incumbent is None or bound is None or not math.isfinite(bound - incumbent):
        return 1.0
    return min(1.0, abs(incumbent - bound) / (abs(incumbent) or 1e-10))


def median(values: Sequence[float]) -> float:
    """Return the median; of an even number of values the mean of the middle two."""
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _failed(line: Line) -> bool:
    return line.entry.result.status is Status.ERROR


def _solves(line: Line) -> bool:
    return any(incumbent is not None for _, incumbent, _ in line.events)


def _bounds(line: Line) -> bool:
    return line.entry.result.bound is not None


def _gaps(line: Line, bound: float | None, least: bool) -> Curve:
    """Return the moments at which the gap changes, against a bound or against the run's own.

    A method of several parts may start a part without an incumbent; its earlier incumbent then
    counts. The final event was checked and is used as it is.
    """
    events = sorted(line.events, key=lambda event: event[0])
    out: Curve = []
    best: float | None = None
    proved: float | None = None
    for k, (time_s, incumbent, own) in enumerate(events, start=1):
        last = k == len(events)
        best = incumbent if last else _better(best, incumbent, least)
        proved = own if last else _better(proved, own, not least)
        out.append((time_s, gap(best, proved if bound is None else bound)))
    return out


def _better(a: float | None, b: float | None, least: bool) -> float | None:
    known = [x for x in (a, b) if x is not None]
    return (min if least else max)(known, default=None)


def _at(curve: Sequence[tuple[float, float]], time_s: float) -> float:
    k = bisect_right(curve, time_s, key=lambda point: point[0])
    return 1.0 if k == 0 else curve[k - 1][1]


def _moments(last: float) -> list[float]:
    """Return moments up to and including the end of the longest run."""
    step = math.log(last / LEAST_S) / (_MOMENTS - 1)
    return [*(LEAST_S * math.exp(step * k) for k in range(_MOMENTS - 1)), last]
