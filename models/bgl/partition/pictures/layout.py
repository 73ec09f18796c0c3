"""The graph in the colours of its parts, with the requests that are cut."""

from __future__ import annotations

import math

import networkx as nx
import plotly.graph_objects as go

from gadgetopt.reporting.figures import GREY, INK, LEGEND_ABOVE, PALE, PALETTE, RED, TEMPLATE
from gadgetopt.system.declaring import picture

from ..evaluate import evaluate
from ..instance import BglPartitionInstance, BglPartitionSolution

#: Nodes of a graph that is drawn; of larger ones those with the most weight.
MOST_NODES = 400
#: Width of the heaviest cut pair, px.
WIDEST = 6.0


@picture()
def draw(instance: BglPartitionInstance, solution: BglPartitionSolution) -> go.Figure:
    """The graph in the colours of its parts, with the requests that are cut.

    Draw nodes in the colour of their part, training nodes as squares, cut pairs in red.

    Parts lie on a circle; within each, nodes are laid out by their edges. A red line is as wide as
    the weight that it cuts.
    """
    part = solution.part
    weights = instance.pair_weights
    total: dict[int, float] = dict.fromkeys(range(instance.num_nodes), 0.0)
    cut: list[tuple[int, int, float]] = []
    ends = zip(weights.first.tolist(), weights.second.tolist(), weights.weight, strict=True)
    for a, b, w in ends:
        total[a] += float(w)
        total[b] += float(w)
        if part[a] != part[b]:
            cut.append((a, b, float(w)))
    shown = set(sorted(total, key=lambda v: (-total[v], v))[:MOST_NODES])
    place = _places(instance, part, shown)
    figure = go.Figure()
    inside = [e for e in instance.edges if e[0] in shown and e[1] in shown]
    _lines(figure, [(u, v) for u, v in inside if part[u] == part[v]], place, GREY, 1.0)
    _lines(figure, [(u, v) for u, v in inside if part[u] != part[v]], place, GREY, 0.6)
    most = max((w for *_, w in cut), default=1.0)
    for step in (0.25, 0.5, 1.0):
        some = [
            (a, b)
            for a, b, w in cut
            if a in shown and b in shown and step / 2 < max(w / most, 0.126) <= step
        ]
        _lines(figure, some, place, RED, WIDEST * step)
    _nodes(figure, instance, part, sorted(shown), place)
    cost = evaluate(instance, solution).objective or 0
    unit = "edges cut" if instance.weights == "edge" else "requests to other servers"
    figure.update_layout(
        title={
            "text": f"{float(cost):.4g} {unit}",
            "subtitle": {
                "text": f"{instance.num_nodes} nodes on {instance.num_parts} servers; squares: "
                "training nodes; red: pairs of nodes whose requests are cut"
            },
        },
        template=TEMPLATE,
        height=640,
        legend=LEGEND_ABOVE,
        xaxis={"visible": False},
        yaxis={"visible": False, "scaleanchor": "x"},
    )
    return figure


def _places(
    instance: BglPartitionInstance, part: tuple[int, ...], shown: set[int]
) -> dict[int, tuple[float, float]]:
    """Return positions: each part is laid out by itself, its centre on a circle."""
    used = sorted({part[v] for v in shown})
    place: dict[int, tuple[float, float]] = {}
    for at, i in enumerate(used):
        graph = nx.Graph()
        graph.add_nodes_from(sorted(v for v in shown if part[v] == i))
        graph.add_edges_from(
            e for e in instance.edges if e[0] in graph and e[1] in graph and e[0] != e[1]
        )
        angle = 2 * math.pi * at / len(used) + math.pi / 4
        centre = (1.6 * math.cos(angle), 1.6 * math.sin(angle)) if len(used) > 1 else (0.0, 0.0)
        found = nx.spring_layout(graph, seed=1, center=centre, k=2.2 / math.sqrt(len(graph)))
        place.update({v: (float(x), float(y)) for v, (x, y) in found.items()})
    return place


def _lines(
    figure: go.Figure,
    pairs: list[tuple[int, ...]] | list[tuple[int, int]],
    place: dict[int, tuple[float, float]],
    colour: str,
    width: float,
) -> None:
    if not pairs:
        return
    x: list[float | None] = []
    y: list[float | None] = []
    for a, b in pairs:
        x += [place[a][0], place[b][0], None]
        y += [place[a][1], place[b][1], None]
    line = {"color": colour, "width": width}
    figure.add_scatter(
        x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False, opacity=0.8
    )


def _nodes(
    figure: go.Figure,
    instance: BglPartitionInstance,
    part: tuple[int, ...],
    shown: list[int],
    place: dict[int, tuple[float, float]],
) -> None:
    trained = set(instance.train_nodes)
    for i in sorted({part[v] for v in shown}):
        here = [v for v in shown if part[v] == i]
        figure.add_scatter(
            x=[place[v][0] for v in here],
            y=[place[v][1] for v in here],
            mode="markers",
            name=f"server {i}",
            marker={
                "size": [12 if v in trained else 8 for v in here],
                "symbol": ["square" if v in trained else "circle" for v in here],
                "color": PALETTE[i % len(PALETTE)],
                "line": {"color": INK if len(shown) <= 120 else PALE, "width": 0.8},
            },
            hovertext=[f"node {v}, server {i}" for v in here],
            hoverinfo="text",
        )
