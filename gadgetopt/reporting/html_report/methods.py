"""The tables of methods: all instances of a system, or groups of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gadgetopt.reporting.cells import gap
from gadgetopt.reporting.html_report.reading import System
from gadgetopt.reporting.html_report.words import guarantee, interval, seconds, spoken
from gadgetopt.reporting.sentences import Row, rows_of
from gadgetopt.reporting.summary.groups import summarize

#: Columns of a system's instances by which its methods are grouped, at most.
MOST_COLUMNS = 8
#: Distinct values beyond which a column is cut into ranges, and how many ranges.
MOST_VALUES, RANGES = 6, 4

#: What a cell says, by column; what is empty in every row is left out.
Cells = Mapping[str, str]


@dataclass(frozen=True)
class MethodRow:
    """A row of the table of methods: group, method, and the other cells by column."""

    group: str
    label: str
    cells: Cells


@dataclass(frozen=True)
class Grouping:
    """The methods of a system by the values of one column; by none if `name` is empty."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[MethodRow, ...]


def rows(system: System) -> list[Row]:
    """Return the summary of a system's runs."""
    return rows_of(summarize([line.entry for line in system.lines]))


def groupings(system: System, overall: Sequence[Row]) -> list[Grouping]:
    """Return the table of all instances, then one for each column that tells instances apart."""
    table = [line.entry for line in system.lines]
    out = [_grouping("", overall)]
    for spec in group_columns(system):
        name = spec.partition(":")[0]
        found = [{"group": row[name], **row} for row in rows_of(summarize(table, (spec,)))]
        out.append(_grouping(spoken(name), found))
    return out


def group_columns(system: System) -> list[str]:
    """Return the columns by which instances are grouped: preset, parameters and sizes that differ.

    Columns of many numbers end in `:4`, which makes four ranges of them.
    """
    values: dict[str, set[Any]] = {}
    for measured in system.instances.values():
        for name, value in measured.groups.items():
            values.setdefault(name, set()).add(value)
    out = []
    for name in sorted(values, key=_order):
        own = values[name]
        if len(own) < 2:
            continue
        numbers = all(isinstance(x, int | float) for x in own)
        if len(own) <= MOST_VALUES:
            out.append(name)
        elif numbers:
            out.append(f"{name}:{RANGES}")
    return out[:MOST_COLUMNS]


def _order(name: str) -> int:
    return next((k for k, start in enumerate(("preset", "param_")) if name.startswith(start)), 2)


def _grouping(name: str, found: Sequence[Row]) -> Grouping:
    made = tuple(_row(row) for row in found)
    columns = dict.fromkeys(column for row in made for column, text in row.cells.items() if text)
    ordered = [column for column in (made[0].cells if made else ()) if column in columns]
    return Grouping(name, tuple(ordered), made)


def _row(row: Row) -> MethodRow:
    group, measured = row.get("group"), row["rated"] + row["unrated"]
    return MethodRow(
        group="" if group is None else f"{group:g}" if isinstance(group, float) else str(group),
        label=row["method"],
        cells={
            "median ratio": _ratio(row, "median"),
            "worst ratio": _ratio(row, "worst"),
            "median gap": gap(row["gap_median"]),
            "worst gap": gap(row["gap_worst"]),
            "theorem": _theorem(row),
            "certified": f"{row['certified']:,} of {measured:,}" if measured else "",
            "best": _best(row),
            "solved": f"{row['solved']:,} of {row['instances']:,}" if row["solved"] else "",
            "optimal": f"{row['optimal']:,} of {row['instances']:,}" if row["optimal"] else "",
            "time": seconds(row["time_s"]),
            "limits": f"{row['limits']:,}" if row["limits"] else "",
            "errors": f"✕ {row['errors']:,}" if row["errors"] else "",
            "runs": f"{row['runs']:,}",
            "kind": row["kind"],
        },
    )


def _ratio(row: Row, which: str) -> str:
    low, high = row[f"ratio_{which}_low"], row[f"ratio_{which}_high"]
    if math.isnan(low):
        return ""
    return interval(low, None if math.isinf(high) else high)


def _theorem(row: Row) -> str:
    """Return the range of the proven ratios by median and worst; it may be vacuous."""
    if not row["guaranteed"]:
        return ""
    median, worst = guarantee(row["guarantee_median"]), guarantee(row["guarantee_worst"])
    return median if median == worst else f"{median}, worst {worst}"


def _best(row: Row) -> str:
    """Return on how many instances the method is best, alone or with others."""
    if not row["compared"]:
        return ""
    return f"alone {row['wins']:,}, tied {row['ties']:,} of {row['compared']:,}"
