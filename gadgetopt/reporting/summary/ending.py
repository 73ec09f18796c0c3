"""What a comparison ends with: sentences, a summary that fits a screen, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gadgetopt.numbers.tolerance import as_double
from gadgetopt.reporting.cells import counted
from gadgetopt.reporting.sentences import (
    Row,
    by_system,
    headline,
    others_line,
    refuted,
    rows_of,
)
from gadgetopt.reporting.summary.groups import summarize
from gadgetopt.reporting.summary.screen import methods_table, systems_table
from gadgetopt.runs.comparison import Entry
from gadgetopt.system.result import Status
from gadgetopt.trust.theorems import Promise, Verdict, verdict

if TYPE_CHECKING:
    from rich.console import Console

#: Lines that a comparison may end with: what a screen shows.
MOST_LINES = 40

#: Instances up to which each run is shown as well.
FEW_INSTANCES = 8

#: Lines on errors, and on refuted theorems.
_MOST_REMARKS = 3

#: Characters of a reason.
_LONGEST_REASON = 120

#: Lines of the ending itself; the others are for the store, and how to go on.
_ROOM = MOST_LINES - 3

#: Systems and methods that did not support some of the instances: how many.
LeftOut = Mapping[tuple[str, str], int]


def print_ending(
    table: Sequence[Entry], console: Console, store: str, left_out: LeftOut, detailed: bool
) -> None:
    """Print sentences, the summary, and remarks, in at most `MOST_LINES` lines.

    Parameters
    ----------
    table : sequence of Entry
    console : rich.console.Console
    store : str
        Named where something is left out.
    left_out : mapping
    detailed : bool
        True if the runs have been printed one by one; of single instances there is no summary
        then.
    """
    frame = summarize(table)
    systems = by_system(frame)
    single = all(row["instances"] <= 1 for rows in systems for row in rows)
    head = [_text(line, "bold") for line in headline(frame, table)]
    left = left_out_lines(left_out)
    if others := others_line(table, store):
        ranked = any(row["compared"] for rows in systems for row in rows)
        left.append(f"{others}{'; wins and ties are among the methods compared' * ranked}")

    def parts(made: Sequence[Any], most: int) -> list[Any]:
        said = [] if detailed else remarks(table, store, most)
        tail = [*map(_text, left), *(_text(line, "bold red") for line in said)]
        return [*head, *made, *tail]

    def fits(tried: Sequence[Any]) -> bool:
        return sum(len(console.render_lines(part, pad=False)) for part in tried) <= _ROOM

    if (detailed and single) or not systems:
        chosen = parts([], _MOST_REMARKS)
    else:
        tries = (parts(m, most) for m, most in _attempts(systems, rows_of(frame), console.width))
        chosen = []
        for chosen in tries:
            if fits(chosen):
                break
    for part in chosen:
        console.print(part, highlight=False)


def _attempts(
    systems: Sequence[Sequence[Row]], rows: Sequence[Row], width: int
) -> Iterator[tuple[list[Any], int]]:
    """Yield tables, and numbers of remarks of a kind, that are shorter and shorter."""
    grid, legend = methods_table(rows, (), width)
    for most in (_MOST_REMARKS, 1):
        yield [grid, _text(legend, "dim")], most
    for most in (_MOST_REMARKS, 1, 0):
        grid, legend = systems_table(systems, width)
        yield [grid, _text(legend, "dim")], most
    for shown in range(len(systems) - 2, 0, -1):
        grid, legend = systems_table(systems[:shown], width)
        more = _text(f"and {len(systems) - shown} more systems: gadgetopt summary")
        yield [grid, more, _text(legend, "dim")], 0


def _text(line: str, style: str = "") -> Any:
    from rich.text import Text

    return Text(line, style)


def left_out_lines(left_out: LeftOut) -> list[str]:
    """Return a line on the methods that do not support some of the instances."""
    if not left_out:
        return []
    several = len({system for system, _ in left_out}) > 1
    named = [
        f"{f'{system} ' if several else ''}{method} ({counted(n, 'instance')})"
        for (system, method), n in left_out.items()
    ]
    return [f"left out where they do not apply: {_shortened(named, 3)}"]


def remarks(table: Sequence[Entry], store: str, most: int = _MOST_REMARKS) -> list[str]:
    """Return lines on errors and refuted theorems, each kind once with its number of runs.

    What they have in common is told once; beyond `most` lines of a kind they are counted.
    """
    errors: dict[tuple[str, str, str], list[Entry]] = {}
    beyond: dict[tuple[str, str, str], list[tuple[Entry, Promise]]] = {}
    for entry in table:
        r = entry.result
        if r.status is Status.ERROR:
            errors.setdefault((r.problem, r.method, r.reason or "?"), []).append(entry)
        for promise in entry.promises:
            if verdict(promise, entry.ratio) is Verdict.EXCEEDED:
                key = (r.problem, r.method, promise.theorem)
                beyond.setdefault(key, []).append((entry, promise))
    return [
        *_cut([_error(key, runs) for key, runs in errors.items()], "different error", most, store),
        *_cut([_refuted(runs) for runs in beyond.values()], "exceeded theorem", most, store),
    ]


def _error(key: tuple[str, str, str], runs: Sequence[Entry]) -> str:
    system, method, reason = key
    where = runs[0].result.instance
    more = "" if len(runs) == 1 else f" and {len(runs) - 1} more"
    if len(reason) > _LONGEST_REASON:
        reason = f"{reason[:_LONGEST_REASON]}..."
    return f"ERROR {system} {method} on {where}{more}: {' '.join(reason.split())}"


def _refuted(runs: Sequence[tuple[Entry, Promise]]) -> str:
    def low(pair: tuple[Entry, Promise]) -> float:
        ratio = pair[0].ratio
        return 0.0 if ratio is None or ratio.low is None else as_double(ratio.low)

    return refuted(*max(runs, key=low), len(runs))


def _cut(lines: Sequence[str], noun: str, most: int, store: str) -> list[str]:
    more = len(lines) - most
    if more <= 0:
        return [*lines]
    said = f"and {more} more" if most else counted(more, noun)
    return [*lines[:most], f"{said}: gadgetopt status {store}"]


def _shortened(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
