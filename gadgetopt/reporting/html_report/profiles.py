"""Performance profiles after Dolan and Moré, of objectives and of times, and time to target.

Every instance of the system has the same weight, which a method's seeds share. A missing run counts
as not solved, so a curve may end low because the store is still being filled.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from gadgetopt.reporting.html_report.figure import (
    Figure,
    Trace,
    Variant,
    lines,
    log_axis,
    ratio_axis,
    share_axis,
)
from gadgetopt.reporting.html_report.reading import Line, System, number
from gadgetopt.reporting.html_report.style import Style
from gadgetopt.reporting.integrals import integral_of, primal_dual_gap
from gadgetopt.system.result import Status, TracePoint

#: Shorter times are noise and are raised to this, in seconds.
LEAST_S = 0.001

#: Relative distances of the targets from the best known objective.
TARGETS = (0.0, 0.01, 0.05, 0.1)

#: Relative tolerance for equality with the best known objective.
EQUAL = 1e-9

#: What a profile can be of: the method's ratio to the best or its gap to it, the time to proven
#: optimality and the primal-dual integral over the least of all methods.
MEASURES = ("time", "integral", "ratio", "gap")

#: Most steps that are drawn of a staircase.
_MOST_STEPS = 800


def quality_profile(system: System, looks: Mapping[str, Style]) -> Figure:
    """Return the share of instances on which a method is within a factor of the optimum."""
    variants = []
    rated = _rated(system)
    for label, end, said in (
        ("best objective known", lambda line: line.low, "of the best objective known"),
        ("optimum, as far as proved", lambda line: line.high, "of the optimum, proved"),
    ):
        found = _staircases(system, looks, end, rated)
        values = [x for _, xs, _ in found for x in xs]
        if not found:
            continue
        axis = {"title": {"text": f"factor {said}"}, **ratio_axis(values)}
        variants.append(
            Variant(
                label,
                _drawn(found, looks, 1.0, axis),
                {"xaxis": axis, "yaxis": share_axis("share of instances")},
            )
        )
    if rated != _solved(system):
        variants.append(_of_gaps(system, looks))
    caption = (
        "The share of instances on which a method comes within a factor of the best. Higher is "
        "better; a curve starts at the share on which its method is best. An instance on which a "
        "method was not run counts as not solved. The second choice counts proved factors only."
    )
    if rated != _solved(system):
        caption += (
            " An instance whose objective is not positive has no factor. The gap to the best "
            "objective exists for every instance; it is a part of the larger of the two."
        )
    return Figure("quality", "Objective: performance profile", caption, variants, "Factor of the")


def time_profile(system: System, looks: Mapping[str, Style]) -> Figure:
    """Return the share of instances that a method proves optimal within a factor of the fastest."""
    found = curves(system, looks, "time")
    values = [x for _, xs, _ in found for x in xs]
    axis = {
        "title": {"text": "factor of the fastest proof"},
        **log_axis(1.0, max([*values, 2.0])),
    }
    layout = {"xaxis": axis, "yaxis": share_axis("share of instances")}
    # A method that alone proves anything is its own fastest: a flat line.
    drawn = _drawn(found, looks, 1.0, axis) if len(found) > 1 else []
    caption = (
        "The share of instances on which a method proves its own solution optimal, within a factor "
        f"of the fastest proof. Times below {1000 * LEAST_S:g} ms count as {1000 * LEAST_S:g} ms. "
        "A method that proves nothing has no curve."
    )
    return Figure(
        "time",
        "Time to proven optimality: performance profile",
        caption,
        [Variant("", drawn, layout)],
    )


def integral_profile(system: System, looks: Mapping[str, Style]) -> Figure:
    """Return the share of instances on which a method's primal-dual integral is within a factor."""
    found = curves(system, looks, "integral")
    values = [x for _, xs, _ in found for x in xs]
    axis = {
        "title": {"text": "factor of the least primal-dual integral"},
        **log_axis(1.0, max([*values, 2.0])),
    }
    # Without incumbents or without bounds every integral is the run's time.
    several = len(found) > 1 and any(_bounds_both(line) for line in system.lines)
    caption = (
        "The primal-dual integral adds up a method's gap over time; a gap of 100% for a second "
        "counts as a second. The curve is the share of instances on which the integral is within a "
        "factor of the least one. Incumbents and bounds are those that the methods reported, and "
        "an open gap counts until the time limit. Integrals below "
        f"{1000 * LEAST_S:g} ms count as {1000 * LEAST_S:g} ms."
    )
    return Figure(
        "integral",
        "Primal-dual integral: performance profile",
        caption,
        [
            Variant(
                "",
                _drawn(found, looks, 1.0, axis) if several else [],
                {"xaxis": axis, "yaxis": share_axis("share of instances")},
            )
        ],
    )


