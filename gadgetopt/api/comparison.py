"""What `compare` returns: the ratio table, and what is made of it."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from gadgetopt.reporting.views import markup, values
from gadgetopt.runs.comparison import ROW_KEYS, Entry
from gadgetopt.system.display import Displayed

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure

    from gadgetopt.runs.grid import Unreadable

#: Rows of a table in a notebook.
MOST_ROWS = 30


class Scratch:
    """A temporary folder, deleted with the last object that holds it."""

    def __init__(self) -> None:
        self.folder: Path = Path(tempfile.mkdtemp(prefix="gadgetopt-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


class Comparison(Displayed, Sequence[Entry]):
    """The ratio table of a comparison or of a store: a sequence of `Entry`.

    Parameters
    ----------
    entries : iterable of Entry
    store : Path
        The store that holds the runs.
    scratch : Scratch, optional
        Where the store lies if nobody asked for one.
    unreadable : sequence of Unreadable
        Files among the instances that cannot be read, with `path` and `reason`; they have no entry.
    """

    def __init__(
        self,
        entries: Iterable[Entry],
        store: Path,
        scratch: Scratch | None = None,
        unreadable: Sequence[Unreadable] = (),
    ):
        self.entries: tuple[Entry, ...] = tuple(entries)
        self.store: Path = store
        self.unreadable: tuple[Unreadable, ...] = tuple(unreadable)
        self._scratch = scratch

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> list[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | list[Entry]:
        return list(self.entries[index]) if isinstance(index, slice) else self.entries[index]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per run, as `gadgetopt ratios --features` writes it.

        After the columns of the ratio table follow the instances' own: their sizes (`size_`), their
        features (`feature_`), and the parameters of their generator (`param_`). An instance that
        several values of a parameter give has a row for each of them.
        """
        from gadgetopt.reporting.instance_columns import (
            columns_of_origins,
            joined,
            stored_instances,
        )
        from gadgetopt.reporting.tables import frame

        solved = [entry.result.fingerprint for entry in self]
        of_instance = columns_of_origins(stored_instances(self))
        rows, keys = joined([entry.row() for entry in self], solved, ROW_KEYS, of_instance)
        return frame(rows, keys)

    def summary(self, by: str | Sequence[str] = (), **chosen: Any) -> pd.DataFrame:
        """Return wins, shares, ratios and times per system, group of instances and method.

        Parameters
        ----------
        by : str or sequence of str
            Columns of the instances that form the groups, such as `size_jobs` or `param_extra`.
        **chosen
            `systems`, `methods`, `instances`: only these; `rng`: see `gadgetopt.summary`.

        Raises
        ------
        InputError
            If there is no such column, system, method or instance.
        """
        from gadgetopt.reporting.summary import summary

        return summary(self.entries, by, **chosen)

    @property
    def errors(self) -> list[Entry]:
        """The runs that ended in an error."""
        return [e for e in self if e.result.status == "error"]

    def report(self, path: Path | str = "report.html", *, title: str | None = None) -> Path:
        """Write the page for the browser about all runs of the store.

        Raises
        ------
        InputError
            If the page cannot be written.
        """
        from gadgetopt.reporting.html_report import write_report

        write_report(self.store, path, title=title or "Comparison")
        return Path(path)


@values.line.register(Comparison)
def _(value: Comparison) -> str:
    def counted(n: int, what: str) -> str:
        return f"{n} {what}" + ("" if n == 1 else "s")

    results = [entry.result for entry in value]
    parts = [
        counted(len(results), "run"),
        counted(len({(r.problem, r.method) for r in results}), "method"),
        counted(len({r.fingerprint for r in results}), "instance"),
    ]
    if value.errors:
        parts.append(counted(len(value.errors), "error"))
    return f"<Comparison: {', '.join(parts)}>"


@values.text.register(Comparison)
def _(value: Comparison) -> str:
    from rich.console import Console

    from gadgetopt.reporting.tables import ratio_table

    console = Console(width=160, force_jupyter=False)
    with console.capture() as captured:
        console.print(ratio_table(value[:MOST_ROWS]))
    lines = [line.rstrip() for line in captured.get().splitlines()]
    return "\n".join([values.line(value), *lines, *_below(value)]).rstrip()


def _below(value: Comparison) -> list[str]:
    """Return what is said below the table: how many rows it lacks, whose bounds it uses."""
    from gadgetopt.reporting.sentences import others_line

    more = len(value) - MOST_ROWS
    said = f"and {more} more runs; .frame has all" if more > 0 else ""
    return [line for line in (said, others_line(value, value.store)) if line]


@values.numbers.register(Comparison)
def _(value: Comparison) -> str:
    from rich.text import Text

    from gadgetopt.reporting.sentences import headline
    from gadgetopt.reporting.tables import ratio_table, remarks

    head = markup.heading(values.line(value).strip("<>"))
    if value.entries:
        head += "".join(markup.paragraph(said) for said in headline(value.summary(), value))
    made = ratio_table(value[:MOST_ROWS])
    columns = [str(column.header) for column in made.columns]
    cells = [
        [Text.from_markup(str(cell)).plain for cell in column.cells] for column in made.columns
    ]
    numeric = [name for name in columns if name not in ("instance", "method", "status")]
    rows = markup.table(columns, zip(*cells, strict=True), numeric)
    said = [("", line) for line in [*_below(value), *remarks(value)[:10]]]
    return head + rows + (markup.pairs(said) if said else "")


@values.picture.register(Comparison)
def _(value: Comparison) -> Figure | None:
    return ratio_figure(value)


def ratio_figure(table: Sequence[Entry]) -> Figure | None:
    """Return the ratios of every method as points, one row per method; None if there are none.

    A point is the measured ratio where it is certified, else the middle of a bar over its interval.
    """
    from plotly import graph_objects as go

    from gadgetopt.numbers.tolerance import as_double
    from gadgetopt.reporting.figures import BRIGHT, TEMPLATE

    several = len({entry.result.problem for entry in table}) > 1
    points: dict[str, list[tuple[float, float, str]]] = {}
    for entry in table:
        ratio, result = entry.ratio, entry.result
        if ratio is None or ratio.low is None:
            continue
        low = as_double(ratio.low)
        high = low if ratio.high is None else as_double(ratio.high)
        label = f"{result.problem}: {result.method}" if several else result.method
        points.setdefault(label, []).append((low, min(high, 1e6), result.instance))
    if not points:
        return None
    figure = go.Figure()
    for k, (label, own) in enumerate(reversed(points.items())):
        figure.add_scatter(
            x=[(low + high) / 2 for low, high, _ in own],
            y=[label] * len(own),
            error_x={"array": [(high - low) / 2 for low, high, _ in own], "width": 2},
            mode="markers",
            text=[name for *_, name in own],
            hovertemplate="%{text}: %{x:.4g}<extra></extra>",
            marker={"color": BRIGHT[k % len(BRIGHT)], "size": 8, "opacity": 0.6},
            showlegend=False,
        )
    figure.update_layout(
        template=TEMPLATE,
        height=110 + 28 * len(points),
        margin={"l": 10, "r": 10, "t": 10, "b": 40},
        xaxis_title="ratio to the optimum",
    )
    figure.update_yaxes(automargin=True)
    return figure
