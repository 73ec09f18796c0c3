"""Outcomes by system, method and columns of the instances."""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import mean, median
from typing import TYPE_CHECKING, Any

from gadgetopt.errors import InputError
from gadgetopt.reporting.chance import mean_interval
from gadgetopt.reporting.geometric_means import bootstrap_interval, shifted_geometric_mean
from gadgetopt.reporting.instance_columns import columns_of_origins
from gadgetopt.reporting.summary.labels import labels
from gadgetopt.reporting.summary.outcomes import Outcome, compete, outcome_of
from gadgetopt.runs.comparison import Entry
from gadgetopt.runs.store import StoredInstance
from gadgetopt.system.registry import sense_of
from gadgetopt.system.result import Voucher

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

#: The columns of a summary after `system`, the columns of `by`, and `method`.
MEASURES = (
    "kind",
    "runs",
    "instances",
    "not_applicable",
    "errors",
    "limits",
    "solved",
    "bound_only",
    "infeasible",
    "infeasible_verified",
    "infeasible_cross_checked",
    "infeasible_solver",
    "optimal",
    "optimal_verified",
    "optimal_cross_checked",
    "optimal_solver",
    "compared",
    "wins",
    "ties",
    "rated",
    "at_optimum",
    "certified",
    "certified_verified",
    "certified_cross_checked",
    "certified_solver",
    "unlimited",
    "ratio_median_low",
    "ratio_median_high",
    "ratio_worst_low",
    "ratio_worst_high",
    "unrated",
    "gap_median",
    "gap_worst",
    "guaranteed",
    "guarantee_median",
    "guarantee_worst",
    "refuted",
    "refuted_proven",
    "time_s",
)

#: Further columns, with a generator for the samples of their intervals.
INTERVALS = (
    "time_shifted_1_s_low",
    "time_shifted_1_s_high",
    "integral_shifted_1_s",
    "integral_shifted_1_s_low",
    "integral_shifted_1_s_high",
    "ratio_mean_low",
    "ratio_mean_high",
    "ratio_mean_interval_low",
    "ratio_mean_interval_high",
)

#: A system and the fingerprint of one of its instances.
_Where = tuple[str, str]


def summarize(
    table: Sequence[Entry], by: Sequence[str] = (), rng: np.random.Generator | None = None
) -> pd.DataFrame:
    """Return one row per system, group of instances, and method.

    A stochastic method counts once per instance: with the means of objective, ratio and time over
    its seeds. It solved the instance if every run did, is optimal if every run is.

    Parameters
    ----------
    table : sequence of Entry
    by : sequence of str
        Columns of the instances, see `gadgetopt.summary`.
    rng : numpy.random.Generator, optional
        Draws the samples of bootstrap intervals; without it there are none, and no integrals.

    Returns
    -------
    pandas.DataFrame
        `system`, the columns of `by`, `method`, and these:

        runs, errors, limits, not_applicable
            Numbers of runs: all of methods that apply; failed; cut short by a limit of time or
            memory; and of runs of methods that do not support their instance.
        instances, solved, bound_only, infeasible, optimal
            Numbers of instances: all; with a feasible solution; with a dual bound and no solution;
            proved infeasible; solved to optimality; the last two also by voucher.
        compared, wins, ties
            Numbers of instances on which another method could find a solution as well; on which
            this one has the best objective alone; on which it shares it.
        rated, at_optimum, certified
            Numbers of instances with a ratio; with a solution that is known to be optimal, whoever
            proved it; with a closed interval, and these by the voucher of the dual bound.
        unlimited
            Number of instances whose ratio, or gap, no dual bound limits.
        ratio_median_low, ratio_median_high, ratio_worst_low, ratio_worst_high
            Intervals that contain the median and the largest of the ratios; infinite if no dual
            bound limits them, NaN if there is no ratio.
        unrated, gap_median, gap_worst
            Number of instances that are solved and have no ratio, as with negative objectives;
            median and largest of the relative gaps to the best dual bound on them, which is
            infinite if there is none. They count in `at_optimum` and `certified` as well.
        guaranteed, guarantee_median, guarantee_worst
            Number of instances on which a proven theorem applies, and the ratios it guarantees.
        refuted, refuted_proven
            Numbers of runs that exceed a theorem, and a proven theorem.
        time_s
            Geometric mean of the seconds per instance, shifted by 1 s. Runs that failed or hit a
            limit count with their time limit, if they had one.

        With `rng` also these:

        time_shifted_1_s_low, time_shifted_1_s_high
            The 95 % bootstrap interval of `time_s` over the instances; NaN of one instance.
        integral_shifted_1_s, integral_shifted_1_s_low, integral_shifted_1_s_high
            Geometric mean of the primal-dual integrals per instance in seconds, shifted by 1 s, and
            its interval; NaN if a trace was not read (`gadgetopt.reporting.integrals`).
        ratio_mean_low, ratio_mean_high
            Interval that contains the mean of the ratios.
        ratio_mean_interval_low, ratio_mean_interval_high
            Its 95 % bootstrap interval over the instances: the lower end from the lower ends of the
            ratios, the upper end from the upper ones; NaN of one instance.

    Raises
    ------
    InputError
        If no instance has one of the columns.
    """
    import pandas as pd

    names = [spec.partition(":")[0] for spec in by]
    columns = ["system", *names, "method", *MEASURES, *(INTERVALS if rng is not None else ())]
    rows = [
        {"system": system, **dict(zip(names, values, strict=True)), "method": method}
        | {"kind": kind, **_measures(outcomes)}
        | (_intervals(outcomes, rng) if rng is not None else {})
        for (system, values, method, kind), outcomes in grouped(table, by)
    ]
    frame = pd.DataFrame(rows, columns=columns)
    for name in names:  # integers stay integers where a system lacks the column
        frame[name] = pd.Series([row[name] for row in rows], dtype=object)
    return frame


