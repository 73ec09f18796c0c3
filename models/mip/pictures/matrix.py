"""The matrix of a model: a mark for every entry, in the colour of its row's class."""

from __future__ import annotations

from fractions import Fraction

import plotly.graph_objects as go

from gadgetopt.reporting.figures import INK, LEGEND_ABOVE, PALETTE, TEMPLATE
from gadgetopt.system.declaring import picture

from ..evaluate import evaluate
from ..features import row_classes
from ..instance import MipInstance, MipSolution

#: Classes of rows and their names in the legend, in the order of the colours.
CLASSES = {
    "set": "sets of binaries",
    "knapsack": "knapsacks",
    "variable bound": "variable bounds",
    "flow": "continuous columns alone",
    "": "other rows",
}
#: Marks drawn; of more entries, evenly spread ones are left out.
MOST_MARKS = 20_000
#: Opacity of the marks in columns that are 0.
PALE = 0.25


@picture()
def matrix(instance: MipInstance, solution: MipSolution) -> go.Figure:
    """The matrix as the solution uses it: columns that are 0 are pale, rows that are tight marked.

    A mark stands for an entry; its colour says what class its row is of.
    """
    model = instance.exact
    entries = [(i, j) for i, row in enumerate(model.rows) for j in row.columns]
    step = -(-len(entries) // MOST_MARKS) or 1
    classes = row_classes(model)
    used = {instance.index[name] for name, x in solution.values.items() if x}
    figure = go.Figure()
    for colour, (of, name) in zip(PALETTE, CLASSES.items(), strict=False):
        marks = [(i, j) for i, j in entries[::step] if classes[i] == of]
        if marks:
            figure.add_trace(
                go.Scatter(
                    x=[j for _, j in marks],
                    y=[i for i, _ in marks],
                    mode="markers",
                    name=name,
                    marker={
                        "symbol": "square",
                        "size": _size(len(model.integer), len(model.rows)),
                        "color": colour,
                        "opacity": [1.0 if j in used else PALE for _, j in marks],
                    },
                    text=[f"{instance.rows[i]}, {instance.columns[j]}" for i, j in marks],
                    hoverinfo="text",
                )
            )
    tight = _tight(instance, solution)
    figure.add_trace(
        go.Scatter(
            x=[len(model.integer)] * len(tight),
            y=tight,
            mode="markers",
            name="tight rows",
            marker={"symbol": "triangle-left", "color": INK, "size": 7},
            text=[instance.rows[i] for i in tight],
            hoverinfo="text",
        )
    )
    value = float(evaluate(instance, solution).objective or 0)
    told = "pale: columns that are 0" + (f"; one entry of {step} is drawn" if step > 1 else "")
    figure.update_layout(
        title={
            "text": f"Objective {value:,.6g} with {len(used)} of {len(model.integer)} columns, "
            f"{len(tight)} of {len(model.rows)} rows tight",
            "subtitle": {"text": told},
        },
        template=TEMPLATE,
        height=520,
        legend=LEGEND_ABOVE,
        xaxis={"title": {"text": "column"}, "range": [-0.7, len(model.integer) + 0.7]},
        yaxis={"title": {"text": "row"}, "range": [len(model.rows) - 0.3, -0.7]},
    )
    return figure


def _size(columns: int, rows: int) -> float:
    """Return the size of a mark with which neighbours just do not touch."""
    return max(2.0, min(16.0, 700 / max(1, columns), 330 / max(1, rows)))


def _tight(instance: MipInstance, solution: MipSolution) -> list[int]:
    """Return the rows that are at a side."""
    x = [solution.values.get(name, Fraction(0)) for name in instance.columns]
    sums = (
        sum((a * x[j] for j, a in zip(row.columns, row.coefficients, strict=True)), Fraction(0))
        for row in instance.exact.rows
    )
    rows = zip(sums, instance.exact.rows, strict=True)
    return [i for i, (total, row) in enumerate(rows) if total in (row.lower, row.upper)]
