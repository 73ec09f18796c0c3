"""A worst sequence: a bar for every request, what the prices sell, and what OPT would."""

from __future__ import annotations

from fractions import Fraction

import plotly.graph_objects as go

from gadgetopt.reporting.figures import BLUE, GREY, INK, LEGEND_ABOVE, ORANGE, TEMPLATE
from gadgetopt.system.declaring import picture

from ...subproblems.replay import replay
from ..evaluate import evaluate
from ..instance import AdversarialOnlineSequenceInstance, AdversarialOnlineSequenceSolution


@picture()
def draw(
    instance: AdversarialOnlineSequenceInstance, solution: AdversarialOnlineSequenceSolution
) -> go.Figure:
    """The values in their order, who is served, the price, and whom OPT serves.

    Draw the values of a sequence, coloured by the probability of a sale, with the mean price.

    Dots mark the requests that the all-knowing seller serves, where demands are units of one
    resource. The price is what the request would have had to pay, on average over the draw.
    """
    kinds = [instance.types[j] for j in solution.arrivals]
    values, demands = [kind.value for kind in kinds], [kind.demand for kind in kinds]
    chance = [Fraction(0)] * len(values)
    price = [Fraction(0)] * len(values)
    for posted in instance.policy:
        accepted = set(replay(posted.prices, values, demands).accepted)
        used = [0] * len(instance.capacity)
        for t, demand in enumerate(demands):
            asked = sum(
                d * table[min(u, len(table) - 1)]
                for d, u, table in zip(demand, used, posted.prices, strict=True)
            )
            price[t] += posted.probability * asked
            if t in accepted:
                chance[t] += posted.probability
                used = [u + d for u, d in zip(used, demand, strict=True)]
    x = list(range(1, len(values) + 1))
    figure = go.Figure()
    for name, colour, heights in (
        ("served", BLUE, [float(v * p) for v, p in zip(values, chance, strict=True)]),
        ("refused", GREY, [float(v * (1 - p)) for v, p in zip(values, chance, strict=True)]),
    ):
        figure.add_trace(
            go.Bar(
                x=x,
                y=heights,
                name=name,
                marker={"color": colour, "line": {"color": INK, "width": 0.5}},
                hovertext=[
                    f"<b>request {t}</b>: type {j}<br>value {float(v):g}, units {list(d)}"
                    f"<br>served with probability {float(p):.3g}"
                    for t, j, v, d, p in zip(
                        x, solution.arrivals, values, demands, chance, strict=True
                    )
                ],
                hoverinfo="text",
            )
        )
    figure.add_trace(
        go.Scatter(
            x=x,
            y=list(map(float, price)),
            name="price asked",
            mode="lines",
            line={"color": INK, "shape": "hvh", "dash": "dash", "width": 1.5},
        )
    )
    if instance.unit_demand:
        order = sorted(range(len(values)), key=lambda t: (-values[t], -t))
        best = sorted(order[: instance.capacity[0]])
        figure.add_trace(
            go.Scatter(
                x=[t + 1 for t in best],
                y=[float(values[t]) for t in best],
                name="served by the all-knowing seller",
                mode="markers",
                marker={"color": ORANGE, "size": 9, "line": {"color": INK, "width": 0.5}},
            )
        )
    parts = evaluate(instance, solution).components
    ratio = f"{float(parts['ratio']):.6g} times" if "ratio" in parts else "infinitely many times"
    figure.update_layout(
        barmode="stack",
        title={
            "text": f"The optimum is {ratio} the welfare of these prices",
            "subtitle": {
                "text": f"{float(parts['offline_welfare']):.6g} against "
                f"{float(parts['welfare']):.6g}, {list(instance.capacity)} units for sale"
            },
        },
        template=TEMPLATE,
        height=440,
        legend=LEGEND_ABOVE,
        margin={"t": 110},
        xaxis={"title": {"text": "request"}, "dtick": max(1, len(x) // 20)},
        yaxis={"title": {"text": "value"}, "rangemode": "tozero"},
    )
    return figure
