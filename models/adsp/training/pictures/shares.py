"""Shares of computing, communicating and waiting by policy."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.reporting.figures import BLUE, GREY, LEGEND_ABOVE, ORANGE, TEMPLATE
from gadgetopt.system.declaring import picture

from ..evaluate import components
from ..instance import AdspTrainingInstance
from ..simulator import simulate
from .named import compared, name_of


@picture(of="instance")
def draw(instance: AdspTrainingInstance) -> go.Figure:
    """Shares of computing, communicating and waiting by policy.

    Draw what part of the workers' time each policy spends how.
    """
    names, waiting, communicating = [], [], []
    for policy in compared(instance):
        run = simulate(instance, policy)
        told = components(instance, run, 0.0)
        time = f"{float(run.time_s):.5g} s" if run.converged else "not converged"
        names.append(f"{name_of(policy)}: {time}")
        waiting.append(float(told["waiting_share"]))
        communicating.append(float(told["communication_share"]))
    pairs = zip(waiting, communicating, strict=True)
    computing = [max(0.0, 1 - w - c) for w, c in pairs]
    figure = go.Figure()
    for name, values, colour in (
        ("computes", computing, BLUE),
        ("communicates", communicating, ORANGE),
        ("waits", waiting, GREY),
    ):
        figure.add_bar(y=names, x=values, orientation="h", name=name, marker_color=colour)
    figure.update_layout(
        title={"text": "How the workers' time is spent"},
        barmode="stack",
        template=TEMPLATE,
        legend=LEGEND_ABOVE,
        xaxis={"title": {"text": "share of the time"}, "tickformat": ".0%", "range": [0, 1]},
        yaxis={"autorange": "reversed"},
    )
    return figure
