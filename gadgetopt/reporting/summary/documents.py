"""A summary as Markdown, LaTeX, CSV and JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

from gadgetopt.reporting.cells import counted
from gadgetopt.reporting.sentences import Row
from gadgetopt.reporting.summary.choice import Choice, Names
from gadgetopt.reporting.summary.columns import (
    Column,
    columns_of,
    fitting,
    instances_of,
    legend,
    spoken,
    titled,
    value,
)

Format = Literal["table", "markdown", "latex", "csv", "json"]
FORMATS: tuple[Format, ...] = ("table", "markdown", "latex", "csv", "json")


def plain(rows: Sequence[Row]) -> list[Row]:
    """Return rows for other programs: None for what is unknown, infinite, or does not apply."""

    def cell(x: Any) -> Any:
        return None if isinstance(x, float) and not math.isfinite(x) else x

    return [{key: cell(x) for key, x in row.items()} for row in rows]


# -- Markdown --------------------------------------------------------------------------------------


def markdown(rows: Sequence[Row], by: Sequence[str], choice: Choice | None = None) -> str:
    """Return a table of GitHub's Markdown for each system, and one legend."""
    choice = choice or Choice()
    names = choice.names
    columns = choice.of(columns_of(rows, by))
    heads = ["method", *map(spoken, by), *(" ".join(c.head) for c in columns)]
    rule = ["---", *(["---:"] * (len(heads) - 1))]
    out = []
    for system, own in titled(rows):
        title = escaped(names.systems.get(system, system))
        out += [f"**{title}**, {counted(instances_of(own, by), 'instance')}", ""]
        body = [
            [_named(row["method"], names), *(escaped(value(row[n])) for n in by)]
            + [escaped(c.text(row)) for c in columns]
            for row in own
        ]
        out += [f"| {' | '.join(cells)} |" for cells in (heads, rule, *body)]
        out.append("")
    return "\n".join([*out, escaped(legend(columns, rows)), ""])


def _named(method: str, names: Names) -> str:
    return escaped(names.methods[method]) if method in names.methods else f"`{method}`"


def escaped(text: str) -> str:
    """Return text with Markdown's special characters escaped."""
    return re.sub(r"([\\|*_<>`])", r"\\\1", text)


# -- LaTeX -----------------------------------------------------------------------------------------

#: Width of the text of LaTeX's article class at 10 pt, in points: the narrowest page of one column.
TEXT_WIDTH_PT = 345.0

#: Points between two columns, as the table sets them.
_APART_PT = 2 * 2.5

#: Points of a character at LaTeX's size \footnotesize (8 pt Computer Modern): of \texttt, of a
#: digit and of most letters, and of characters that differ.
_CODE_PT = 4.25
_CHAR_PT = 4.4
_CHARS_PT = {**dict.fromkeys("ijlft.,:;!' ", 3.0), **dict.fromkeys("mwMW%<>", 7.1)}

#: Least width of the first column, which takes what the others leave, and its indentation.
_NAMES_PT, _QUAD_PT = 60.0, 8.5

#: Where a name may be broken.
_SEPARATORS = r"[_:=@,-]"

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    **{c: f"\\{c}" for c in "&%$#_{}"},
}


