"""The columns of a printed summary."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gadgetopt.reporting.cells import gap, guarantee, ratio, seconds, share
from gadgetopt.reporting.sentences import Row


@dataclass(frozen=True)
class Column:
    """A column: its heading in one or two lines, the text of a row, and what it means."""

    key: str
    head: tuple[str, ...]
    text: Callable[[Row], str]
    meaning: str = ""


def _share(part: str, whole: str) -> Callable[[Row], str]:
    return lambda row: (
        share(row[part], row[whole]) if row[whole] and row["bound_only"] < row["instances"] else ""
    )


def _vouchers(row: Row) -> str:
    if not row["rated"] + row["unrated"]:
        return ""
    return "/".join(
        share(row[f"certified_{v}"], row["instances"])
        for v in ("verified", "cross_checked", "solver")
    )


def _theorem(row: Row) -> str:
    if not row["guaranteed"]:
        return ""
    ends = guarantee(row["guarantee_median"]), guarantee(row["guarantee_worst"])
    text = ends[0] if ends[0] == ends[1] else ", ".join(ends)
    return f"{text} !" if row["refuted_proven"] else text


def _gap(key: str) -> Callable[[Row], str]:
    return lambda row: gap(row[key])


def _count(key: str) -> Callable[[Row], str]:
    return lambda row: f"{row[key]}"


def _ends(which: str) -> Callable[[Row], str]:
    return lambda row: ratio(row[f"ratio_{which}_low"], row[f"ratio_{which}_high"])


def _mean(row: Row) -> str:
    """Return the mean ratio of a summary with intervals."""
    low, high = (row.get(f"ratio_mean_{end}", math.nan) for end in ("low", "high"))
    return "" if math.isnan(low) else ratio(low, high)


def _of_interval(key: str, text: Callable[[float, float], str]) -> Callable[[Row], str]:
    """Return the text of a bootstrap interval; "" where the summary has none, or NaN."""

    def of(row: Row) -> str:
        low, high = (row.get(f"{key}_{end}", math.nan) for end in ("low", "high"))
        return "" if math.isnan(low) else text(low, high)

    return of


#: The columns after the method, in order.
COLUMNS = (
    Column("instances", ("inst.",), _count("instances"), "inst.: instances"),
    Column("runs", ("runs",), _count("runs")),
    Column("errors", ("errors",), _count("errors")),
    Column("limits", ("limits",), _count("limits"), "limits: runs that hit one"),
    Column(
        "solved",
        ("solved", "%"),
        _share("solved", "instances"),
        "solved: feasible solution found",
    ),
    Column(
        "infeasible",
        ("infeas.", "%"),
        _share("infeasible", "instances"),
        "infeas.: proved to have no solution",
    ),
    Column("wins", ("wins", "%"), _share("wins", "compared")),
    Column(
        "ties",
        ("ties", "%"),
        _share("ties", "compared"),
        "wins, ties: best objective, alone or shared",
    ),
    Column(
        "optimal",
        ("optimal", "%"),
        _share("optimal", "instances"),
        "optimal: proved so by the method itself",
    ),
    Column(
        "certified",
        ("certified", "v/c/s %"),
        _vouchers,
        "certified: distance to the optimum known exactly, its bound v verified, c cross-checked, "
        "s claimed by a solver",
    ),
    Column("median", ("ratio", "median"), _ends("median")),
    Column(
        "worst",
        ("ratio", "worst"),
        _ends("worst"),
        "ratio: to the optimum, at least 1; a..b if the gap is open",
    ),
    Column(
        "mean",
        ("ratio", "mean"),
        _mean,
    ),
    Column(
        "mean_interval",
        ("ratio", "95 %"),
        _of_interval("ratio_mean_interval", ratio),
        "95 %: bootstrap intervals of the mean ratio and of the time, over the instances",
    ),
    Column("gap_median", ("gap", "median"), _gap("gap_median")),
    Column(
        "gap_worst",
        ("gap", "worst"),
        _gap("gap_worst"),
        "gap: to the best dual bound, where negative objectives have no ratio; it is certified if "
        "the optimum is known",
    ),
    Column(
        "theorem",
        ("theorem", "med., worst"),
        _theorem,
        "theorem: ratio that a proven theorem guarantees, median and worst; > 1000 is vacuous",
    ),
    Column(
        "time",
        ("time", "s"),
        lambda row: seconds(row["time_s"]),
        "time: geometric mean shifted by 1 s, with failed and stopped runs at the time limit",
    ),
    Column(
        "time_interval",
        ("time", "95 %"),
        _of_interval("time_shifted_1_s", lambda a, b: f"{seconds(a)}..{seconds(b)}"),
    ),
)

#: Columns that are left out first where a table is too wide.
_EXPENDABLE = (
    "runs",
    "limits",
    "optimal",
    "solved",
    "ties",
    "certified",
    "instances",
    "wins",
    "time",
    "theorem",
)


def columns_of(rows: Sequence[Row], by: Sequence[str]) -> list[Column]:
    """Return the columns in which these rows say something."""
    silent = {key for key in ("errors", "limits") if not any(row[key] for row in rows)}
    if all(row["runs"] == row["instances"] for row in rows):
        silent.add("runs")
    counts: dict[str, set[int]] = {}
    for row in rows:
        counts.setdefault(row["system"], set()).add(row["instances"])
    if not by and all(len(own) == 1 for own in counts.values()):
        silent.add("instances")  # the heading of the system says it
    if not any(row["infeasible"] for row in rows):
        silent.add("infeasible")
    silent |= {c.key for c in COLUMNS if all(c.text(row) == "" for row in rows)}
    return [column for column in COLUMNS if column.key not in silent]


def fitting(
    columns: Sequence[Column], rows: Sequence[Row], width: float, of: Callable[[Column], float]
) -> list[Column]:
    """Return the columns that fit a width, without the most expendable ones.

    Parameters
    ----------
    columns, rows
    width : float
        For all of these columns together.
    of : callable
        The width of one of them.
    """
    kept = list(columns)
    for key in _EXPENDABLE:
        if sum(map(of, kept)) <= width:
            break
        kept = [column for column in kept if column.key != key]
    return kept


def legend(columns: Sequence[Column], rows: Sequence[Row]) -> str:
    """Return what the columns mean, in one paragraph."""
    said = [column.meaning for column in columns if column.meaning]
    keys = {column.key for column in columns}
    if "wins" in keys and "ties" not in keys:
        said.insert(0, "wins: best objective, not shared")
    if any(column.head[-1].endswith("%") for column in columns):
        said.insert(0, "%: of the instances")
    if any(row["runs"] > row["instances"] for row in rows):
        said.append("several seeds count as their mean")
    if any(row["bound_only"] for row in rows):
        said.append("empty: a bound without a solution")
    if any(row["refuted_proven"] for row in rows):
        said.append("!: exceeded by a run")
    return ". ".join(said) + "."


def titled(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """Return the rows of each system under a title that says how many instances there are."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["system"], []).append(row)
    return list(groups.items())


def value(x: Any) -> str:
    """Return the value of a column of the instances as text."""
    if x is None:
        return ""
    return f"{x:.6g}" if isinstance(x, float) else str(x)


def spoken(name: str) -> str:
    """Return the name of a column of the instances without its prefix and underscores."""
    prefix, _, rest = name.partition("_")
    plain = rest if prefix in ("size", "feature", "param") and rest else name
    return plain.replace("_", " ")


def instances_of(rows: Sequence[Mapping[str, Any]], by: Sequence[str]) -> int:
    """Return the number of instances of a system's rows, over all groups."""
    groups: dict[tuple[Any, ...], int] = {}
    for row in rows:
        group = tuple(row[name] for name in by)
        groups[group] = max(groups.get(group, 0), row["instances"])
    return sum(groups.values())