def time_to_target(system: System, looks: Mapping[str, Style]) -> Figure:
    """Return the share of instances on which a method has reached a target after some time."""
    best = best_objectives(system)
    variants = []
    for target in TARGETS:
        found = _staircases(system, looks, _reaching(system, best, target))
        values = [x for _, xs, _ in found for x in xs]
        if not found:
            continue
        label = "the best objective known" if target == 0 else f"{100 * target:g} % of it"
        axis = {"title": {"text": "seconds"}, **log_axis(LEAST_S, max([*values, 2 * LEAST_S]))}
        layout = {"xaxis": axis, "yaxis": share_axis("share of instances")}
        variants.append(Variant(label, _drawn(found, looks, LEAST_S, axis), layout))
    caption = (
        "The time until a method has a solution as good as the target. The evaluator computed the "
        "objective of the final solution; earlier ones are those that the method reported."
    )
    return Figure("target", "Time to target", caption, variants, "Within")


def curves(
    system: System, methods: Iterable[str], measure: str
) -> list[tuple[str, list[float], list[float]]]:
    """Return the staircase of every method with a success, for one of `MEASURES`."""
    if measure == "ratio":
        return _staircases(system, methods, lambda line: line.low, _rated(system))
    if measure == "gap":
        return _staircases(system, methods, _gap_to(best_objectives(system)))
    cost = _proved_after if measure == "time" else _integral
    least: dict[str, float] = {}
    for line in system.lines:
        seconds = cost(line)
        if seconds is not None:
            least[line.instance] = min(seconds, least.get(line.instance, math.inf))

    def factor(line: Line) -> float | None:
        seconds = cost(line)
        return None if seconds is None else seconds / least[line.instance]

    return _staircases(system, methods, factor)


def best_objectives(system: System) -> dict[str, float]:
    """Return the best known objective of every instance that has one."""
    out: dict[str, float] = {}
    for line in system.lines:
        objective = number(line.entry.result.objective)
        if objective is not None:
            known = out.get(line.instance, objective)
            better = min if line.minimises else max
            out[line.instance] = better(objective, known)
    return out


def reached_after(line: Line, best: float, target: float, minimise: bool) -> float | None:
    """Return the seconds after which a run's incumbent was within `target` of `best`."""
    if line.entry.result.objective is None:
        return None
    room = (target + EQUAL) * max(abs(best), EQUAL)
    for time_s, incumbent, _ in line.events:
        if incumbent is not None and (incumbent - best if minimise else best - incumbent) <= room:
            return max(time_s, LEAST_S)
    return None


def _reaching(
    system: System, best: Mapping[str, float], target: float
) -> Callable[[Line], float | None]:
    def after(line: Line) -> float | None:
        if line.instance not in best:
            return None
        return reached_after(line, best[line.instance], target, line.minimises)

    return after


def _proved_after(line: Line) -> float | None:
    r = line.entry.result
    return max(r.time_s, LEAST_S) if r.status is Status.OPTIMAL else None


