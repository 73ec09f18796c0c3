"""Figure of the bounds of formulations before the search, as shares of the best objective."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from gadgetopt.reporting.html_report.figure import (
    Figure,
    Trace,
    Variant,
    fair_share,
    log_axis,
    points,
    thinned,
)
from gadgetopt.reporting.html_report.reading import Line, System, number
from gadgetopt.reporting.html_report.style import Style

#: What runs note of their models, and what the reader sees.
BOUNDS = {"lp_bound": "LP bound", "root_bound": "root bound, after cuts"}


def relaxations(system: System, looks: Mapping[str, Style], index: Mapping[str, int]) -> Figure:
    """Return a figure of LP and root bounds against the number of a model's variables.

    A bound is shown as a share of the best objective known for its instance, or if there is none of
    the best bound: bound / best when minimising, best / bound when maximising. 1 leaves nothing to
    search for.

    Parameters
    ----------
    system : System
    looks : mapping
        Style by method.
    index : mapping
        Position of a run in the page's table, by key.
    """
    best = best_known(system)
    variants = []
    for key, words in BOUNDS.items():
        traces = []
        for method, look in looks.items():
            trace = _trace(system, method, look, key, best, index)
            if trace is not None:
                traces.append(trace)
        sizes = [x for trace in traces for x in trace["x"]]
        layout = {
            "xaxis": {
                "title": {"text": "variables of the model"},
                **(log_axis(min(sizes), max(sizes)) if sizes and max(sizes) > min(sizes) else {}),
            },
            "yaxis": {"title": {"text": "share of the best objective"}, "rangemode": "tozero"},
        }
        variants.append(Variant(words, traces, layout))
    caption = (
        "One mark is one run of a formulation. The LP bound is the optimum of the model's linear "
        "relaxation. The root bound is the solver's dual bound when it began to branch, or when it "
        "ended if it never did. CP-SAT has no root, and models that are not linear have no LP "
        "bound."
    )
    variants = [variant for variant in variants if variant.traces]
    return Figure("relaxations", "Bounds before the search", caption, variants, "Bound")


def best_known(system: System) -> dict[str, float]:
    """Return the best objective of every instance, or its best bound where there is none."""
    minimise = {line.instance: line.minimises for line in system.lines}
    objectives: dict[str, list[float]] = {}
    bounds: dict[str, list[float]] = {}
    for line in system.lines:
        result = line.entry.result
        for values, value in ((objectives, result.objective), (bounds, result.bound)):
            x = number(value)
            if x is not None and math.isfinite(x):
                values.setdefault(line.instance, []).append(x)
    best = {key: (max if minimise[key] else min)(values) for key, values in bounds.items()}
    return best | {key: (min if minimise[key] else max)(v) for key, v in objectives.items()}


def share(bound: float, best: float, *, minimise: bool) -> float | None:
    """Return a bound as a share of the best objective; None unless both are positive."""
    if bound <= 0 or best <= 0:
        return 0.0 if minimise and bound == 0 < best else None
    return bound / best if minimise else best / bound


def _trace(
    system: System,
    method: str,
    look: Style,
    key: str,
    best: Mapping[str, float],
    index: Mapping[str, int],
) -> Trace | None:
    found = list(_measured(system, method, key, best))
    found = [found[i] for i in thinned(range(len(found)), fair_share(len(system.lines), 1))]
    if not found:
        return None
    lines, x, y = zip(*found, strict=True)
    return points(method, look, list(x), list(y), customdata=[index[line.key] for line in lines])


def _measured(
    system: System, method: str, key: str, best: Mapping[str, float]
) -> Iterator[tuple[Line, float, float]]:
    for line in system.lines:
        noted = line.entry.result.notes.get("model")
        if line.label != method or not isinstance(noted, Mapping) or line.instance not in best:
            continue
        kinds = [noted.get(kind) for kind in ("continuous", "integer", "binary")]
        bound = noted.get(key)
        if not isinstance(bound, int | float) or not all(isinstance(k, int) for k in kinds):
            continue
        y = share(float(bound), best[line.instance], minimise=line.minimises)
        size = float(sum(k for k in kinds if k is not None))
        if y is not None and size > 0:
            yield line, size, y
