"""The numbers of any instance as one small figure: a panel for each list of numbers in its data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gadgetopt.reporting.figures import BRIGHT, TEMPLATE
from gadgetopt.reporting.words import spaced
from gadgetopt.system.data import Data

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Panels in a figure, the first found; bars of a panel, from which on it is a histogram.
MOST_PANELS = 6
MOST_BARS = 40
#: Values of a list that are looked at.
MOST_VALUES = 5000


def overview(data: Data) -> Figure | None:
    """Return a figure of the lists of numbers in a record; None if there are none."""
    from plotly import graph_objects as go
    from plotly.subplots import make_subplots

    lists = list(number_lists(data))
    varied = [(name, values) for name, values in lists if len(set(values)) > 1]
    panels = (varied or lists)[:MOST_PANELS]
    if not panels:
        return _single_numbers(data)
    columns = min(3, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure = make_subplots(rows, columns, subplot_titles=[name for name, _ in panels])
    for k, (_, values) in enumerate(panels):
        colour = {"color": BRIGHT[k % len(BRIGHT)]}
        if len(values) <= MOST_BARS:
            trace = go.Bar(x=list(range(len(values))), y=values, marker=colour)
        else:
            trace = go.Histogram(x=values, nbinsx=MOST_BARS // 2, marker=colour)
        figure.add_trace(trace, row=k // columns + 1, col=k % columns + 1)
    figure.update_layout(
        template=TEMPLATE,
        showlegend=False,
        height=60 + 150 * rows,
        margin={"l": 40, "r": 10, "t": 30, "b": 30},
    )
    figure.update_annotations(font={"size": 12})
    return figure


def _single_numbers(data: Data) -> Figure | None:
    """Return a figure of the numbers of a record that has no lists."""
    from plotly import graph_objects as go

    fields = {name: getattr(data, name) for name in reversed(type(data).model_fields)}
    found = {spaced(name): float(x) for name, x in fields.items() if _is_number(x)}
    if not found:
        return None
    bars = go.Bar(x=list(found.values()), y=list(found), orientation="h", marker_color=BRIGHT[0])
    figure = go.Figure(bars)
    margin = {"l": 10, "r": 10, "t": 10, "b": 30}
    figure.update_layout(template=TEMPLATE, height=60 + 22 * len(found), margin=margin)
    return figure.update_yaxes(automargin=True)


def number_lists(data: Data) -> Iterator[tuple[str, list[float]]]:
    """Yield the name and the values of every list of numbers, and of records' numbers."""
    for name, field in data.overview_fields().items():
        value = field
        if isinstance(value, Data):
            yield from ((f"{spaced(name)}: {part}", own) for part, own in number_lists(value))
        if isinstance(value, Mapping):
            value = tuple(value.values())
        if not isinstance(value, tuple) or len(value) < 2:
            continue
        some: Sequence[Any] = value[:MOST_VALUES]
        if all(isinstance(x, Data) for x in some):
            columns = {
                f"{spaced(name)}: {spaced(part)}": [getattr(x, part, None) for x in some]
                for part in type(some[0]).model_fields
            }
        else:
            columns = {spaced(name): list(some)}
        for title, column in columns.items():
            values = _flat(column)
            if values:
                yield title, values


def _flat(column: Sequence[Any]) -> list[float]:
    """Return the numbers of a list, or of a list of lists; nothing if it holds anything else."""
    if all(isinstance(x, tuple) for x in column):
        column = [x for part in column for x in part][:MOST_VALUES]
    return [float(x) for x in column] if all(_is_number(x) for x in column) else []


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float | Fraction) and not isinstance(x, bool)