def _integral(line: Line) -> float | None:
    if line.entry.result.status is Status.ERROR:
        return None
    integral_s = integral_of(line.entry, [TracePoint(*event) for event in line.events])
    return None if integral_s is None else max(integral_s, LEAST_S)


def _bounds_both(line: Line) -> bool:
    """Return True if a run had an incumbent and a bound at a time."""
    return any(incumbent is not None and bound is not None for _, incumbent, bound in line.events)


def _gap_to(best: Mapping[str, float]) -> Callable[[Line], float | None]:
    def gap(line: Line) -> float | None:
        objective = number(line.entry.result.objective)
        return None if objective is None else primal_dual_gap(objective, best[line.instance])

    return gap


def _of_gaps(system: System, looks: Mapping[str, Style]) -> Variant:
    """Return the profile of the gaps to the best objectives."""
    found = curves(system, looks, "gap")
    largest = max([x for _, xs, _ in found for x in xs], default=0.0)
    axis = {
        "title": {"text": "gap to the best objective known"},
        "range": [-0.02 * largest, 1.05 * largest or 0.01],
        "tickformat": "~%",
    }
    layout = {"xaxis": axis, "yaxis": share_axis("share of instances")}
    return Variant("gap to it", _drawn(found, looks, 0.0, axis), layout)


def _solved(system: System) -> set[str]:
    return {line.instance for line in system.lines if line.entry.result.objective is not None}


def _rated(system: System) -> set[str]:
    """Return the instances with a ratio: an objective of 0 or less is no factor of another."""
    return {line.instance for line in system.lines if line.low is not None}


def _staircases(
    system: System,
    methods: Iterable[str],
    cost: Callable[[Line], float | None],
    instances: set[str] | None = None,
) -> list[tuple[str, list[float], list[float]]]:
    """Return, for every method with a success, the costs and the share reached at each cost.

    Shares are of the given instances, by default of all with a solution.
    """
    universe = _solved(system) if instances is None else instances
    runs: defaultdict[tuple[str, str], int] = defaultdict(int)
    for line in system.lines:
        runs[line.label, line.instance] += 1
    reached: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for line in system.lines:
        x = cost(line)
        if x is not None and math.isfinite(x) and line.instance in universe:
            weight = 1 / (len(universe) * runs[line.label, line.instance])
            reached[line.label].append((x, weight))
    return [(m, *_accumulated(sorted(reached[m]))) for m in methods if m in reached]


def _accumulated(steps: Iterable[tuple[float, float]]) -> tuple[list[float], list[float]]:
    x: list[float] = []
    y: list[float] = []
    total = 0.0
    for at, weight in steps:
        total += weight
        if x and at <= x[-1] * (1 + EQUAL):
            y[-1] = total
        else:
            x.append(at)
            y.append(total)
    if len(x) > _MOST_STEPS:
        kept = [*range(0, len(x) - 1, math.ceil(len(x) / _MOST_STEPS)), len(x) - 1]
        x, y = [x[i] for i in kept], [y[i] for i in kept]
    return x, y


def _drawn(
    curves: Sequence[tuple[str, list[float], list[float]]],
    looks: Mapping[str, Style],
    start: float,
    axis: Mapping[str, Any],
) -> list[Trace]:
    """Return the staircases as curves that extend to the right end of the axis.

    A curve that stopped at its last step would look as if the method had failed there.
    """
    out = []
    end = axis["range"][1]
    stop = 10**end if axis.get("type") == "log" else end
    for method, x, y in curves:
        before = [(start, 0.0)] if x[0] > start else []
        steps = [*before, *zip(x, y, strict=True), (stop, y[-1])]
        xs, ys = [a for a, _ in steps], [b for _, b in steps]
        hover = f"{method}: %{{y:.1%}} within %{{x:.4g}}<extra></extra>"
        out.append(lines(method, looks[method], xs, ys, hovertemplate=hover))
    return out
