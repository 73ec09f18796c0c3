"""Theorem 1's implicit momentum against an equal rate, in both readings."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.reporting.figures import BRIGHT, INK, LEGEND_ABOVE, TEMPLATE
from gadgetopt.system.declaring import picture

from ..evaluate import implicit_momentum
from ..instance import AdspRatesInstance, MomentumCap, Reading

_READINGS: tuple[tuple[Reading, str], ...] = (
    ("step_time", "R2: terms are local steps"),
    ("speed", "R1: terms are in square seconds"),
)


@picture(of="instance")
def draw(instance: AdspRatesInstance) -> go.Figure:
    """Implicit momentum against an equal rate, in both readings."""
    m, model = len(instance.workers), instance.model
    rates = range(1, max(1, instance.largest_equal_rate) + 1)
    scale = model.scale if isinstance(model, MomentumCap) else 1.0
    figure = go.Figure()
    for (reading, name), colour in zip(_READINGS, BRIGHT, strict=False):
        read = instance.model_copy(
            update={"model": MomentumCap(max_momentum=0.5, reading=reading, scale=scale)}
        )
        values = [float(implicit_momentum(read, (n,) * m)) for n in rates]
        figure.add_scatter(
            x=list(rates), y=values, name=name, mode="lines+markers", line_color=colour
        )
    if isinstance(model, MomentumCap):
        figure.add_hline(y=model.max_momentum, line={"color": INK, "dash": "dash"})
    figure.update_layout(
        title={"text": "Implicit momentum of equal rates (Theorem 1)"},
        template=TEMPLATE,
        legend=LEGEND_ABOVE,
        xaxis={"title": {"text": "commits of every worker in a check period"}},
        yaxis={"title": {"text": "momentum"}, "range": [0, 1]},
    )
    return figure
