"""The table of interference as a heat map."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.reporting.figures import BLUE, PALE, RED, TEMPLATE

from .cluster import ClusterInstance

#: Types up to which every entry is written. By definition.
MOST_WRITTEN = 16


def draw(instance: ClusterInstance) -> go.Figure:
    """Draw how much each type slows down each other; rows are victims."""
    types = [f"type {k}" for k in range(instance.num_types)]
    table = instance.alpha
    figure = go.Figure(
        go.Heatmap(
            z=table.tolist(),
            x=types,
            y=types,
            colorscale=[[0.0, PALE], [0.5, BLUE], [1.0, RED]],
            zmin=0.0,
            zmax=max(float(table.max()), 1e-9),
            texttemplate="%{z:.2f}" if instance.num_types <= MOST_WRITTEN else None,
            colorbar={"title": {"text": "relative slowdown"}},
            hovertemplate="%{y} beside %{x}: %{z:.3g}<extra></extra>",
        )
    )
    most = "" if instance.additive else f"; {len(instance.measured)} patterns were measured apart"
    figure.update_layout(
        title={
            "text": "How much jobs on one server slow each other down",
            "subtitle": {"text": f"rows are who is slowed down, columns who does it{most}"},
        },
        template=TEMPLATE,
        height=220 + max(160, 40 * instance.num_types),
        yaxis={"autorange": "reversed", "title": {"text": "victim"}},
        xaxis={"title": {"text": "neighbour"}},
    )
    return figure
