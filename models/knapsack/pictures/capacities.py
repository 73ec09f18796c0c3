"""Picture of a choice: a bar for every row, with the weights of the chosen items in it."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from gadgetopt.reporting.figures import (
    BAR,
    INK,
    PALE,
    PALETTE,
    TEMPLATE,
)
from gadgetopt.system.declaring import picture

from ..evaluate import evaluate
from ..instance import KnapsackInstance, KnapsackSolution

#: A part of a bar shows its weight from this many percent of the capacity on.
_WRITTEN_PERCENT = 4


@picture(name="capacities")
def plot(instance: KnapsackInstance, solution: KnapsackSolution) -> go.Figure:
    """What the chosen items take of every capacity.

    An item has the same colour in all rows; items lie in the order of their groups.
    """
    evaluation = evaluate(instance, solution)
    parts = _parts(instance, solution)
    chosen = sum(c is not None for c in solution.chosen)
    profit = float(evaluation.objective or 0)
    rows = len(instance.capacities)
    figure = go.Figure(
        go.Bar(
            **BAR,
            y=[part["row"] for part in parts],
            base=[part["start"] for part in parts],
            x=[part["percent"] for part in parts],
            marker={
                "color": [PALETTE[part["group"] % len(PALETTE)] for part in parts],
                "line": {"color": PALE, "width": 1 if chosen <= 60 else 0},
            },
            text=[part["label"] if part["percent"] >= _WRITTEN_PERCENT else "" for part in parts],
            hovertext=[part["hover"] for part in parts],
        )
    )
    figure.add_vline(x=100, line={"color": INK, "width": 2, "dash": "dash"})
    figure.update_layout(
        title={
            "text": f"Profit {profit:g} with {chosen} of {instance.num_items} items",
            "subtitle": {"text": "an item has one colour in all rows; dashed: the capacity"},
        },
        barmode="overlay",
        template=TEMPLATE,
        height=170 + max(120, 36 * rows),
        xaxis={"title": {"text": "% of the capacity"}, "range": [0, 103]},
        yaxis={
            "range": [rows - 0.5, -0.5],
            "tickvals": list(range(rows)),
            "ticktext": [
                f"row {r}: {float(capacity):g}" for r, capacity in enumerate(instance.capacities)
            ],
            "showgrid": False,
        },
    )
    return figure


def _parts(instance: KnapsackInstance, solution: KnapsackSolution) -> list[dict[str, Any]]:
    """Return the rectangles: row, where it starts and how long it is in percent, and the item."""
    parts = []
    for r, capacity in enumerate(instance.capacities):
        start = 0.0
        for i, (items, c) in enumerate(zip(instance.groups, solution.chosen, strict=True)):
            if c is None or not items[c].weights[r]:
                continue
            weight = items[c].weights[r]
            percent = float(100 * weight / capacity)
            label = f"{i}.{c}" if instance.multiple_choice else str(i)
            parts.append(
                {
                    "row": r,
                    "start": start,
                    "percent": percent,
                    "group": i,
                    "label": label,
                    "hover": f"<b>item {label}</b><br>profit {float(items[c].profit):g}"
                    f"<br>{float(weight):g} of {float(capacity):g} ({percent:.1f} %)",
                }
            )
            start += percent
    return parts
