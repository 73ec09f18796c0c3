"""A stream: the values of a unit in their order, and which requests are accepted."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gadgetopt.reporting.figures import BLUE, GREY, INK, LEGEND_ABOVE, ORANGE, TEMPLATE
from gadgetopt.system.declaring import picture

from ..evaluate import evaluate
from ..instance import AdversarialOnlineRunInstance, AdversarialOnlineRunSolution

#: Requests drawn one by one; of longer streams every n-th.
MOST_REQUESTS = 3000


@picture()
def draw(
    instance: AdversarialOnlineRunInstance, solution: AdversarialOnlineRunSolution
) -> go.Figure:
    """The values in their order, which of them are accepted, and the welfare over time.

    Draw the value of a unit of each request by the probability that it is accepted.

    Below, the welfare that has come together, and the value that has come by.
    """
    chance = np.zeros(len(instance.value))
    for play in solution.plays:
        shares: Sequence[Fraction | int] = play.share or [1] * len(play.accepted)
        chance[list(play.accepted)] += [float(play.probability * x) for x in shares]
    values = np.asarray(instance.value)
    units = np.array([sum(demand) for demand in instance.demands])
    shown = np.arange(0, len(values), max(1, len(values) // MOST_REQUESTS))
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, row_heights=[0.62, 0.38], vertical_spacing=0.06
    )
    refused = shown[chance[shown] == 0]
    sold = shown[chance[shown] > 0]
    for requests, name, colour in ((refused, "refused", GREY), (sold, "accepted", BLUE)):
        figure.add_trace(
            go.Scatter(
                x=requests,
                y=values[requests] / units[requests],
                mode="markers",
                name=name,
                marker={
                    "color": colour,
                    "size": 4 + 6 * chance[requests],
                    "line": {"color": INK, "width": 0.5 if len(shown) <= 400 else 0},
                },
                hovertext=[
                    f"<b>request {t}</b><br>value {values[t]:g}, {units[t]} units"
                    f"<br>accepted with probability {chance[t]:.3g}"
                    for t in requests
                ],
                hoverinfo="text",
            ),
            row=1,
            col=1,
        )
    for series, name, colour in (
        (np.cumsum(values * chance), "welfare", BLUE),
        (np.cumsum(values), "value of all requests", ORANGE),
    ):
        figure.add_trace(
            go.Scatter(x=shown, y=series[shown], mode="lines", name=name, line={"color": colour}),
            row=2,
            col=1,
        )
    found = evaluate(instance, solution)
    ratio = found.components.get("ratio")
    against = "" if ratio is None else f"; the offline optimum is {float(ratio):.4g} times that"
    figure.update_layout(
        title={
            "text": f"Welfare {float(found.objective or 0):.6g} of {len(values)} requests",
            "subtitle": {"text": f"{list(instance.capacity)} units for sale{against}"},
        },
        template=TEMPLATE,
        height=560,
        legend=LEGEND_ABOVE,
        margin={"t": 110},
        yaxis={"title": {"text": "value of a unit"}, "rangemode": "tozero"},
        yaxis2={"title": {"text": "value so far"}, "rangemode": "tozero"},
        xaxis2={"title": {"text": "request"}},
    )
    return figure
