"""Traces of GPU clusters as tables: read them, and account for every row.

Two formats are read here: the condensed trace of Microsoft's Philly clusters (`read_philly`) and
the traces of the Muri simulator (`read_muri`); others in `gadgetopt.pieces.trace_jobs.formats`. All
become a `Trace`, whose table has one row a job, in order of submission. No row of a file
disappears: a malformed one is in `Trace.rejected` with its line number and the reason, a filtered
one is counted in `Trace.left_out`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from gadgetopt.errors import InputError
from gadgetopt.pieces.csv_rows import read_rows
from gadgetopt.pieces.rejections import Rejection, by_reason, in_one_line
from gadgetopt.pieces.trace_jobs.times import EXPECTED_TIME, seconds_since_1970

#: Columns of `Trace.jobs`. Columns that a format lacks hold missing values.
COLUMNS = (
    "file",
    "line",
    "submit_s",
    "duration_s",
    "gpus",
    "virtual_cluster",
    "iterations",
    "iteration_s",
    "model",
    "batch_size",
    "user",
    "group",
    "gpu_share",
    "cpus_per_gpu",
    "memory_gb_per_gpu",
    "ps_number",
    "ps_cpus",
    "ps_memory_gb",
)

Domain = Literal[
    "text", "any text", "positive number", "non-negative number", "positive whole number", "time"
]

#: Seconds of a unit in which a trace gives its times. By definition.
_MILLISECOND_S = 1e-3
_EXPECTED = {"time": EXPECTED_TIME, "text": "a non-empty text"}


@dataclass(frozen=True)
class SourceFile:
    """A file that was read: its name, the SHA-256 of its bytes, and its rows without the header."""

    name: str
    sha256: str
    rows: int


@dataclass(frozen=True)
class Trace:
    """Jobs submitted to a cluster.

    Attributes
    ----------
    jobs : pandas.DataFrame
        One row a job with the columns `COLUMNS`; `line` is its line in `file`, the header being
        line 1. `gpu_share` is what a job takes of each of its GPUs, missing where the format has
        whole ones only. `ps_number` counts a job's parameter servers, each of `ps_cpus` and
        `ps_memory_gb` (GB of 10^9 bytes). `submit_s` counts from 1970-01-01 where the file gives
        dates (taken as UTC), else from the beginning of the trace.
    rejected : pandas.DataFrame
        The rows that could not be read: `file`, `line`, `reason`, `value`.
    source : tuple of SourceFile
        Files that the jobs come from.
    left_out : mapping
        How many well-formed jobs each filter left out, by reason.
    """

    jobs: pd.DataFrame
    rejected: pd.DataFrame
    source: tuple[SourceFile, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.jobs)


@dataclass(frozen=True)
class Column:
    """A column of a file: its column in the table, the values allowed, the factor to our unit.

    `target` may be a column that only the reader of the format needs.
    """

    source: str
    target: str
    domain: Domain
    scale: float = 1.0


_PHILLY = (
    Column("timestamp", "submit_s", "time"),
    Column("duration", "duration_s", "positive number"),
    Column("num_gpus", "gpus", "positive whole number"),
    Column("cluster", "virtual_cluster", "text"),
)
_MURI = (
    Column("submit_time", "submit_s", "non-negative number", _MILLISECOND_S),
    Column("duration", "duration_s", "positive number", _MILLISECOND_S),
    Column("num_gpu", "gpus", "positive whole number"),
    Column("iterations", "iterations", "positive whole number"),
    Column("iteration_time", "iteration_s", "positive number", _MILLISECOND_S),
    Column("model_name", "model", "text"),
    Column("batch_size", "batch_size", "positive whole number"),
)


def read_philly(path: Path | str) -> Trace:
    """Read a condensed Philly trace: columns timestamp, duration (s), num_gpus, cluster.

    Raises
    ------
    InputError
        If the file cannot be read, is empty, or lacks one of the columns.
    """
    return _read(Path(path), _PHILLY)


def read_muri(path: Path | str) -> Trace:
    """Read a trace of the Muri simulator; its times are milliseconds.

    The format does not state its unit. It is checked by a job's duration, which is its iterations
    times its iteration time: a file in which the two differ by more than a factor of two is
    refused.

    Raises
    ------
    InputError
        If the file cannot be read, is empty, lacks a column, or is in different units.
    """
    trace = _read(Path(path), _MURI)
    ratio = trace.jobs.duration_s / (trace.jobs.iterations * trace.jobs.iteration_s)
    if len(trace) and not 0.5 <= ratio.median() <= 2:
        raise InputError(
            f"{path}: duration: {ratio.median():.3g} times iterations x iteration_time "
            "(median over the jobs), expected about 1 with all times in milliseconds"
        )
    return trace


def joined(traces: Sequence[Trace]) -> Trace:
    """Return one trace with the jobs and the rejected rows of several."""
    left_out: dict[str, int] = {}
    for trace in traces:
        for reason, rows in trace.left_out.items():
            left_out[reason] = left_out.get(reason, 0) + rows
    jobs = pd.concat([trace.jobs for trace in traces], ignore_index=True)
    return Trace(
        jobs.sort_values("submit_s", kind="stable", ignore_index=True),
        pd.concat([trace.rejected for trace in traces], ignore_index=True),
        tuple(source for trace in traces for source in trace.source),
        left_out,
    )


def rejections(trace: Trace, first_lines: int = 5) -> list[dict[str, Any]]:
    """Summarise the rejected rows: for each file and reason their number and first lines."""
    return by_reason(_rejected(trace), first_lines)


def losses(trace: Trace) -> str:
    """Return in words which jobs were left out and which rows rejected, for error messages."""
    left_out = ", ".join(f"{rows} {reason}" for reason, rows in trace.left_out.items())
    return f"left out: {left_out or 'none'}; rejected: {in_one_line(_rejected(trace))}"


def _rejected(trace: Trace) -> list[Rejection]:
    columns = (trace.rejected[name] for name in ("file", "line", "reason", "value"))
    return [
        Rejection(file, int(line), reason, value)
        for file, line, reason, value in zip(*columns, strict=True)
    ]


def _read(path: Path, columns: Sequence[Column]) -> Trace:
    return read_table(path, columns).trace()


@dataclass(frozen=True)
class Table:
    """Rows of a file with the columns that were asked for, before they are jobs."""

    rows: pd.DataFrame
    rejected: pd.DataFrame
    source: SourceFile

    def trace(self, left_out: Mapping[str, int] | None = None) -> Trace:
        """Return the rows as jobs, in order of submission."""
        return Trace(
            self.rows.reindex(columns=list(COLUMNS)).sort_values(
                "submit_s", kind="stable", ignore_index=True
            ),
            self.rejected,
            (self.source,),
            left_out or {},
        )


def read_table(
    path: Path,
    columns: Sequence[Column],
    header: Sequence[str] | None = None,
    optional: Sequence[Column] = (),
) -> Table:
    """Read columns of a CSV file; `header` names its columns if the file has no header row.

    Columns that are `optional` are missing values where the file has none of the name, or several.

    Raises
    ------
    InputError
        If the file cannot be read, is empty, or lacks one of the columns.
    """
    read = read_rows(path, [column.source for column in columns], header)
    there = [column for column in optional if read.header.count(column.source) == 1]
    rows, rejected = _parsed(read.header, read.rows, [*columns, *there])
    for column in optional:
        if column not in there:
            rows[column.target] = ""
    return Table(
        rows.assign(file=path.name),
        rejected.assign(file=path.name)[["file", "line", "reason", "value"]],
        SourceFile(path.name, read.sha256, len(read.rows)),
    )


def _parsed(
    header: list[str], rows: list[tuple[int, list[str]]], columns: Sequence[Column]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split rows into jobs and rejected ones; the first error of a row is its reason."""
    whole = [(line, row) for line, row in rows if len(row) == len(header)]
    table = pd.DataFrame([row for _, row in whole], columns=header, dtype=str)
    jobs = pd.DataFrame({"line": np.array([line for line, _ in whole], dtype=np.int64)})
    wrong = [
        (line, f"expected {len(header)} fields", f"{len(row)} fields" if row else "blank line")
        for line, row in rows
        if len(row) != len(header)
    ]
    good = np.ones(len(whole), dtype=bool)
    for column in columns:
        values, valid = _values(table[column.source], column.domain)
        jobs[column.target] = values * column.scale if column.scale != 1 else values
        expected = _EXPECTED.get(column.domain, f"a {column.domain}")
        wrong += [
            (int(jobs.line[i]), f"{column.source}: expected {expected}", table[column.source][i])
            for i in np.flatnonzero(good & ~valid)
        ]
        good &= valid
    jobs = jobs[good].reset_index(drop=True)
    for column in columns:
        if column.domain == "positive whole number":
            jobs[column.target] = jobs[column.target].astype(np.int64)
    rejected = pd.DataFrame(sorted(wrong), columns=["line", "reason", "value"])
    return jobs, rejected


def _values(cells: pd.Series[str], domain: Domain) -> tuple[Any, Any]:
    """Return the values of a column of cells, and which of them lie in its domain."""
    if domain in ("text", "any text"):
        return cells, (cells != "").to_numpy() | (domain == "any text")
    if domain == "time":
        seconds = seconds_since_1970(cells)
        return seconds, ~np.isnan(seconds)
    numbers = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=float)
    valid = np.isfinite(numbers) & (
        numbers >= 0 if domain == "non-negative number" else numbers > 0
    )
    if domain == "positive whole number":
        valid &= (numbers == np.floor(numbers)) & (numbers < 2**53)
    return numbers, valid


def names(trace: Trace) -> str:
    """Return the names of the files."""
    return ", ".join(source.name for source in trace.source)
