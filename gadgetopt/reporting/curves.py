"""The curve of a training: one panel per column, over the rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gadgetopt.reporting.figures import BRIGHT, TEMPLATE


def learning_curve(curve: Sequence[Mapping[str, float]], title: str) -> Any:
    """Return a figure of a training's curve; a column need not have a value in every round."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    columns = list(dict.fromkeys(name for row in curve for name in row))
    figure = make_subplots(rows=max(1, len(columns)), cols=1, shared_xaxes=True)
    for k, name in enumerate(columns):
        points = [(r + 1, row[name]) for r, row in enumerate(curve) if name in row]
        line = go.Scatter(
            x=[x for x, _ in points],
            y=[y for _, y in points],
            mode="lines+markers" if len(points) < 60 else "lines",
            line={"color": BRIGHT[k % len(BRIGHT)]},
            name=name,
            showlegend=False,
        )
        figure.add_trace(line, row=k + 1, col=1)
        figure.update_yaxes(title_text=name.replace("_", " "), row=k + 1, col=1)
    figure.update_xaxes(title_text="round", row=max(1, len(columns)), col=1)
    figure.update_layout(template=TEMPLATE, title=title, height=120 + 180 * max(1, len(columns)))
    return figure
