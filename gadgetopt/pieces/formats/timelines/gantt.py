"""A schedule as a CSV file, one line a span: `job,start_s,end_s,resource,count,units,detail`.

The unit of time stands in the header, such as `start_slot`. The units are numbers with blanks
between, none where nothing says which ones. The order of the lines is part of the file: it says
what comes first where times are equal.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from gadgetopt.errors import InputError
from gadgetopt.pieces.formats.timelines.spans import Span, read_time, time_text


def write_gantt(spans: Sequence[Span], unit: str) -> str:
    """Return the spans as CSV, by their starts; equal ones stay in their order."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_header(unit))
    for span in sorted(spans, key=lambda span: span.start):
        writer.writerow(
            [
                span.job,
                time_text(span.start),
                time_text(span.end),
                span.resource,
                span.count,
                " ".join(map(str, span.units)),
                span.detail,
            ]
        )
    return out.getvalue()


def _header(unit: str) -> list[str]:
    return ["job", f"start_{unit}", f"end_{unit}", "resource", "count", "units", "detail"]


def read_gantt(text: str, unit: str) -> list[Span]:
    """Return the spans of a CSV file.

    Raises
    ------
    InputError
        If the header or a cell is not as expected.
    """
    try:
        rows = list(csv.reader(io.StringIO(text), strict=True))
    except csv.Error as error:
        raise InputError(f"is no CSV file: {error}") from None
    if not rows or rows[0] != _header(unit):
        raise InputError(f"line 1: expected the header {','.join(_header(unit))}")
    return [_read_span(row, f"line {n}") for n, row in enumerate(rows[1:], start=2)]


def _read_span(row: list[str], where: str) -> Span:
    if len(row) != len(_header("")):
        raise InputError(f"{where}: {len(row)} cells, expected {len(_header(''))}")
    job, start, end, resource, count, units, detail = row
    span = Span(
        job,
        read_time(start, f"{where}: start"),
        read_time(end, f"{where}: end"),
        resource,
        _whole(count, f"{where}: count"),
        tuple(_whole(unit, f"{where}: units") for unit in units.split()),
        detail,
    )
    if span.end < span.start:
        raise InputError(f"{where}: ends at {end}, before its start at {start}")
    if units and not len(span.units) == len(set(span.units)) == span.count:
        raise InputError(f"{where}: units {units!r}, expected {span.count} different ones")
    return span


def _whole(text: str, what: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise InputError(f"{what}: {text!r}, expected a number such as 0, 1, ...")
    return int(text)
