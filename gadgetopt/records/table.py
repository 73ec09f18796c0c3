"""The page of all entries: open ones first, the widest gap on top, and since when."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from gadgetopt.numbers.text import show
from gadgetopt.records.record import Record
from gadgetopt.records.shelf import Entry
from gadgetopt.reporting import cells
from gadgetopt.runs.rows import decode_number
from gadgetopt.system.registry import problem

#: The columns of the page's tables.
_COLUMNS = ("instance", "sizes", "objective", "bound", "gap", "since", "found by")


def row_of(record: Record) -> dict[str, Any]:
    """Return an entry in the columns of tables."""
    step = record.history[-1]
    return {
        "instance": record.name,
        "problem": record.problem,
        "sense": record.sense,
        "sizes": " ".join(f"{k.replace('_', ' ')} {v:g}" for k, v in record.sizes.items()),
        "status": record.status,
        "objective": _shown(record.best_objective),
        "bound": "" if record.status == "infeasible" else _shown(record.best_bound),
        "gap": _gap(record),
        "since": step.date,
        "found by": _finders(record),
    }


def _shown(text: str | None) -> str:
    value = decode_number(text)
    return "" if value is None else show(value)


def _gap(record: Record) -> str:
    if record.status == "infeasible":
        return "infeasible"
    if record.status == "closed":
        return "closed"
    if record.gap is None:
        return "no bound" if record.best_bound is None else "no solution"
    return cells.gap(record.gap)


def _finders(record: Record) -> str:
    """Return the methods that found the objective and the bound."""
    steps = (record.last("objective"), record.last("bound"))
    return ", ".join(dict.fromkeys(step.method for step in steps if step is not None))


def in_order(entries: Sequence[Entry]) -> list[Entry]:
    """Return entries by system, open ones first, those of the widest gap on top."""

    def key(entry: Entry) -> Any:
        r = entry.record
        wide = float("inf") if r.gap is None else r.gap
        return (r.problem, r.status != "open", -wide if r.status == "open" else 0.0, r.name)

    return sorted(entries, key=key)


def _under(name: str, record: Record) -> str:
    return f"{record.sense}imise; `gadgetopt records list {name}`"


def page(entries: Sequence[Entry]) -> str:
    """Return the page of entries as Markdown."""
    counts = {
        s: sum(e.record.status == s for e in entries) for s in ("closed", "open", "infeasible")
    }
    lines = [
        "# Table of the records",
        "",
        "The best known solution and the best proved bound of every instance of the "
        "[records](../records.md), open ones first. `since` is the day of the last improvement.",
        "",
        "    gadgetopt records table --out docs/measurements/records.md",
        "",
        f"{len(entries)} instances: {counts['closed']} closed, {counts['open']} open, "
        f"{counts['infeasible']} proved to have no solution.",
    ]
    lines += [
        "",
        "| system | instances | closed | open | widest gap |",
        "|---|---:|---:|---:|---:|",
    ]
    groups = {
        name: [e.record for e in group]
        for name, group in groupby(in_order(entries), key=lambda e: e.record.problem)
    }
    for name, records in groups.items():
        still = [r for r in records if r.status == "open"]
        gaps = [r.gap for r in still if r.gap is not None]
        widest = cells.gap(max(gaps)) if gaps else ""
        done = len(records) - len(still)
        lines.append(f"| {name} | {len(records)} | {done} | {len(still)} | {widest} |")
    for name, records in groups.items():
        lines += ["", f"## {problem(name).title}", "", _under(name, records[0])]
        lines += ["", f"| {' | '.join(_COLUMNS)} |", "|---|---|---:|---:|---:|---|---|"]
        for record in records:
            row = row_of(record)
            lines.append("| " + " | ".join(str(row[column]) for column in _COLUMNS) + " |")
    return "\n".join(lines) + "\n"
