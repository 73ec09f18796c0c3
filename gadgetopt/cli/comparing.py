"""The commands `compare` and `ratios`."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadgetopt.cli import INTERRUPTED
from gadgetopt.cli.completion import method_lists
from gadgetopt.cli.options import (
    Certify,
    Gap,
    Json,
    Memory,
    NoImprovement,
    Out,
    Plugins,
    Target,
    Threads,
    TimeLimit,
    Within,
    check_outputs,
    count,
    natural,
    positive,
    text,
)
from gadgetopt.cli.printing import console, echo, say
from gadgetopt.cli.studying import Generate, Generated, WriteStudy, study_of
from gadgetopt.errors import InputError
from gadgetopt.system.printable import printable_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gadgetopt.runs.comparison import Entry
    from gadgetopt.runs.grid import Unreadable
    from gadgetopt.runs.progress import Watch
    from gadgetopt.runs.study import StudyTable

#: Most rows of a table that are printed: a hundred thousand would take minutes.
MOST_ROWS = 2000


def compare(
    context: typer.Context,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH...", help="Instance files, directories or globs; a study file."
        ),
    ] = None,
    generate: Generate = None,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            "-m",
            help="Names (name:parameter=value), kinds, `default` or `all`, separated by commas.",
            autocompletion=method_lists,
        ),
    ] = None,
    store: Annotated[
        Path, typer.Option(help="SQLite file of runs; runs that it holds are not repeated.")
    ] = Path("runs.sqlite"),
    seeds: Annotated[
        int, typer.Option(help="Seeds per stochastic method.", parser=count, metavar="INTEGER")
    ] = 1,
    first_seed: Annotated[
        int, typer.Option(help="The first seed.", parser=natural, metavar="INTEGER")
    ] = 0,
    time_limit: TimeLimit = 60.0,
    threads: Threads = 1,
    memory_mb: Memory = None,
    gap: Gap = 0.0,
    stop_after_no_improvement: NoImprovement = None,
    target: Target = None,
    workers: Annotated[
        int | None,
        typer.Option(
            help="Runs at a time on this machine; default as many as its cores allow. 0 runs them "
            "in this process, without enforcing limits.",
            parser=natural,
            metavar="INTEGER",
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            help="Address of a Dask scheduler whose workers do the runs.",
            parser=text,
            metavar="TEXT",
        ),
    ] = None,
    grace: Annotated[
        float | None,
        typer.Option(
            help="Seconds beyond its time limit that a run may take at most, judging included; "
            "default the larger of 5 s and a tenth of the limit.",
            parser=positive,
            metavar="S",
        ),
    ] = None,
    certify: Certify = None,
    within: Within = None,
    generated: Generated = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Repeat runs that the store holds.")
    ] = False,
    retry_errors: Annotated[
        bool, typer.Option("--retry-errors", help="Repeat runs that ended in an error.")
    ] = False,
    records: Annotated[
        bool,
        typer.Option("--records", help="Let best known results count in the ratios, too."),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Only say how many runs, how many of them stored, how long at most."
        ),
    ] = False,
    write_study: WriteStudy = None,
    details: Annotated[
        bool | None,
        typer.Option(
            "--details/--no-details",
            help="Print each run; by default only of up to 8 instances.",
            show_default=False,
        ),
    ] = None,
    plugin: Plugins = None,
    as_json: Json = False,
) -> int:
    """Solve instances by several methods and print their ratios.

    Each run is printed if there are few instances, otherwise a summary.
    """
    from gadgetopt.reporting.summary.cross_table import needs_traces
    from gadgetopt.runs import study

    wanted = study_of(context)
    if write_study is not None:
        study.check(wanted)
        study.write_study(wanted, write_study)
        echo(str(write_study))
        return 0
    if dry_run:
        from gadgetopt.runs import dry_run as planned

        plan = planned.dry_run(wanted, fresh, retry_errors)
        echo(json.dumps(plan, indent=1) if as_json else "\n".join(planned.in_words(plan)))
        return 0
    further: Callable[..., Any] | None = None
    if records:
        from gadgetopt.records.known import runs_of

        further = runs_of
    with _watching(quiet=as_json) as watch:
        watch.prints = not as_json
        traces = wanted.table is not None and needs_traces(wanted.table.cells)
        table = study.compare_study(
            wanted,
            fresh=fresh,
            retry_errors=retry_errors,
            details=traces,
            watch=watch,
            further=further,
        )
    failed = sum(e.result.status == "error" for e in table)
    if failed:
        runs = "run" if failed == 1 else "runs"
        say(f"{failed} {runs} ended in an error; --retry-errors repeats them")
    if watch.unreadable:
        files = "file" if len(watch.unreadable) == 1 else "files"
        say(f"{len(watch.unreadable)} {files} cannot be used; the others are done")
    if as_json:
        from gadgetopt.reporting.sentences import others_line

        if line := others_line(table, wanted.store):
            say(line)
        _print_json([*(entry.row() for entry in table), *map(_error_row, watch.unreadable)])
    else:
        if wanted.table is not None and details is None:
            details = False
        _print_results(table, wanted.store, watch, details)
        if wanted.table is not None:
            _print_table_of(wanted.table, table)
    if not watch.complete:
        return INTERRUPTED
    return 1 if failed or watch.unreadable else 0


def ratios(
    store: Annotated[Path, typer.Argument(help="SQLite file of runs.")],
    form: Annotated[
        str, typer.Option("--format", help="table, csv, json, parquet or latex.")
    ] = "table",
    theorems: Annotated[
        bool, typer.Option("--theorems", help="One row per run and theorem, with its verdict.")
    ] = False,
    features: Annotated[
        bool, typer.Option("--features", help="Add size, features and parameters of the instances.")
    ] = False,
    out: Out = None,
    as_json: Json = False,
) -> int:
    """Print the ratio of every run in a store beside the theorem."""
    from gadgetopt.reporting import instance_columns as columns
    from gadgetopt.reporting import tables as report
    from gadgetopt.runs import comparison

    form = "json" if as_json else form
    if form not in report.FORMATS:
        known = ", ".join(report.FORMATS)
        raise InputError(f"--format: {form!r} is not one of {known}")
    check_outputs(out, read=store)
    table = report.ratios(store)
    rows = report.theorem_rows(table) if theorems else [entry.row() for entry in table]
    keys: tuple[str, ...] = report.THEOREM_KEYS if theorems else comparison.ROW_KEYS
    if features and form != "table":
        solved = [e.result.fingerprint for e in table for _ in (e.promises if theorems else (e,))]
        of_instance = columns.columns_of_origins(columns.stored_instances(table))
        rows, keys = columns.joined(rows, solved, keys, of_instance)
    if form != "table":
        text = report.render(rows, form, out, keys)
        if text is not None:
            echo(text, nl=False)
    elif out is not None:
        raise InputError("--out: needs --format csv, json, parquet or latex")
    elif theorems:
        print_rows([{**row, "guarantee": _guarantee(row["guarantee"])} for row in rows])
    else:
        print_table(table)
    if features and form == "table":
        _print_instances(table)
    return 0


def _guarantee(ratio: float | None) -> str | None:
    from gadgetopt.reporting.cells import guarantee

    return None if ratio is None else guarantee(ratio)


def _print_results(table: list[Entry], store: str, watch: Watch, details: bool | None) -> None:
    """Print the end of a comparison, after each run if there are few instances."""
    from gadgetopt.reporting.summary.ending import FEW_INSTANCES, print_ending
    from gadgetopt.runs.progress import unreadable_lines

    if details is None:
        details = len({entry.result.instance for entry in table}) <= FEW_INSTANCES
    if details:
        print_table(table)
    print_ending(table, console(), store, watch.left_out, details)
    for line in unreadable_lines([f"{file}" for file in watch.unreadable]):
        console().print(line, style="bold red", highlight=False, markup=False)


def _print_table_of(described: StudyTable, table: list[Entry]) -> None:
    """Print the table that a study describes."""
    from gadgetopt.cli.summarizing import print_across
    from gadgetopt.reporting.summary import chosen

    print_across(chosen(table, methods=described.methods), described.rows, described.cells)


def _error_row(file: Unreadable) -> dict[str, Any]:
    """Return the row of a file that cannot be read: its name and the status."""
    from gadgetopt.runs.comparison import ROW_KEYS

    return {**dict.fromkeys(ROW_KEYS), "instance": str(file.path), "status": "error"}


def print_table(table: list[Entry]) -> None:
    """Print the ratio table, its legend and its remarks."""
    from gadgetopt.reporting.tables import LEGEND, NET_LEGEND, ratio_table, remarks

    screen = console()
    screen.print(ratio_table(table[:MOST_ROWS]))
    net = any(entry.net_ratio is not None for entry in table)
    screen.print((NET_LEGEND if net else "") + LEGEND, style="dim", highlight=False)
    shouted = remarks(table)
    for remark in shouted[:MOST_ROWS]:
        screen.print(printable_line(remark), style="bold red", highlight=False, markup=False)
    _tell_of_more(table, "rows")
    _tell_of_more(shouted, "remarks")


def _tell_of_more(lines: Sequence[Any], what: str) -> None:
    if len(lines) > MOST_ROWS:
        say(f"{len(lines) - MOST_ROWS} more {what}; `gadgetopt ratios --format csv` has all runs")


def _print_instances(table: list[Entry]) -> None:
    from gadgetopt.reporting.instance_columns import instance_rows, stored_instances

    known = stored_instances(table)
    for system, rows in instance_rows((e.result.fingerprint for e in table), known).items():
        echo(f"\n{system}: size and features")
        print_rows(rows)


def print_rows(rows: list[dict[str, Any]]) -> None:
    """Print rows of plain values as a table."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    out = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for key in rows[0] if rows else ():
        out.add_column(key.replace("_", " "), overflow="fold")
    for row in rows[:MOST_ROWS]:
        out.add_row(
            *(
                "" if v is None else f"{v:g}" if isinstance(v, float) else escape(str(v))
                for v in row.values()
            )
        )
    console().print(out)
    _tell_of_more(rows, "rows")


def _print_json(rows: list[dict[str, Any]]) -> None:
    import json

    echo(json.dumps(rows, indent=1, allow_nan=False))


@contextmanager
def _watching(quiet: bool) -> Iterator[Watch]:
    """Show progress: a live view on a terminal, plain lines elsewhere."""
    from gadgetopt.runs.progress import Lines, Live

    if quiet:
        yield Lines(say, every_s=float("inf"))  # only the lines about the store
        return
    if not sys.stderr.isatty():
        yield Lines(say)
        return
    live = Live(console(stderr=True))
    try:
        yield live
    finally:
        live.end()
