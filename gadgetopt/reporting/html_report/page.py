"""The report as one HTML file: text, tables, data and the drawing library."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from gadgetopt import __version__
from gadgetopt.reporting.cells import VACUOUS
from gadgetopt.reporting.figures import check_plotly
from gadgetopt.reporting.html_report import findings, methods, table, words
from gadgetopt.reporting.html_report.chances import TEXTS, Chances, chances
from gadgetopt.reporting.html_report.columns import against_columns
from gadgetopt.reporting.html_report.distributions import distribution
from gadgetopt.reporting.html_report.figure import Figure
from gadgetopt.reporting.html_report.pictures import (
    Album,
    Progress,
    draw,
    packed,
)
from gadgetopt.reporting.html_report.profiles import (
    integral_profile,
    quality_profile,
    time_profile,
    time_to_target,
)
from gadgetopt.reporting.html_report.progress import gap_over_time
from gadgetopt.reporting.html_report.ratios_by_system import ratios_by_system
from gadgetopt.reporting.html_report.reading import System, read_systems
from gadgetopt.reporting.html_report.relaxations import relaxations
from gadgetopt.reporting.html_report.style import Style, style
from gadgetopt.reporting.sentences import MOST_SYSTEMS, headline
from gadgetopt.reporting.summary.groups import summarize
from gadgetopt.runs.store import Store
from gadgetopt.system.output import write_text

#: The scripts, in order of dependence.
_SCRIPTS = ("base.js", "figures.js", "methods.js", "run.js", "table.js")


def write_report(
    store: Path | str,
    out: Path | str = "report.html",
    *,
    title: str | None = None,
    pictures: int = 40,
    pictures_mb: float = 4.0,
    tests: str | None = None,
    progress: Progress | None = None,
) -> dict[str, int]:
    """Write a self-contained page about all runs of a store.

    Parameters
    ----------
    store, out : path
    title : str, optional
        Default: the name of the store.
    pictures : int
        Most solutions that are drawn; for others the page shows the command that draws them.
    pictures_mb : float
        Drawing also stops when the pictures take this much space in the page.
    tests : str, optional
        "objective" or "time": with Wilcoxon's tests of each two methods of a system.
    progress : callable, optional
        Called as `progress(drawn, at_most)` after each picture.

    Returns
    -------
    dict
        Number of `runs`, `pictures` and `bytes` of the page.

    Raises
    ------
    InputError
        If the store is missing or not a store, the page cannot be written, or plotly is not
        installed; or there are no such tests.
    """
    check_plotly("report")
    store, out = Path(store), Path(out)
    with Store(store, create=False) as runs:
        systems = read_systems(runs)
        tested = chances(systems, tests)
        album = draw(runs, systems, pictures, round(pictures_mb * 1e6), progress)
        at_work = runs.running()
    name = title or store.stem
    text = page(systems, album, store=str(store), title=name, at_work=at_work, tested=tested)
    write_text(out, text)
    lines = table.in_order(systems)
    return {"runs": len(lines), "pictures": len(album.packed), "bytes": out.stat().st_size}


def page(
    systems: list[System],
    album: Album,
    *,
    store: str,
    title: str,
    at_work: int = 0,
    tested: Chances | None = None,
) -> str:
    """Return the page's text."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    lines = table.in_order(systems)
    index = {line.key: i for i, line in enumerate(lines)}
    rows = {s.name: methods.rows(s) for s in systems}
    looks = {s.name: styles(s) for s in systems}
    drawn = {s.name: figures(s, looks[s.name], index) for s in systems}
    specs = {figure_id(s.name, figure): figure.spec() for s in systems for figure in drawn[s.name]}
    entries = [line.entry for line in lines]
    overall = summarize(entries)
    first = ratios_by_system(overall) if lines else None
    if first is not None and not first.empty:
        specs[figure_id("all", first)] = first.spec()
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters["sign"] = findings.SIGNS.__getitem__
    template = environment.from_string(_asset("page.html"))
    return template.render(
        title=title,
        store=store,
        version=__version__,
        written_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        last=max((line.finished_at for line in lines), default=""),
        at_work=at_work,
        lines=lines,
        keys=dict(zip(index, table.short_keys(lines), strict=True)),
        systems=systems,
        looks=looks,
        figures=drawn,
        first=first,
        figure_id=figure_id,
        rows=rows,
        # Where the page's head says it of each system, its section does not repeat it.
        told_apart=len(systems) > MOST_SYSTEMS,
        sentences=headline(overall, entries) if lines else [],
        groupings={s.name: methods.groupings(s, rows[s.name]) for s in systems},
        tested=tested or Chances(),
        texts=TEXTS,
        marked={s.name: marked(drawn[s.name]) for s in systems},
        findings=findings,
        words=words,
        vacuous=VACUOUS,
        pictures=album.packed,
        css=Markup(_asset("report.css")),
        scripts=[Markup(_asset(name)) for name in _SCRIPTS],
        data=packed(
            {
                "store": store,
                "signs": findings.SIGNS,
                "vacuous": VACUOUS,
                "chunk": table.CHUNK,
                "looks": {s: {m: _look(x) for m, x in own.items()} for s, own in looks.items()},
                "columns": table.columns(lines, album),
            }
        ),
        specs={name: packed(spec) for name, spec in specs.items()},
        details=table.details(lines, album),
        plotly=_plotly() if lines else "",
    )


def styles(system: System) -> dict[str, Style]:
    """Return the style of every method; methods with ratios come first and get the first colours.

    Relaxations have no mark in most figures.
    """
    rated = {line.label for line in system.lines if line.low is not None}
    order = sorted(system.methods, key=lambda method: method not in rated)
    chosen = {method: style(k) for k, method in enumerate(order)}
    return {method: chosen[method] for method in system.methods}


def marked(drawn: Sequence[Figure]) -> set[str]:
    """Return the methods with a mark in a figure that has no names of methods of its own."""
    return {
        trace["meta"]
        for figure in drawn[1:]
        for variant in figure.variants
        for trace in variant.traces
    }


def figures(system: System, looks: Mapping[str, Style], index: Mapping[str, int]) -> list[Figure]:
    """Return a system's figures that are not empty."""
    makers: tuple[Callable[[], Figure], ...] = (
        lambda: distribution(system, looks, index),
        lambda: quality_profile(system, looks),
        lambda: against_columns(system, looks, index),
        lambda: relaxations(system, looks, index),
        lambda: time_profile(system, looks),
        lambda: integral_profile(system, looks),
        lambda: time_to_target(system, looks),
        lambda: gap_over_time(system, looks),
    )
    return [figure for make in makers if not (figure := make()).empty]


def figure_id(system: str, figure: Figure) -> str:
    """Return the page's name of a figure."""
    return f"{system}-{figure.name}"


def _look(look: Style) -> dict[str, Any]:
    return {"colour": look.colour, "symbol": look.symbol, "dash": look.dash}


def _asset(name: str) -> str:
    return (files("gadgetopt.reporting.html_report") / "assets" / name).read_text(encoding="utf-8")


@cache
def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return base64.b64encode(gzip.compress(get_plotlyjs().encode(), 9, mtime=0)).decode()
