"""Retention: which features each batch finds, loads and leaves in the caches."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.errors import InputError
from gadgetopt.reporting.figures import BLUE, GREY, LEGEND_ABOVE, ORANGE, PALE, TEMPLATE, YELLOW
from gadgetopt.system.declaring import picture

from ..evaluate import evaluate
from ..instance import CacheInstance, CacheSolution

#: Nodes and batches that are drawn; of more nodes, those of most uses.
MOST_NODES, MOST_BATCHES = 60, 120

#: States of a node at a batch, in the order of their colours.
_STATES = ("not held", "held on the host", "held on the device", "hit", "loaded")
_COLOURS = (PALE, YELLOW, GREY, BLUE, ORANGE)


@picture()
def draw(instance: CacheInstance, solution: CacheSolution) -> go.Figure:
    """Which features are needed, hit and kept, batch by batch.

    A node is loaded, hit on device or host, or only held until a later batch. Rows are ordered by
    first use.
    """
    if instance.gpus is not None:
        raise InputError("gpus: several, this picture is of one cache")
    evaluation = evaluate(instance, solution)
    batches = instance.batches(solution.order)[:MOST_BATCHES]
    ranked = sorted(instance.frequency, key=lambda v: (-instance.frequency[v], v))[:MOST_NODES]
    first: dict[int, int] = {}
    for p, batch in enumerate(batches):
        for v in batch:
            first.setdefault(v, p)
    rows = sorted(ranked, key=lambda v: (first.get(v, len(batches)), v))
    at = {v: k for k, v in enumerate(rows)}
    states = [[0] * len(batches) for _ in rows]
    device, host = set(solution.preloaded), set()  # type: set[int], set[int]
    for p, batch in enumerate(batches):
        for v in host:
            if v in at:
                states[at[v]][p] = 1
        for v in device:
            if v in at:
                states[at[v]][p] = 2
        for v in batch:
            if v in at:
                states[at[v]][p] = 3 if v in device or v in host else 4
        host -= set(batch)
        device |= set(batch)
        if p < len(solution.evicted):
            device -= set(solution.evicted[p])
            host |= set(solution.demoted[p]) if solution.demoted else set()
            host -= set(solution.dropped[p]) if solution.dropped else set()
    top = len(_STATES) - 1
    figure = go.Figure(
        go.Heatmap(
            z=states,
            zmin=0,
            zmax=top,
            colorscale=[
                (side, colour)
                for k, colour in enumerate(_COLOURS)
                for side in (k / (top + 1), (k + 1) / (top + 1))
            ],
            showscale=False,
            xgap=1,
            ygap=1,
            text=[[_STATES[state] for state in row] for row in states],
            hovertemplate="batch %{x}, node %{customdata}: %{text}<extra></extra>",
            customdata=[[v] * len(batches) for v in rows],
        )
    )
    used = {state for row in states for state in row} - {0}
    for state in sorted(used, reverse=True):
        figure.add_trace(
            go.Scatter(
                x=[None],
                y=[None],
                mode="markers",
                marker={"color": _COLOURS[state], "size": 12, "symbol": "square"},
                name=_STATES[state],
            )
        )
    part = evaluation.components
    figure.update_layout(
        title={
            "text": f"Cost {evaluation.objective}: {part['misses']} of {part['requested']} "
            "requested features loaded",
            "subtitle": {"text": f"at most {instance.capacity} retained between two batches"},
        },
        template=TEMPLATE,
        legend=LEGEND_ABOVE,
        height=190 + max(160, 16 * len(rows)),
        xaxis={"title": {"text": "batch"}, "showgrid": False, "dtick": 1 + len(batches) // 20},
        yaxis={
            "title": {"text": "node"},
            "tickvals": list(range(len(rows))),
            "ticktext": [str(v) for v in rows],
            "autorange": "reversed",
            "showgrid": False,
        },
    )
    return figure
