"""Ratio tables: on the terminal, and as CSV, JSON, Parquet or LaTeX."""

from __future__ import annotations

import io
import json
import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gadgetopt.errors import InputError
from gadgetopt.numbers.text import show, show_gap
from gadgetopt.numbers.tolerance import as_double
from gadgetopt.reporting.cells import guarantee, seconds
from gadgetopt.reporting.cells import ratio as interval
from gadgetopt.reporting.sentences import refuted
from gadgetopt.runs.comparison import (
    ROW_KEYS,
    Entry,
    entries,
    plain,
)
from gadgetopt.runs.rows import StoredRun
from gadgetopt.runs.store import Store
from gadgetopt.system.output import whole_file, write_text
from gadgetopt.system.result import OWN_LIMIT, Status
from gadgetopt.trust.ratio import Ratio
from gadgetopt.trust.theorems import Promise, Verdict, proven_ratio, verdict

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

logger: logging.Logger = logging.getLogger(__name__)

Format = Literal["table", "csv", "json", "parquet", "latex"]
FORMATS: tuple[Format, ...] = ("table", "csv", "json", "parquet", "latex")

_THEOREM: dict[str, Callable[[Entry, Promise], Any]] = {
    "instance": lambda entry, promise: entry.result.instance,
    "problem": lambda entry, promise: entry.result.problem,
    "method": lambda entry, promise: entry.result.method,
    "theorem": lambda entry, promise: promise.theorem,
    "reference": lambda entry, promise: promise.reference,
    "standing": lambda entry, promise: promise.standing,
    "guarantee": lambda entry, promise: plain(promise.ratio),
    "ratio_low": lambda entry, promise: plain(entry.ratio.low) if entry.ratio else None,
    "ratio_high": lambda entry, promise: plain(entry.ratio.high) if entry.ratio else None,
    "verdict": lambda entry, promise: str(verdict(promise, entry.ratio)),
    "failing_assumptions": lambda entry, promise: "; ".join(promise.failing) or None,
    "seed": lambda entry, promise: entry.result.seed,
}

#: The keys of a row of the theorem table, in order.
THEOREM_KEYS = tuple(_THEOREM)


def ratios(store: Path | str, *, traces: bool = False) -> list[Entry]:
    """Return the ratio table of a store, without the methods that do not apply.

    Parameters
    ----------
    store : path
    traces : bool
        Whether to read the runs' traces as well.

    Raises
    ------
    InputError
        If the file is missing or not a store.
    """
    with Store(Path(store), create=False) as runs:
        kept = [run for run in runs.runs(details=False) if not run.result.refused]
        _tell_of_code(Path(store), kept)
        if traces:
            extras = runs.extras({run.key for run in kept})
            kept = [
                replace(run, result=replace(run.result, trace=extras[run.key].trace))
                for run in kept
                if run.key in extras
            ]
        # Two clients that share a store interleave their runs; an instance's are kept together.
        first: dict[str, int] = {}
        for run in kept:
            first.setdefault(run.result.fingerprint, len(first))
        return entries(sorted(kept, key=lambda run: first[run.result.fingerprint]), runs.instances)


def _tell_of_code(path: Path, runs: Sequence[StoredRun]) -> None:
    """Warn about runs whose code is unknown, and about methods run by several versions of code."""
    unknown = sum(run.code is None for run in runs)
    if unknown:
        logger.warning("%s: the code that made %d of %d runs is unknown", path, unknown, len(runs))
    codes: dict[tuple[str, str], set[str | None]] = {}
    for run in runs:
        codes.setdefault((run.result.problem, run.result.method), set()).add(run.code)
    mixed = sorted({method for (_, method), made in codes.items() if len(made) > 1})
    if mixed:
        logger.warning(
            "%s: runs made by more than one version of the code: %s", path, ", ".join(mixed)
        )