def grouped(
    table: Sequence[Entry], by: Sequence[str]
) -> list[tuple[tuple[str, tuple[Any, ...], str, str], list[Outcome]]]:
    """Return the outcomes of each system, group, method and its kind, in the order of rows.

    Raises
    ------
    InputError
        If no instance has one of the columns.
    """
    methods: dict[tuple[str, str], str] = {}  # in the order in which they were first run
    for entry, label in zip(table, labels(table), strict=True):
        methods.setdefault((entry.result.problem, label), entry.result.kind)
    values, orders = _values(table, by)
    groups: defaultdict[tuple[str, tuple[Any, ...], str], list[Outcome]] = defaultdict(list)
    for (system, fingerprint), (_, outcomes) in by_instance(table).items():
        for of_group in values[system, fingerprint]:
            for label, outcome in outcomes.items():
                groups[system, of_group, label].append(outcome)
    systems = {name: k for k, name in enumerate(dict.fromkeys(s for s, _ in methods))}
    ranks = {method: k for k, method in enumerate(methods)}

    def position(group: tuple[str, tuple[Any, ...], str]) -> tuple[Any, ...]:
        system, of_group, label = group
        places = [order[value] for order, value in zip(orders, of_group, strict=True)]
        return systems[system], *places, ranks[system, label]

    return [((*g, methods[g[0], g[2]]), groups[g]) for g in sorted(groups, key=position)]


