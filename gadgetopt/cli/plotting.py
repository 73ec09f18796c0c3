"""The command `plot`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadgetopt.cli.completion import picture_names
from gadgetopt.cli.options import (
    FIGURE_FILE,
    Instances,
    Methods,
    Plugins,
    Systems,
    check_outputs,
    count,
    names_of,
)
from gadgetopt.errors import InputError

if TYPE_CHECKING:
    from gadgetopt.system.declaration import Picture, Problem

#: Suffixes of figures for papers, whose captions are the author's.
PRINT = (".svg", ".pdf")

#: Pixels below which a figure of a store has no room for names beside its rows. By definition: a
#: column of a paper, or a phone.
NARROW_PX = 500


def plot(
    instance: Annotated[
        Path,
        typer.Argument(metavar="INSTANCE", help="Instance file, or a store of runs."),
    ],
    solution: Annotated[Path | None, typer.Argument(metavar="[SOLUTION]")] = None,
    run: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="Draw the solution of this run of a store."),
    ] = None,
    picture: Annotated[
        str | None,
        typer.Option(
            help="Which picture; default the system's first, see `list`.",
            autocompletion=picture_names,
        ),
    ] = None,
    x: Annotated[
        str | None,
        typer.Option(
            "--x",
            help="Draw the runs of a store against this column: param_extra, size_jobs, ...",
            metavar="COLUMN",
        ),
    ] = None,
    y: Annotated[
        str,
        typer.Option(
            "--y",
            help="With --x: ratio, net_ratio, gap, time_s, objective or another column.",
            metavar="COLUMN",
        ),
    ] = "ratio",
    by: Annotated[
        str, typer.Option("--by", help="With --x: a curve for each value.", metavar="COLUMN")
    ] = "method",
    title: Annotated[str | None, typer.Option(help="Title above the figure.")] = None,
    xlim: Annotated[
        str | None, typer.Option(help="Ends of the x axis of a store's figure.", metavar="LOW,HIGH")
    ] = None,
    ylim: Annotated[
        str | None, typer.Option(help="Ends of the y axis of a store's figure.", metavar="LOW,HIGH")
    ] = None,
    note: Annotated[
        bool | None,
        typer.Option(
            "--note/--no-note",
            help="With --x: say below the figure what it shows; default not in .svg and .pdf, "
            "where a line on standard error says it.",
            show_default=False,
        ),
    ] = None,
    systems: Systems = None,
    methods: Methods = None,
    instances: Instances = None,
    out: Annotated[Path, typer.Option(help=f"{FIGURE_FILE}.")] = Path("plot.html"),
    width: Annotated[
        int | None,
        typer.Option(
            help=".png, .svg, .pdf: pixels of 1/96 inch; default 1000. The narrower, the larger "
            "the text on paper.",
            parser=count,
            metavar="PX",
        ),
    ] = None,
    transparent: Annotated[
        bool, typer.Option("--transparent", help="Leave out the white background.")
    ] = False,
    plugin: Plugins = None,
) -> None:
    """Draw an instance, a solution, or the runs of a store.

    A store: one row a system, its first heuristic's ratios beside its theorem. With --x: the median
    of the runs at each value of the column, with a band between the quartiles.
    """
    from gadgetopt.reporting.images import check_figure_file, write_figure
    from gadgetopt.runs.store_file import is_store

    check_figure_file("--out", out)
    check_outputs(out, read=instance)
    if solution is not None:
        check_outputs(out, read=solution)
    only = {"systems": systems, "methods": methods, "instances": instances}
    if x is not None:
        if solution is not None or run is not None or picture is not None:
            raise InputError(
                "--x: draws the runs of a store; leave out SOLUTION, --run and --picture"
            )
        figure = _figure_of_runs(instance, x, y, by, only)
    elif run is None and is_store(instance):
        if solution is not None or picture is not None:
            raise InputError(f"{instance}: is a store, expected --run KEY with --picture")
        figure = _figure_of_systems(instance, only, width is not None and width < NARROW_PX)
    elif run is None:
        figure = _figure_of_files(instance, solution, picture)
    elif solution is None:
        figure = _figure_of_run(instance, run, picture)
    else:
        raise InputError(f"--run: {run!r} and the solution {solution}: expected one of the two")
    of_store = x is not None or (run is None and is_store(instance))
    if (xlim is not None or ylim is not None) and not of_store:
        raise InputError("--xlim, --ylim: are for a figure of a store's runs")
    _present(figure, title, xlim, ylim, out.suffix not in PRINT if note is None else note)
    write_figure(figure, out, width_px=width, transparent=transparent)


def _present(
    figure: Any, title: str | None, xlim: str | None, ylim: str | None, note: bool
) -> None:
    """Give a figure its title and the ends of its axes, and take its note away if it has none."""
    import sys

    from gadgetopt.reporting.figures import limited, without_note

    for axis, text in (("x", xlim), ("y", ylim)):
        if text is not None:
            limited(figure, axis, _ends(f"--{axis}lim", text))
    if title is not None:
        figure.update_layout(title={"text": title, "x": 0, "xref": "paper"}, margin={"t": 100})
    if not note and (said := without_note(figure)):
        print(f"gadgetopt: note of the figure: {said}", file=sys.stderr)


def _ends(option: str, text: str) -> tuple[float, float]:
    """Return two numbers, written as LOW,HIGH, in brackets or without."""
    import math

    try:
        low, high = map(float, text.strip().removeprefix("[").removesuffix("]").split(","))
    except ValueError:
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(f"{option}: {text!r}, expected two numbers LOW,HIGH, such as 1,1.5")
    return low, high


def _figure_of_runs(store: Path, x: str, y: str, by: str, only: dict[str, str | None]) -> Any:
    from gadgetopt.reporting.curves_of_runs import plot_runs

    chosen = {option: names_of(text) for option, text in only.items()}
    return plot_runs(store, x, y, by, **chosen)


def _figure_of_systems(store: Path, only: dict[str, str | None], narrow: bool) -> Any:
    from gadgetopt.reporting.html_report.ratios_by_system import plot_systems

    chosen: dict[str, Any] = {option: names_of(text) for option, text in only.items()}
    return plot_systems(store, narrow=narrow, **chosen)


def _figure_of_files(instance: Path, solution: Path | None, picture: str | None) -> Any:
    from gadgetopt.reporting.figures import drawn
    from gadgetopt.system.files import read_instance, read_solution
    from gadgetopt.trust.verification import same_problem

    document = read_instance(instance)
    chosen = find_picture(document.problem, picture)
    if chosen.of == "instance":
        return drawn(document.problem, chosen, document.data)
    if solution is None:
        raise InputError(f"plot: the picture {chosen.name!r} is of a solution, expected SOLUTION")
    decision = read_solution(solution, document)
    same_problem(document, decision)
    return drawn(document.problem, chosen, document.data, decision.data, str(solution))


def _figure_of_run(store: Path, start: str, picture: str | None) -> Any:
    from gadgetopt.reporting.figures import drawn
    from gadgetopt.reporting.html_report.reading import find_key, solved
    from gadgetopt.runs.store import Store

    with Store(store, create=False) as runs:
        document, solution = solved(runs, find_key(runs, start))
    chosen = find_picture(document.problem, picture)
    return drawn(document.problem, chosen, document.data, solution)


def find_picture(system: Problem, name: str | None) -> Picture:
    """Return a system's picture by name; by default the first that shows a solution."""
    from gadgetopt.api.looking import find_picture

    chosen = find_picture(system, name, "solution")
    if chosen is None:
        raise InputError(f"picture: {system.name} has no picture of a solution")
    return chosen