def theorem_rows(table: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return one row per run and theorem: guaranteed ratio, measured ratio and verdict."""
    return [
        {key: value(entry, promise) for key, value in _THEOREM.items()}
        for entry in table
        for promise in entry.promises
    ]


def frame(rows: Sequence[dict[str, Any]], keys: Sequence[str] = ROW_KEYS) -> pd.DataFrame:
    """Return rows as a DataFrame with its columns in order."""
    import pandas as pd

    return pd.DataFrame(list(rows), columns=list(keys))


def render(
    rows: Sequence[dict[str, Any]], form: Format, out: Path | None, keys: Sequence[str] = ROW_KEYS
) -> str | None:
    """Write rows in a format to `out`, or return the text if `out` is None.

    Raises
    ------
    InputError
        If Parquet is asked for without a file or without pyarrow, or the file cannot be written.
    """
    if form == "parquet":
        if out is None:
            raise InputError("--format parquet: is binary, expected --out FILE")
        try:
            with whole_file(out) as part:
                frame(rows, keys).to_parquet(part)
        except ImportError:
            raise InputError(
                "--format parquet: needs pyarrow: pip install 'gadgetopt[parquet]'"
            ) from None
        return None
    text = _text(rows, form, keys)
    if out is None:
        return text
    write_text(out, text)
    return None


def _text(rows: Sequence[dict[str, Any]], form: Format, keys: Sequence[str]) -> str:
    if form == "json":
        return json.dumps(list(rows), indent=1, allow_nan=False) + "\n"
    if form == "csv":
        buffer = io.StringIO()
        frame([_unrun(row) for row in rows], keys).to_csv(buffer, index=False)
        return buffer.getvalue()
    if form == "latex":
        shown = [_with_guarantee_in_words(row) for row in rows]
        return str(
            frame(shown, keys).to_latex(index=False, escape=True, na_rep="", float_format="%.4g")
        )
    raise ValueError(f"{form} is not a text format")


def _with_guarantee_in_words(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row for people to read, to whom a ratio of millions says nothing."""
    if row.get("guarantee") is None:
        return row
    return {**row, "guarantee": guarantee(float(row["guarantee"]))}


#: Characters at which a spreadsheet starts a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\n")


def _unrun(row: dict[str, Any]) -> dict[str, Any]:
    """Put an apostrophe before texts that a spreadsheet would run as formulas; keep numbers."""
    return {key: _text_cell(x) if isinstance(x, str) else x for key, x in row.items()}


def _text_cell(text: str) -> str:
    # A lone carriage return ends a row for some readers, and Python's writer does not quote it.
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if text.startswith(_FORMULA) else text


# -- the terminal ----------------------------------------------------------------------------------

_STYLE = {
    Status.OPTIMAL: "green",
    Status.FEASIBLE: "",
    Status.NO_SOLUTION: "dim",
    Status.NOT_APPLICABLE: "dim",
    Status.INFEASIBLE: "magenta",
    Status.UNBOUNDED: "magenta",
    Status.ERROR: "bold red",
}


def ratio_table(table: Sequence[Entry]) -> Table:
    """Return the table printed on the terminal, one section per instance."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    out = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    out.add_column("instance", overflow="fold")
    out.add_column("method", overflow="fold")
    out.add_column("status")
    net = any(entry.net_ratio is not None for entry in table)
    for name in ("objective", "dual bound", "gap", "ratio", "net ratio", "theorem", "time"):
        if net or name != "net ratio":
            out.add_column(name, justify="right", no_wrap=True)
    last = None
    for entry in table:
        r = entry.result
        if last is not None and last != r.instance:
            out.add_section()
        status = r.state + (f" ({escape(_limit(r.limit_hit))})" if r.limit_hit else "")
        style = _STYLE[r.status]
        out.add_row(
            escape(r.instance) if r.instance != last else "",
            escape(r.method) + ("" if r.seed is None else f" #{r.seed}"),
            f"[{style}]{status}[/]" if style else status,
            "" if r.objective is None else show(r.objective),
            "" if r.bound is None else f"{show(r.bound)} {_VOUCHER[str(r.bound_voucher)]}",
            "" if r.gap is None else show_gap(r.gap, 1),
            _interval(entry.ratio),
            *([_interval(entry.net_ratio)] if net else []),
            _theorem(entry),
            f"{seconds(r.time_s)} s",
        )
        last = r.instance
    return out


_VOUCHER = {"solver": "s", "cross-checked": "c", "verified": "v"}

NET_LEGEND = "net ratio: the ratio without the part of the objective that no decision changes. "

LEGEND = (
    "ratio: objective against the optimum, at least 1; an interval if no dual bound closes it. "
    "dual bound: s claimed by a solver, c cross-checked, v verified. "
    "theorem: ratio that a proven theorem guarantees, empty if none applies; > 1000 is vacuous. "
    "bound only: a dual bound without a solution. #: seed."
)


def remarks(table: Sequence[Entry]) -> list[str]:
    """Return the remarks below the table: errors with their reasons, and exceeded theorems."""
    out = []
    for entry in table:
        r = entry.result
        if r.refused:
            out.append(f"NOT APPLICABLE {r.instance}, {r.method}: {r.reason}")
        elif r.status is Status.ERROR:
            out.append(f"ERROR {r.instance}, {r.method}: {r.reason}")
        out += [
            refuted(entry, promise)
            for promise in entry.promises
            if verdict(promise, entry.ratio) is Verdict.EXCEEDED
        ]
    return out


def _limit(name: str) -> str:
    words = {
        "time_s": "time limit",
        "memory_mb": "memory limit",
        "no_improvement": "no improvement",
        OWN_LIMIT: "method's own limit",
    }
    return words.get(name, name)


def _interval(ratio: Ratio | None) -> str:
    if ratio is None:
        return ""
    low, high = (math.nan if end is None else as_double(end) for end in (ratio.low, ratio.high))
    return interval(low, low if ratio.certified else high)


def _theorem(entry: Entry) -> str:
    proven = proven_ratio(entry.promises)
    if proven is None:
        return ""
    broken = entry.ratio is not None and any(
        p.standing == "proven" and verdict(p, entry.ratio) is Verdict.EXCEEDED
        for p in entry.promises
    )
    text = guarantee(as_double(proven))
    return f"[bold red]{text} EXCEEDED[/]" if broken else text