def latex(rows: Sequence[Row], by: Sequence[str], label: str, choice: Choice | None = None) -> str:
    r"""Return a table environment that is as wide as the text.

    It needs the packages booktabs and tabularx. Columns that do not fit are left out and named in a
    comment, unless they were asked for.

    Parameters
    ----------
    rows : sequence of dict
        Of a summary.
    by : sequence of str
        Its columns of the instances.
    label : str
        For references: `\ref{tab:LABEL}`.
    choice : Choice, optional
        Columns and names.
    """
    choice = choice or Choice()
    in_print = choice.names
    said = choice.of(columns_of(rows, by))
    groups = [
        _APART_PT + max(map(points, [spoken(n), *(value(row[n]) for row in rows)])) for n in by
    ]
    chunks = [c for row in rows for c in re.split(f"(?<={_SEPARATORS})", row["method"])]
    names = max(_NAMES_PT, _QUAD_PT + _CODE_PT * max(map(len, chunks), default=0))
    room = TEXT_WIDTH_PT - names - sum(groups)
    columns = said if choice.columns else fitting(said, rows, room, _broad(rows))
    systems = titled(rows)
    width = 1 + len(by) + len(columns)
    body: list[str] = []
    for k, (system, own) in enumerate(systems):
        if k:
            body.append(r"\midrule")
        of = counted(instances_of(own, by), "instance")
        title = f"{_printed(system, in_print.systems)}, {of}"
        body.append(rf"\multicolumn{{{width}}}{{@{{}}l}}{{{title}}} \\")
        last: tuple[str, ...] | None = None
        for row in own:
            group = tuple(value(row[n]) for n in by)
            if last not in (None, group):
                body.append(r"\addlinespace")
            shown = group if group != last else ("",) * len(by)
            cells = [*map(escape, shown), *(_cell(c.text(row)) for c in columns)]
            method = _printed(row["method"], in_print.methods)
            body.append(rf"\quad {' & '.join([method, *cells])} \\")
            last = group
    left_out = [" ".join(c.head) for c in said if c not in columns]
    lines = [
        r"% \usepackage{booktabs,tabularx}",
        *([f"% too wide: {', '.join(left_out)}"] if left_out else []),
        r"\begin{table}",
        r"\centering\footnotesize\setlength{\tabcolsep}{2.5pt}",
        rf"\caption{{{_caption(systems, columns, rows, in_print)}}}",
        rf"\label{{tab:{re.sub(r'[^A-Za-z0-9:-]+', '-', label)}}}",
        rf"\begin{{tabularx}}{{\textwidth}}{{@{{}}>{{\raggedright\arraybackslash}}X"
        rf"{'r' * (width - 1)}@{{}}}}",
        r"\toprule",
        *_heads(["method", *map(spoken, by)], columns),
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabularx}",
        r"\end{table}",
        "",
    ]
    return "\n".join(lines)


def _heads(first: Sequence[str], columns: Sequence[Column]) -> list[str]:
    """Return the heads in one line or two; neighbours with the same first line share it."""
    shared = [
        (head, len(list(own))) for head, own in groupby(columns, key=lambda column: column.head[0])
    ]
    upper, rules, at = [*map(escape, first)], [], len(first) + 1
    for head, count in shared:
        text = escape(head)
        upper.append(text if count == 1 else rf"\multicolumn{{{count}}}{{c}}{{{text}}}")
        if count > 1:
            rules.append(rf"\cmidrule(lr){{{at}-{at + count - 1}}}")
        at += count
    lines = [rf"{' & '.join(upper)} \\", *rules]
    if any(len(column.head) > 1 for column in columns):
        lower = [""] * len(first) + [
            escape(column.head[1]) if len(column.head) > 1 else "" for column in columns
        ]
        lines.append(rf"{' & '.join(lower)} \\")
    return lines


def _printed(name: str, names: Mapping[str, str]) -> str:
    return escape(names[name]) if name in names else code(name)


def points(text: str) -> float:
    """Return about how wide a text is in the table, in points."""
    return sum(_CHARS_PT.get(c, _CHAR_PT) for c in text.replace("..", "–"))


def _broad(rows: Sequence[Row]) -> Callable[[Column], float]:
    return lambda column: (
        _APART_PT + max(map(points, [*column.head, *(column.text(row) for row in rows)]))
    )


def _caption(
    systems: Sequence[tuple[str, list[Row]]],
    columns: Sequence[Column],
    rows: Sequence[Row],
    in_print: Names,
) -> str:
    names = ", ".join(_printed(system, in_print.systems) for system, _ in systems[:3])
    more = f" and {len(systems) - 3} more systems" if len(systems) > 3 else ""
    meaning = escape(legend(columns, rows)).replace("..", "--")
    return f"Summary of {names}{more}. {meaning}"


def _cell(text: str) -> str:
    return escape(text.replace("..", "--"))


def escape(text: str) -> str:
    """Return text with LaTeX's special characters escaped."""
    return "".join(_LATEX.get(c, c) for c in text)


def code(name: str) -> str:
    r"""Return a name in \texttt that may be broken after its separators."""
    return rf"\texttt{{{re.sub(_SEPARATORS, _breakable, escape(name))}}}"


def _breakable(separator: re.Match[str]) -> str:
    return rf"{separator[0]}\allowbreak{{}}"
