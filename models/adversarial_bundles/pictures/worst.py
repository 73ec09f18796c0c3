"""The worst sequence of a seller: what it earns, request by request, and what the optimum is."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.reporting.figures import BLUE, GREY, INK, LEGEND_ABOVE, ORANGE, TEMPLATE
from gadgetopt.system.declaring import picture

from ..evaluate import on_path, worst_case
from ..instance import AdversarialBundlesInstance, AdversarialBundlesSolution


@picture(name="worst_sequence")
def draw(instance: AdversarialBundlesInstance, solution: AdversarialBundlesSolution) -> go.Figure:
    """The seller's welfare and the optimum along the seller's worst sequence."""
    sequence = worst_case(instance, solution).sequence
    path = on_path(instance, solution, sequence)
    kinds = [instance.types[j] for j in sequence]
    x = list(range(1, len(sequence) + 1))
    figure = go.Figure()
    figure.add_trace(
        go.Bar(
            x=x,
            y=[float(kind.value) for kind in kinds],
            name="value of the request",
            text=[" ".join(map(str, kind.demand)) for kind in kinds],
            marker={"color": GREY, "line": {"color": INK, "width": 0.5}},
        )
    )
    for name, series, colour in (
        ("optimum", [float(w.offline_welfare) for w in path], ORANGE),
        ("expected welfare", [float(w.welfare) for w in path], BLUE),
    ):
        figure.add_trace(
            go.Scatter(x=x, y=series, mode="lines+markers", name=name, line={"color": colour})
        )
    last = path[-1]
    worst = f"{float(last.offline_welfare / last.welfare):.6g}" if last.welfare else "infinite"
    figure.update_layout(
        title={
            "text": f"Worst case of the seller: ratio {worst}",
            "subtitle": {
                "text": f"capacity {' '.join(map(str, instance.capacity))}, at most "
                f"{instance.horizon} requests of {len(instance.types)} types; on the bars: bundles"
            },
        },
        template=TEMPLATE,
        height=440,
        legend=LEGEND_ABOVE,
        margin={"t": 110},
        xaxis={"title": {"text": "request"}, "dtick": max(1, len(x) // 20)},
        yaxis={"title": {"text": "money"}, "rangemode": "tozero"},
    )
    return figure
