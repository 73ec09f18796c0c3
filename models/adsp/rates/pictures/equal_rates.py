"""The objective against an equal rate: a term that falls and one that rises."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from gadgetopt.reporting.figures import BRIGHT, LEGEND_ABOVE, TEMPLATE
from gadgetopt.system.declaring import picture

from ..instance import AdspRatesInstance
from ..tables import Tables, objective


@picture(of="instance")
def draw(instance: AdspRatesInstance) -> go.Figure:
    """The objective against an equal rate, the U of the paper."""
    tables, model = Tables.of(instance), instance.model
    rates = np.arange(1, max(1, instance.largest_equal_rate) + 1)
    means = np.array([tables.steps(n).mean() for n in rates])
    local = np.array([tables.local_steps(n).max() for n in rates])
    curves = {}
    if model.kind == "momentum_cap":
        curves["steps lost"] = rates * tables.commit_steps.sum()
    else:
        curves["objective"] = np.asarray(objective(instance, means, local))
        if model.kind == "error_bound":
            curves["a / S: few steps"] = model.a / means
            curves["b (theta - 1): stale models"] = model.b * (local - 1)
    figure = go.Figure()
    for (name, values), colour in zip(curves.items(), BRIGHT, strict=False):
        figure.add_scatter(x=rates, y=values, name=name, mode="lines+markers", line_color=colour)
    figure.update_layout(
        title={"text": "Objective of equal rates"},
        template=TEMPLATE,
        legend=LEGEND_ABOVE,
        xaxis={"title": {"text": "commits of every worker in a check period"}},
        yaxis={"title": {"text": "objective"}},
    )
    return figure