def by_instance(table: Sequence[Entry]) -> dict[_Where, tuple[Entry, dict[str, Outcome]]]:
    """Return an entry of each instance, and the outcome there of each method by its label."""
    cells: defaultdict[_Where, defaultdict[str, dict[int | None, Entry]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for entry, label in zip(table, labels(table), strict=True):
        r = entry.result
        # The same data under two names was run once.
        cells[r.problem, r.fingerprint][label].setdefault(r.seed, entry)
    out = {}
    for where, of_methods in cells.items():
        outcomes = {label: outcome_of([*runs.values()]) for label, runs in of_methods.items()}
        first = next(iter(next(iter(of_methods.values())).values()))
        compete(outcomes, sense_of(first.result))
        out[where] = first, outcomes
    return out


def _values(
    table: Sequence[Entry], by: Sequence[str]
) -> tuple[dict[_Where, list[tuple[Any, ...]]], list[dict[Any, int]]]:
    """Return the groups that each instance belongs to, and the order of each column's values.

    An instance that several values of a parameter give belongs to the groups of all of them.
    """
    rows = _instances(table)
    own: dict[_Where, list[tuple[Any, ...]]] = {
        where: [()] * len(variants) for where, variants in rows.items()
    }
    orders = []
    for spec in by:
        name, _, parts = spec.partition(":")
        known = dict.fromkeys(n for variants in rows.values() for row in variants for n in row)
        if rows and name not in known:
            raise InputError(
                f"--by: {name!r} is no column of these instances, which have {', '.join(known)}"
            )
        column = {w: [_hashable(row.get(name)) for row in v] for w, v in rows.items()}
        if parts:
            column = _binned(column, _count(parts, spec))
        own = {w: [(*a, b) for a, b in zip(own[w], column[w], strict=True)] for w in rows}
        # Numbers before texts before nothing.
        ordered = sorted({x for xs in column.values() for x in xs}, key=_sort_key)
        orders.append({value: k for k, value in enumerate(ordered)})
    return {where: list(dict.fromkeys(groups)) for where, groups in own.items()}, orders


def _instances(table: Sequence[Entry]) -> dict[_Where, list[dict[str, Any]]]:
    """Return the columns of each instance, for each of its origins and names."""
    names: defaultdict[_Where, dict[str, None]] = defaultdict(dict)
    stored: dict[str, StoredInstance] = {}
    for entry in table:
        r = entry.result
        names[r.problem, r.fingerprint][r.instance] = None
        if entry.stored is not None:
            stored[r.fingerprint] = entry.stored
    known = columns_of_origins(stored)
    out: dict[_Where, list[dict[str, Any]]] = {}
    for where, own in names.items():
        first, *others = own
        variants = [{"instance": first, **row} for row in known.get(where[1], ({},))]
        told = {row["instance"] for row in variants}
        variants += [{**variants[0], "instance": name} for name in others if name not in told]
        out[where] = variants
    return out


def _hashable(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list | tuple | dict) else value


def _sort_key(value: Any) -> tuple[int, float, str]:
    if value is None:
        return 2, 0.0, ""
    if isinstance(value, Range):
        return 0, value.low, ""
    if isinstance(value, int | float):
        return 0, float(value), ""
    return 1, 0.0, str(value)


class Range(str):
    """The values of a group as text, "0.5 to 0.8", sorted by the lower end."""

    low: float

    def __new__(cls, low: float, high: float) -> Range:
        """Return the text of a range."""
        made = super().__new__(cls, f"{low:.4g} to {high:.4g}" if low < high else f"{low:.4g}")
        made.low = low
        return made


def _count(text: str, spec: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"--by: {spec!r}: {text!r} is not a positive number of groups")
    return int(text)


def _binned(own: Mapping[_Where, list[Any]], count: int) -> dict[_Where, list[Any]]:
    """Return ranges of values with about as many instances each; equal values stay together."""
    numbers = sorted(x for xs in own.values() for x in xs if _is_number(x))
    cuts = sorted({numbers[len(numbers) * k // count] for k in range(count)} if numbers else ())
    place = {x: bisect_right(cuts, x) for x in set(numbers)}
    parts: defaultdict[int, list[float]] = defaultdict(list)
    for x, k in place.items():
        parts[k].append(x)
    ranges = {k: Range(min(xs), max(xs)) for k, xs in parts.items()}
    return {w: [ranges[place[x]] if _is_number(x) else x for x in xs] for w, xs in own.items()}


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool)


def _measures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    run = [o for o in outcomes if o.runs]
    rated = [(o.low, o.high) for o in run if o.low is not None and o.high is not None]
    lows, highs = [low for low, _ in rated], [high for _, high in rated]
    gaps = [o.distance for o in run if o.distance is not None]
    guarantees = [o.guarantee for o in run if o.guarantee is not None]
    return {
        "runs": sum(o.runs for o in run),
        "instances": len(run),
        "not_applicable": sum(o.not_applicable for o in outcomes),
        "errors": sum(o.errors for o in run),
        "limits": sum(o.limits for o in run),
        "solved": sum(o.solved for o in run),
        "bound_only": sum(o.bound_only for o in run),
        **_by_voucher("infeasible", [o.infeasible for o in run]),
        **_by_voucher("optimal", [o.optimal for o in run]),
        "compared": sum(o.compared for o in run),
        "wins": sum(o.won for o in run),
        "ties": sum(o.tied for o in run),
        "rated": len(rated),
        "unlimited": sum(math.isinf(high) and not math.isinf(low) for low, high in rated)
        + sum(map(math.isinf, gaps)),
        "at_optimum": sum(o.at_optimum for o in run),
        **_by_voucher("certified", [o.certified for o in run]),
        "ratio_median_low": _of(median, lows),
        "ratio_median_high": _of(median, highs),
        "ratio_worst_low": _of(max, lows),
        "ratio_worst_high": _of(max, highs),
        "unrated": len(gaps),
        "gap_median": _of(median, gaps),
        "gap_worst": _of(max, gaps),
        "guaranteed": len(guarantees),
        "guarantee_median": _of(median, guarantees),
        "guarantee_worst": _of(max, guarantees),
        "refuted": sum(o.refuted for o in run),
        "refuted_proven": sum(o.refuted_proven for o in run),
        "time_s": shifted_geometric_mean([o.time_s for o in run]),
    }


def _intervals(outcomes: Sequence[Outcome], rng: np.random.Generator) -> dict[str, float]:
    run = [o for o in outcomes if o.runs]
    times = [o.time_s for o in run]
    integrals = [o.integral_s for o in run if o.integral_s is not None]
    if len(integrals) < len(run):
        integrals = []
    rated = [(o.low, o.high) for o in run if o.low is not None and o.high is not None]
    lows, highs = [low for low, _ in rated], [high for _, high in rated]
    values = (
        *bootstrap_interval(times, rng),
        shifted_geometric_mean(integrals),
        *bootstrap_interval(integrals, rng),
        _of(mean, lows),
        _of(mean, highs),
        mean_interval(lows, rng)[0],
        mean_interval(highs, rng)[1],
    )
    return dict(zip(INTERVALS, values, strict=True))


def _by_voucher(name: str, vouchers: Sequence[Voucher | None]) -> dict[str, int]:
    return {
        name: sum(v is not None for v in vouchers),
        **{
            f"{name}_{str(voucher).replace('-', '_')}": vouchers.count(voucher)
            for voucher in reversed(Voucher)
        },
    }


def _of(statistic: Any, values: Sequence[float]) -> float:
    return float(statistic(values)) if values else math.nan
