"""A summary on the terminal: a row per method, or where these are too many, a row per system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gadgetopt.reporting.cells import counted, gap, guarantee, ratio, share
from gadgetopt.reporting.sentences import Row, closing, leading
from gadgetopt.reporting.summary.choice import Choice
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

if TYPE_CHECKING:
    from rich.table import Table

#: Characters between two columns.
_APART = 2

#: Characters after which a method's name is broken.
_LONGEST_NAME = 32


def methods_table(
    rows: Sequence[Row], by: Sequence[str], width: int, choice: Choice | None = None
) -> tuple[Table, str]:
    """Return the table of methods that fits a width, and its legend.

    Parameters
    ----------
    rows : sequence of dict
        Of a summary.
    by : sequence of str
        Its columns of the instances.
    width : int
        Characters of the terminal.
    choice : Choice, optional
        Columns and names.
    """
    from rich.markup import escape

    choice = choice or Choice()
    in_print = choice.names

    def named(row: Row) -> str:
        return in_print.methods.get(row["method"], row["method"])

    def broad(column: Column) -> int:
        return _APART + max(map(len, [*column.head, *map(column.text, rows)]))

    titles = {
        s: f"{in_print.systems.get(s, s)}, {counted(instances_of(own, by), 'instance')}"
        for s, own in titled(rows)
    }
    names = min(_LONGEST_NAME, 2 + max(len(named(row)) for row in rows))
    names = max(names, *map(len, titles.values()))
    groups = [max(len(spoken(n)), *(len(value(row[n])) for row in rows)) + _APART for n in by]
    columns = choice.of(columns_of(rows, by))
    if not choice.columns:
        columns = fitting(columns, rows, width - names - sum(groups), broad)
    out = _grid()
    out.add_column("method", overflow="fold", min_width=names, max_width=names)
    for name in by:
        out.add_column(spoken(name), justify="right", no_wrap=True)
    for column in columns:
        out.add_column("\n".join(column.head), justify="right", no_wrap=True)
    for system, own in titled(rows):
        out.add_section()
        out.add_row(f"[bold]{escape(titles[system])}[/]")
        last: tuple[str, ...] | None = None
        for row in own:
            group = tuple(value(row[n]) for n in by)
            if last not in (None, group):
                out.add_section()
            shown = group if group != last else ("",) * len(by)
            style = "bold red" if row["errors"] or row["refuted_proven"] else None
            cells = [column.text(row) for column in columns]
            out.add_row(f"  {escape(named(row))}", *map(escape, shown), *cells, style=style)
            last = group
    return out, legend(columns, rows)


def systems_table(systems: Sequence[Sequence[Row]], width: int) -> tuple[Table, str]:
    """Return a table with a row per system on its leading method, and its legend.

    Columns that do not fit a width are left out.
    """
    from rich.markup import escape

    single = all(row["instances"] <= 1 for rows in systems for row in rows)
    cells: list[dict[str, str]] = []
    for rows in systems:
        subject, closer = leading(rows), closing(rows)
        first = {
            "system": rows[0]["system"],
            "first heuristic": "" if subject is None else subject["method"],
        }
        numbers = _of_one(subject) if single else _of_many(rows, subject, closer)
        proof = "" if closer is None else f"{closer['method']} {_letters(closer)}"
        cells.append({**first, **numbers, "closed by": proof})

    heads = list(cells[0])
    for head in ("best\n%", "inst.", "theorem", "closed by", "ratio\nmedian"):
        widths = [max(*map(len, h.split("\n")), *(len(row[h]) for row in cells)) for h in heads]
        if sum(widths) + _APART * len(widths) <= width:
            break
        heads = [h for h in heads if h != head]
    out = _grid()
    for head in heads:
        words = head in ("system", "first heuristic", "closed by")
        out.add_column(head, justify="left" if words else "right", no_wrap=True)
    for row in cells:
        out.add_row(*(escape(row[head]) for head in heads))
    return out, ". ".join(said for head, said in _MEANINGS.items() if head in heads) + "."


_MEANINGS = {
    "first heuristic": "first heuristic: the first method compared that is not exact",
    "ratio": "ratio: to the optimum, at least 1; a..b if the gap is open",
    "ratio\nworst": "ratio: to the optimum, at least 1; a..b if the gap is open",
    "theorem": "theorem: worst ratio that a proven theorem guarantees; > 1000 is vacuous",
    "best\n%": "best: no method is better",
    "closed\n%": "closed: proved optimal",
    "closed by": "closed by: its bounds v verified, c cross-checked, s claimed by a solver",
}


def _of_one(subject: Row | None) -> dict[str, str]:
    if subject is None:
        return {"ratio": "", "theorem": ""}
    theorem = guarantee(subject["guarantee_worst"]) if subject["guaranteed"] else ""
    return {"ratio": _distance(subject, "worst"), "theorem": theorem}


def _of_many(rows: Sequence[Row], subject: Row | None, closer: Row | None) -> dict[str, str]:
    of = max(row["instances"] for row in rows)
    median = best = ""
    if subject is not None:
        median = _distance(subject, "median")
        leads = subject["wins"] + subject["ties"]
        best = share(leads, subject["compared"]) if subject["compared"] else ""
    one = _of_one(subject)
    return {
        "inst.": str(of),
        "ratio\nmedian": median,
        "ratio\nworst": one["ratio"],
        "theorem": one["theorem"],
        "best\n%": best,
        "closed\n%": share(0 if closer is None else closer["optimal"], of),
    }


def _distance(row: Row, which: str) -> str:
    """Return the median or worst ratio; where no instance has one, the gap, which says so."""
    if row["unrated"] and not row["rated"]:
        return f"gap {gap(row[f'gap_{which}'])}"
    return ratio(row[f"ratio_{which}_low"], row[f"ratio_{which}_high"])


def _letters(closer: Row) -> str:
    """Return the letters of those who vouch for a method's optima: "v/s"."""
    vouchers = {"v": "verified", "c": "cross_checked", "s": "solver"}
    return "/".join(letter for letter, name in vouchers.items() if closer[f"optimal_{name}"])


def _grid() -> Table:
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
