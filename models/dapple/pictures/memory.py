"""Memory of activations against the warm-up number of each stage."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.pieces.pipeline.plan import stage_memory
from gadgetopt.reporting.figures import BRIGHT, INK, LEGEND_ABOVE, TEMPLATE
from gadgetopt.system.declaring import picture

from ..algorithms.schedules import warmups
from ..instance import DappleInstance, DappleSolution
from ..schedule import schedule_of
from ..subproblems.copies import longest_copy

#: Bytes; the picture shows GB.
_GB = 1e9


@picture()
def draw(instance: DappleInstance, solution: DappleSolution) -> go.Figure:
    """Activations of each stage against its warm-up number, and GPipe's.

    Draw the memory of a GPU of every stage for K = 1, ..., M microbatches in flight.
    """
    shop, copy = longest_copy(instance, solution)
    M = shop.num_microbatches
    peaks = schedule_of(shop, copy).peaks_in_flight
    policies = {policy: warmups(shop, policy) for policy in ("A", "B")}
    figure = go.Figure()
    replicas = map(len, copy.stage_devices)
    for n, ((first, end), r) in enumerate(zip(solution.stage_layers, replicas, strict=True)):
        fixed, each = (float(x) / _GB for x in stage_memory(instance, first, end, r))
        colour = BRIGHT[n % len(BRIGHT)]
        figure.add_scatter(
            x=[1, M],
            y=[fixed + each, fixed + M * each],
            mode="lines",
            name=f"stage {n}",
            line={"color": colour},
        )
        marks = {"A": policies["A"][n], "B": policies["B"][n], "GPipe": M, "here": peaks[n]}
        figure.add_scatter(
            x=list(marks.values()),
            y=[fixed + k * each for k in marks.values()],
            mode="markers",
            marker={
                "color": colour,
                "size": 10,
                "symbol": ["circle", "square", "diamond", "x"],
            },
            hovertext=[f"<b>stage {n}, {name}</b><br>{k} in flight" for name, k in marks.items()],
            hoverinfo="text",
            showlegend=False,
        )
    if instance.options.memory_bytes is not None:
        limit = instance.options.memory_bytes / _GB
        figure.add_hline(y=limit, line={"color": INK, "width": 2, "dash": "dash"})
    figure.update_layout(
        title={
            "text": "Memory of a GPU against microbatches in flight",
            "subtitle": {
                "text": "circle: policy A, square: policy B, diamond: GPipe, cross: this schedule"
            },
        },
        template=TEMPLATE,
        legend=LEGEND_ABOVE,
        xaxis={"title": {"text": "microbatches in flight, K"}},
        yaxis={"title": {"text": "GB"}, "rangemode": "tozero"},
    )
    return figure
