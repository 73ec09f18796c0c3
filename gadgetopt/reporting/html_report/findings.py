"""Sentences at the head of each system: what refutes a theorem, who vouches, what went wrong."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gadgetopt.numbers.tolerance import as_double
from gadgetopt.reporting.html_report.reading import Line, System
from gadgetopt.reporting.html_report.words import guarantee, interval
from gadgetopt.reporting.sentences import Row, certified, finding, infeasible, refuted, says_nothing
from gadgetopt.system.result import Status, Voucher
from gadgetopt.trust.theorems import Promise, Verdict, proven_ratio, verdict

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
class Finding:
    """A finding in one sentence; `alarm` if something is wrong."""

    text: str
    alarm: bool = False
    run: str | None = None


def states(lines: Sequence[Line]) -> list[tuple[str, str, int]]:
    """Return sign, word and number of runs for every status that occurs."""
    counted = Counter(line.entry.result.state for line in lines)
    return [(sign, word, counted[word]) for word, sign in SIGNS.items() if counted[word]]


def findings(system: System, rows: Sequence[Row]) -> list[Finding]:
    """Return findings on a system's runs.

    Refuted theorems, how far the main method is from optimal, the share of certified ratios, and
    the worst ratio where a theorem applies.

    Parameters
    ----------
    system : System
    rows : sequence of dict
        The system's summary; empty if the page's head says what follows from it.
    """
    out = []
    for line, promise in exceeded(system.lines):
        said, alarm = refuted(line.entry, promise), promise.standing == "proven"
        out.append(Finding(said, alarm=alarm, run=line.key))
    if rows:
        table = [line.entry for line in system.lines]
        out += [Finding(said) for said in (*infeasible(table), finding(rows, table)) if said]
    measured = [line for line in system.lines if line.entry.ratio is not None]
    closed = [line for line in measured if line.certified]
    rated = sum(line.low is not None for line in measured)
    if measured:
        by = Counter(line.rests_on for line in closed)
        out.append(
            Finding(
                certified(
                    {
                        "rated": rated,
                        "unrated": len(measured) - rated,
                        "certified": len(closed),
                        "certified_verified": by[Voucher.VERIFIED],
                        "certified_cross_checked": by[Voucher.CROSS_CHECKED],
                        "certified_solver": by[Voucher.SOLVER],
                    }
                )
            )
        )
    worst = worst_promised(system)
    if worst is not None:
        most = guarantee(as_double(proven_ratio(worst.entry.promises) or 0))
        out.append(
            Finding(
                f"worst ratio where a theorem applies: {interval(worst.low, worst.high)} "
                f"({worst.label} on {worst.entry.result.instance}; theorem: {most})",
                run=worst.key,
            )
        )
    return out


def worst_promised(system: System) -> Line | None:
    """Return the run with the worst ratio among runs with a proven theorem."""
    promised = [
        line
        for line in system.lines
        if line.low is not None
        and proven_ratio(line.entry.promises) is not None
        and not says_nothing(line.low, math.inf if line.high is None else line.high)
    ]
    return max(promised, key=lambda line: line.low or 0, default=None)


def errors(lines: Sequence[Line]) -> list[tuple[str, str, int, Line]]:
    """Return method, reason, number of runs and first run of every distinct error."""
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        if line.entry.result.status is Status.ERROR:
            groups.setdefault((line.label, line.entry.result.reason or "?"), []).append(line)
    return [(method, reason, len(g), g[0]) for (method, reason), g in groups.items()]


def exceeded(lines: Sequence[Line]) -> list[tuple[Line, Promise]]:
    """Return, for every theorem that a run refutes, the worst such run."""
    worst: dict[tuple[str, str], tuple[Line, Promise]] = {}  # by theorem and standing
    for line in lines:
        for promise in line.entry.promises:
            if verdict(promise, line.entry.ratio) is Verdict.EXCEEDED:
                key = (promise.theorem, promise.standing)
                known = worst.get(key)
                if known is None or (line.low or 0) > (known[0].low or 0):
                    worst[key] = line, promise
    return [*worst.values()]
