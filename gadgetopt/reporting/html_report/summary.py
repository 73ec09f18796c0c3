"""Text and tables at the head of the report and of each system."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gadgetopt.numbers.tolerance import as_double
from gadgetopt.reporting.html_report.progress import median
from gadgetopt.reporting.html_report.reading import Line, System
from gadgetopt.system.result import Status, Voucher
from gadgetopt.trust.theorems import Verdict, proven_ratio, verdict

#: A status is a sign and a word, so that it never depends on colour.
SIGNS = {
    "optimal": "✓",
    "feasible": "●",
    "bound only": "⊢",
    "no solution": "○",
    "infeasible": "∅",
    "unbounded": "∞",
    "error": "✕",
}


@dataclass(frozen=True)
class MethodRow:
    """A row of the table of methods."""

    label: str
    kind: str
    runs: int
    errors: int
    optimal: int
    rated: int
    certified: int
    typical: str
    worst: str
    promised: str
    time: str


@dataclass(frozen=True)
class Finding:
    """A finding in one sentence; `alarm` if something is wrong."""

    text: str
    alarm: bool = False
    run: str | None = None


def states(lines: Sequence[Line]) -> list[tuple[str, str, int]]:
    """Return sign, word and number of runs for every status that occurs."""
    counted = Counter(line.entry.result.state for line in lines)
    return [(sign, word, counted[word]) for word, sign in SIGNS.items() if counted[word]]


def method_rows(system: System) -> list[MethodRow]:
    """Return one row per method, in the order in which they were first run."""
    return [
        _method_row(method, [line for line in system.lines if line.label == method])
        for method in system.methods
    ]


def findings(system: System) -> list[Finding]:
    """Return findings on a system's runs: refuted theorems, certified share, worst ratio."""
    out = []
    for line, theorem, standing, most in exceeded(system.lines):
        r = line.entry.result
        out.append(
            Finding(
                f"{theorem} ({standing}) promises at most {most} on {r.instance}, but "
                f"{line.label} is at {interval(line.low, line.high)}",
                alarm=standing == "proven",
                run=line.key,
            )
        )
    rated = [line for line in system.lines if line.low is not None]
    closed = [line for line in rated if line.certified]
    if rated:
        share = f"{len(closed)} of {len(rated)} ratios are certified"
        word = sum(line.rests_on is Voucher.SOLVER for line in closed)
        if word:
            share += f", {word} of them by a bound that only a solver claims"
        out.append(Finding(share))
    worst = worst_promised(system)
    if worst is not None:
        proven = as_double(proven_ratio(worst.entry.promises) or 0)
        out.append(
            Finding(
                f"worst ratio where a theorem applies: {interval(worst.low, worst.high)} "
                f"({worst.label} on {worst.entry.result.instance}, where at most {proven:.4g} is "
                "proven)",
                run=worst.key,
            )
        )
    return out


def worst_promised(system: System) -> Line | None:
    """Return the run with the worst ratio among runs with a proven theorem."""
    promised = [
        line
        for line in system.lines
        if line.low is not None and proven_ratio(line.entry.promises) is not None
    ]
    return max(promised, key=lambda line: line.low or 0, default=None)


def errors(lines: Sequence[Line]) -> list[tuple[str, str, int, Line]]:
    """Return method, reason, number of runs and first run of every distinct error."""
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        if line.entry.result.status is Status.ERROR:
            groups.setdefault((line.label, line.entry.result.reason or "?"), []).append(line)
    return [(method, reason, len(g), g[0]) for (method, reason), g in groups.items()]


def exceeded(lines: Sequence[Line]) -> list[tuple[Line, str, str, str]]:
    """Return, for every theorem that a run refutes, the worst such run."""
    worst: dict[tuple[str, str], tuple[Line, str]] = {}  # by theorem and standing
    for line in lines:
        for promise in line.entry.promises:
            if verdict(promise, line.entry.ratio) is Verdict.EXCEEDED:
                key = (promise.theorem, promise.standing)
                known = worst.get(key)
                if known is None or (line.low or 0) > (known[0].low or 0):
                    worst[key] = (line, f"{as_double(promise.ratio or 0):.4g}")
    return [(line, *theorem, promised) for theorem, (line, promised) in worst.items()]


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural where needed."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def interval(low: float | None, high: float | None) -> str:
    """Return a ratio as text: one number if it is certified to three decimals, else both ends.

    An infinite lower end stands alone.
    """
    if low == math.inf:
        return _ratio(low)
    if low is None:
        return "?" if high is None else f"≤ {_ratio(high)}"
    if high is None:
        return f"≥ {_ratio(low)}"
    if _ratio(low) == _ratio(high):
        return _ratio(low)
    return f"{_ratio(low)} – {_ratio(high)}"


def _method_row(method: str, lines: Sequence[Line]) -> MethodRow:
    rated = [line for line in lines if line.low is not None]
    lows = [line.low or 0.0 for line in rated]
    highs = [math.inf if line.high is None else line.high for line in rated]
    promised = [as_double(p) for x in lines if (p := proven_ratio(x.entry.promises)) is not None]
    return MethodRow(
        label=method,
        kind=lines[0].entry.result.kind,
        runs=len(lines),
        errors=sum(line.entry.result.status is Status.ERROR for line in lines),
        optimal=sum(line.entry.result.status is Status.OPTIMAL for line in lines),
        rated=len(rated),
        certified=sum(line.certified for line in rated),
        typical=_known(median(lows), median(highs)) if rated else "",
        worst=_known(max(lows), max(highs)) if rated else "",
        promised=_range(promised),
        time=seconds(median([line.entry.result.time_s for line in lines])),
    )


def seconds(time_s: float) -> str:
    """Return a time as text with a sensible number of digits."""
    if time_s < 0.1:
        return f"{1000 * time_s:.1f} ms"
    return f"{time_s:.2f} s" if time_s < 100 else f"{time_s:.0f} s"


def _known(low: float, high: float) -> str:
    return interval(low, None if math.isinf(high) else high)


def _range(values: Sequence[float]) -> str:
    if not values:
        return ""
    low, high = _ratio(min(values)), _ratio(max(values))
    return low if low == high else f"{low} – {high}"


def _ratio(x: float) -> str:
    return "∞" if math.isinf(x) else f"{x:.3f}" if x < 1000 else f"{float(f'{x:.4g}'):.10g}"
