"""The command `summary`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gadgetopt.cli.options import Json, Out, check_outputs
from gadgetopt.cli.printing import console, echo
from gadgetopt.cli.studying import split_methods
from gadgetopt.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from gadgetopt.reporting.summary.choice import Choice
    from gadgetopt.reporting.summary.cross_table import CrossTable
    from gadgetopt.runs.comparison import Entry
    from gadgetopt.runs.study import StudyTable


def summary(
    store: Annotated[Path, typer.Argument(help="SQLite file of runs, or study file.")],
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            help="Group by a column of the instances: preset, size_jobs, param_gpus, ...; "
            "feature_load:4 makes four groups. Repeatable.",
            metavar="COLUMN",
        ),
    ] = None,
    systems: Annotated[
        str | None, typer.Option(help="Only these systems.", metavar="NAME,...")
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(help="Only these methods: names, kinds or patterns.", metavar="NAME,..."),
    ] = None,
    instances: Annotated[
        str | None,
        typer.Option(help="Only these instances: names or patterns.", metavar="NAME,..."),
    ] = None,
    cells: Annotated[
        str | None,
        typer.Option(
            help="A column per method and these measures in its cells: mean, worst, share, "
            "objective, bound, gap, optimal, verified, time, ...",
            metavar="NAME,...",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            help="Only these columns, in a table, in Markdown or LaTeX: solved, median, worst, "
            "theorem, time, ...",
            metavar="NAME,...",
        ),
    ] = None,
    names: Annotated[
        Path | None,
        typer.Option(
            help="TOML file with names for print, in its tables systems, methods and columns.",
            metavar="FILE.toml",
        ),
    ] = None,
    intervals: Annotated[
        bool,
        typer.Option(
            "--intervals",
            help="Add 95 % bootstrap intervals of the mean ratios and times; with --format csv or "
            "json primal-dual integrals, too.",
        ),
    ] = False,
    tests: Annotated[
        str | None,
        typer.Option(
            help="Wilcoxon's signed-rank tests of each two methods instead, corrected after Holm: "
            "of their objective or time.",
            metavar="MEASURE",
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            help="Print a performance profile instead: of time, integral, ratio or gap.",
            metavar="MEASURE",
        ),
    ] = None,
    form: Annotated[
        str, typer.Option("--format", help="table, markdown, latex, csv or json.")
    ] = "table",
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Summarise a store by method: wins, ratios and times.

    Of a study file it prints the table that the study describes.
    """
    from gadgetopt.reporting import tables
    from gadgetopt.reporting.summary import chosen
    from gadgetopt.reporting.summary import documents as made
    from gadgetopt.reporting.summary.choice import Choice, Names, checked_columns, read_names
    from gadgetopt.reporting.summary.cross_table import checked_cells, needs_traces

    form = "json" if as_json else form
    if form not in made.FORMATS:
        raise InputError(f"--format: {form!r} is not one of {', '.join(made.FORMATS)}")
    if form == "table" and out is not None:
        raise InputError("--out: needs --format markdown, latex, csv or json")
    across = form in ("table", "markdown")
    if cells is not None and not across:
        raise InputError(f"--cells: is for --format table and markdown, not {form}")
    if intervals and cells is not None:
        raise InputError(
            "--intervals: is for tables without --cells, which has mean_interval, time_interval "
            "and integral_interval"
        )
    if (columns or names) and (form in ("csv", "json") or cells is not None):
        raise InputError("--columns, --names: are for a table, Markdown or LaTeX without --cells")
    choice = Choice(
        checked_columns(_names(columns)), Names() if names is None else read_names(names)
    )
    check_outputs(out, read=store)
    store, described = _of_study(store)
    if profile is not None:
        given = (by, cells, systems, methods, instances, intervals or None, tests)
        if any(x is not None for x in given) or form not in ("table", "csv", "json"):
            raise InputError("--profile: covers the whole store; it takes --format and --out only")
        _show_profile(store, profile, form, out)
        return
    if tests is not None:
        if by or cells or columns or names or intervals or form not in ("table", "csv", "json"):
            what = "only --systems, --methods, --instances, --out and --format csv or json"
            raise InputError(f"--tests: compares methods over all instances, expected {what}")
        _show_tests(store, tests, [*map(_names, (systems, methods, instances))], form, out)
        return
    rows = described.rows if described is not None and by is None else tuple(by or ())
    only = described.methods if described is not None and methods is None else _names(methods)
    measures: tuple[str, ...] = described.cells if described is not None else ()
    if cells is not None:
        measures = checked_cells(_names(cells))
    found = tables.ratios(store, traces=intervals or needs_traces(measures))
    table = chosen(found, _names(systems), only, _names(instances))
    if form == "table":
        _print(table, rows, measures, choice, intervals)
    else:
        stem = (out or store).stem
        text = _text(table, rows, measures if across else (), form, stem, intervals, choice)
        _write(text, out)


