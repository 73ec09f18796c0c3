"""The command `summary`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gadgetopt.cli.options import Json, Out, check_outputs
from gadgetopt.cli.printing import console, echo
from gadgetopt.cli.studying import split_methods
from gadgetopt.errors import InputError


def summary(
    store: Annotated[Path, typer.Argument(help="SQLite file of runs.")],
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
    form: Annotated[
        str, typer.Option("--format", help="table, markdown, latex, csv or json.")
    ] = "table",
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Summarise a store by method: wins, ratios and times."""
    from gadgetopt.reporting import tables
    from gadgetopt.reporting.sentences import headline, rows_of
    from gadgetopt.reporting.summary import chosen, summarize
    from gadgetopt.reporting.summary import documents as made
    from gadgetopt.reporting.summary.screen import methods_table
    from gadgetopt.system.output import write_text

    form = "json" if as_json else form
    if form not in made.FORMATS:
        raise InputError(f"--format: {form!r} is not one of {', '.join(made.FORMATS)}")
    if form == "table" and out is not None:
        raise InputError("--out: needs --format markdown, latex, csv or json")
    check_outputs(out, read=store)
    table = chosen(tables.ratios(store), _names(systems), _names(methods), _names(instances))
    frame = summarize(table, by or ())
    rows, groups = rows_of(frame), [spec.partition(":")[0] for spec in by or ()]
    if form == "table":
        screen = console()
        for line in headline(summarize(table) if by else frame, table):
            screen.print(line, style="bold", highlight=False, markup=False)
        if rows:
            printed, meaning = methods_table(rows, groups, screen.width)
            screen.print(printed)
            screen.print(meaning, style="dim", highlight=False)
        return
    if form in ("csv", "json"):
        keys = list(frame.columns)
        text = tables.render(made.plain(rows), "csv" if form == "csv" else "json", None, keys) or ""
    elif form == "markdown":
        text = made.markdown(rows, groups)
    else:
        text = made.latex(rows, groups, (out or store).stem)
    if out is None:
        echo(text, nl=False)
    else:
        write_text(out, text)


def _names(text: str | None) -> tuple[str, ...]:
    return () if text is None else split_methods(text)
