"""Nodes and training nodes of every part beside their caps."""

from __future__ import annotations

from collections import Counter

import plotly.graph_objects as go

from gadgetopt.reporting.figures import BLUE, INK, LEGEND_ABOVE, ORANGE, TEMPLATE
from gadgetopt.system.declaring import picture

from ..instance import BglPartitionInstance, BglPartitionSolution

#: Parts drawn, the first ones.
MOST_PARTS = 64


@picture()
def draw(instance: BglPartitionInstance, solution: BglPartitionSolution) -> go.Figure:
    """Nodes and training nodes of every part beside their caps."""
    nodes = Counter(solution.part)
    trained = Counter(solution.part[t] for t in instance.train_nodes)
    parts = list(range(min(instance.num_parts, MOST_PARTS)))
    figure = go.Figure()
    for name, count, most, colour in (
        ("nodes", nodes, instance.node_cap, BLUE),
        ("training nodes", trained, instance.train_cap, ORANGE),
    ):
        figure.add_bar(
            x=parts,
            y=[count[i] / most for i in parts],
            name=f"{name}, at most {most}",
            marker={"color": colour},
            hovertext=[f"server {i}: {count[i]} {name}" for i in parts],
            hoverinfo="text",
        )
    figure.add_hline(y=1, line={"color": INK, "dash": "dash"})
    figure.update_layout(
        title={"text": f"Loads of {instance.num_parts} servers"},
        template=TEMPLATE,
        height=420,
        legend=LEGEND_ABOVE,
        xaxis={"title": {"text": "server"}, "dtick": 1},
        yaxis={"title": {"text": "share of the cap"}, "rangemode": "tozero"},
    )
    return figure