def print_across(table: Sequence[Entry], by: Sequence[str], cells: Sequence[str]) -> None:
    """Print a table with a row per group of instances and a column per method."""
    from gadgetopt.reporting.summary.cross_table import cross_tables

    _print_tables(cross_tables(table, by, cells), cells)


def _print_tables(made: Sequence[CrossTable], cells: Sequence[str]) -> None:
    from gadgetopt.reporting.summary import cross_table

    for each in made:
        console().print(cross_table.grid(each))
    console().print(cross_table.legend(cells), style="dim", highlight=False)


def _show_profile(store: Path, measure: str, form: str, out: Path | None) -> None:
    """Print or write a performance profile."""
    from gadgetopt.reporting import profile_tables

    frame = profile_tables.performance_profile(store, measure)
    if form == "table":
        _print_grids(profile_tables.as_text(frame, measure), profile_tables.MEANINGS[measure])
    else:
        _write_frame(frame, form, out)


def _show_tests(
    store: Path, measure: str, only: Sequence[Sequence[str]], form: str, out: Path | None
) -> None:
    """Print or write the tests of each two methods."""
    from gadgetopt.reporting import pairwise

    systems, methods, instances = only
    frame = pairwise.pairwise_tests(
        store, measure, systems=systems, methods=methods, instances=instances
    )
    if form != "table":
        _write_frame(frame, form, out)
        return
    _print_grids(pairwise.as_text(frame, measure), pairwise.MEANINGS[measure], pairwise.TEST)


def _write_frame(frame: pd.DataFrame, form: str, out: Path | None) -> None:
    """Write a table as CSV or JSON."""
    from gadgetopt.reporting import tables
    from gadgetopt.reporting.summary.documents import plain

    keys = list(frame.columns)
    rows = plain([dict(zip(keys, row, strict=True)) for row in frame.to_numpy().tolist()])
    _write(tables.render(rows, "csv" if form == "csv" else "json", None, keys) or "", out)


def _print_grids(made: Sequence[CrossTable], *meanings: str) -> None:
    from gadgetopt.reporting.summary import cross_table

    for table in made:
        console().print(cross_table.grid(table))
    console().print(" ".join(meanings), style="dim", highlight=False)


def _of_study(path: Path) -> tuple[Path, StudyTable | None]:
    """Return the store that is named, or that of a study, and the study's table."""
    from gadgetopt.runs.study import is_study, read_study

    if not is_study(path):
        return path, None
    study = read_study(path)
    return Path(study.store), study.table


def _print(
    table: Sequence[Entry],
    by: Sequence[str],
    cells: Sequence[str],
    choice: Choice,
    intervals: bool,
) -> None:
    import numpy as np

    from gadgetopt.reporting.sentences import headline, rows_of
    from gadgetopt.reporting.summary import summarize
    from gadgetopt.reporting.summary.cross_table import cross_tables
    from gadgetopt.reporting.summary.screen import methods_table

    # Wrong columns are told before anything is printed.
    across = cross_tables(table, by, cells) if cells else []
    frame = summarize(table, by, np.random.default_rng(0) if intervals else None)
    screen = console()
    for line in headline(summarize(table) if by else frame, table):
        screen.print(line, style="bold", highlight=False, markup=False)
    if cells:
        _print_tables(across, cells)
        return
    rows, groups = rows_of(frame), [spec.partition(":")[0] for spec in by]
    if rows:
        printed, meaning = methods_table(rows, groups, screen.width, choice)
        screen.print(printed)
        screen.print(meaning, style="dim", highlight=False)


def _text(
    table: Sequence[Entry],
    by: Sequence[str],
    cells: Sequence[str],
    form: str,
    label: str,
    intervals: bool,
    choice: Choice,
) -> str:
    """Return a summary in a format for files."""
    import numpy as np

    from gadgetopt.reporting import tables
    from gadgetopt.reporting.sentences import rows_of
    from gadgetopt.reporting.summary import cross_table, summarize
    from gadgetopt.reporting.summary import documents as made

    if cells:
        return cross_table.markdown(cross_table.cross_tables(table, by, cells), cells)
    frame = summarize(table, by, np.random.default_rng(0) if intervals else None)
    rows, groups = rows_of(frame), [spec.partition(":")[0] for spec in by]
    if form in ("csv", "json"):
        keys = list(frame.columns)
        return tables.render(made.plain(rows), "csv" if form == "csv" else "json", None, keys) or ""
    if form == "markdown":
        return made.markdown(rows, groups, choice)
    return made.latex(rows, groups, label, choice)


def _write(text: str, out: Path | None) -> None:
    from gadgetopt.system.output import write_text

    if out is None:
        echo(text, nl=False)
    else:
        write_text(out, text)


def _names(text: str | None) -> tuple[str, ...]:
    return () if text is None else split_methods(text)
