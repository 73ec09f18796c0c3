"""The command `report`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from gadgetopt.cli.options import Json, check_outputs, natural, positive
from gadgetopt.cli.printing import console, echo
from gadgetopt.errors import InputError


def report(
    store: Annotated[Path, typer.Argument(help="SQLite file of runs, finished or being filled.")],
    out: Annotated[Path, typer.Option("--out", help="FILE.html.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="Default: the store's name.")] = None,
    pictures: Annotated[
        int,
        typer.Option(
            help="Most solutions drawn; the page says how to draw others.",
            parser=natural,
            metavar="INTEGER",
        ),
    ] = 40,
    pictures_mb: Annotated[
        float,
        typer.Option(help="Largest total size of the pictures.", parser=positive, metavar="MB"),
    ] = 4.0,
    tests: Annotated[
        str | None,
        typer.Option(
            metavar="MEASURE",
            help="objective or time: Wilcoxon's tests of each two methods, too, as in `summary`.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a store as one HTML page with tables and figures."""
    from gadgetopt.reporting.html_report import write_report

    if out.suffix not in (".html", ".htm"):
        raise InputError(f"--out: {out}: {out.suffix or 'no suffix'}, expected .html")
    check_outputs(out, read=store)
    with _progress() as progress:
        made = write_report(
            store,
            out,
            title=title,
            pictures=pictures,
            pictures_mb=pictures_mb,
            tests=tests,
            progress=progress,
        )
    if as_json:
        import json

        echo(json.dumps({"report": str(out), **made}))
    else:
        echo(
            f"{out}: {made['runs']} runs, {made['pictures']} pictures, {made['bytes'] / 1e6:.1f} MB"
        )


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None] | None]:
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("drawing solutions"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def drawn(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield drawn
