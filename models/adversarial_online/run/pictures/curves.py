"""Price curves over utilisation, and the ratios that they guarantee for few and for many units."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from gadgetopt.reporting.figures import BRIGHT, INK, LEGEND_ABOVE, TEMPLATE
from gadgetopt.system.declaring import picture

from ...subproblems import curves
from ..instance import AdversarialOnlineRunInstance

#: Numbers of units over which ratios are drawn.
UNITS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256)

#: Units of a table that is drawn; of more, the curve says the same.
MOST_UNITS = 200


@picture(name="price_curves", of="instance")
def draw(instance: AdversarialOnlineRunInstance) -> go.Figure:
    """Prices over utilisation: exponential, plain, the optimal table of k units.

    Draw the prices of the theory's policies, and the instance's own, over the first resource.
    """
    low, high, spread = instance.value_min, instance.value_max, instance.spread
    k = instance.capacity[0]
    y = np.linspace(0, 1, 400)
    figure = go.Figure()
    for (name, curve), colour in zip(
        {
            "exponential": curves.exponential,
            "exponential, no flat part": curves.plain_exponential,
        }.items(),
        BRIGHT,
        strict=False,
    ):
        prices = [float(low) * curve(x, spread) for x in y.tolist()]
        figure.add_trace(go.Scatter(x=y, y=prices, mode="lines", name=name, line={"color": colour}))
    tables = {}
    if k <= MOST_UNITS:
        tables[f"optimal table of {k} units"] = curves.finite_table(k, low, high)
        if instance.prices:
            tables["own prices"] = instance.prices[0]
    for (name, table), colour in zip(tables.items(), BRIGHT[2:], strict=False):
        figure.add_trace(
            go.Scatter(
                x=[u / k for u in range(k + 1)],
                y=[*map(float, table), float(table[-1])],
                mode="lines",
                name=name,
                line={"color": colour, "shape": "hv"},
            )
        )
    figure.update_layout(
        title={
            "text": f"Prices for values from {float(low):g} to {float(high):g}",
            "subtitle": {
                "text": f"ratio {curves.exponential_ratio(spread):.6g} for infinitesimal units, "
                f"{curves.finite_ratio(k, spread):.6g} for {k} units without a draw"
            },
        },
        template=TEMPLATE,
        height=480,
        legend=LEGEND_ABOVE,
        margin={"t": 110},
        xaxis={"title": {"text": "share of the units sold"}, "range": [0, 1]},
        yaxis={"title": {"text": "price"}, "rangemode": "tozero"},
    )
    return figure


@picture(name="ratio_by_units", of="instance")
def draw_ratios(instance: AdversarialOnlineRunInstance) -> go.Figure:
    r"""Ratios of policies over the number of units, with their limits.

    Draw the guaranteed ratios over k, and their limits :math:`\theta` and 1 + ln theta.
    """
    low, high, spread = instance.value_min, instance.value_max, instance.spread
    lines = {
        "optimal table": [curves.finite_ratio(k, spread) for k in UNITS],
        "exponential table": [
            float(
                curves.table_ratio(curves.curve_table(curves.exponential, k, low, high), low, high)
                or 0
            )
            for k in UNITS
        ],
        "no flat part": [
            float(
                curves.table_ratio(
                    curves.curve_table(curves.plain_exponential, k, low, high), low, high
                )
                or 0
            )
            for k in UNITS
        ],
    }
    figure = go.Figure()
    for (name, ratios), colour in zip(lines.items(), BRIGHT, strict=False):
        figure.add_trace(
            go.Scatter(x=UNITS, y=ratios, mode="lines+markers", name=name, line={"color": colour})
        )
    limit = curves.exponential_ratio(spread)
    for value, text in ((limit, "1 + ln θ, drawn once, for every k"), (float(spread), "θ, greedy")):
        figure.add_hline(
            y=value,
            line={"color": INK, "width": 1.5, "dash": "dash"},
            annotation={"text": text, "xanchor": "right"},
        )
    figure.update_layout(
        title={
            "text": f"Guaranteed ratio by units, θ = {float(spread):g}",
            "subtitle": {"text": "the optimum over the welfare, at most, whatever comes"},
        },
        template=TEMPLATE,
        height=480,
        legend=LEGEND_ABOVE,
        margin={"t": 110},
        xaxis={"title": {"text": "units k"}, "type": "log"},
        yaxis={"title": {"text": "ratio"}, "type": "log"},
    )
    return figure
