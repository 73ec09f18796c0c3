"""The worst sequence of a policy: what it earns, buyer by buyer, and what the optimum is."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.reporting.figures import BLUE, GREY, INK, LEGEND_ABOVE, ORANGE, TEMPLATE
from gadgetopt.system.declaring import picture

from ...subproblems.offline import largest
from ..evaluate import welfare_on, worst_case
from ..instance import AdversarialOnlinePolicyInstance, AdversarialOnlinePolicySolution


@picture(name="worst_sequence")
def draw(
    instance: AdversarialOnlinePolicyInstance, solution: AdversarialOnlinePolicySolution
) -> go.Figure:
    """The policy's welfare and the optimum along the policy's worst sequence."""
    sequence = worst_case(instance, solution).sequence
    x = list(range(1, len(sequence) + 1))
    values = instance.values(sequence)
    earned = [float(welfare_on(instance, solution, sequence[:t])) for t in x]
    best = [float(largest(values[:t], instance.capacity_units)) for t in x]
    figure = go.Figure()
    figure.add_trace(
        go.Bar(
            x=x,
            y=list(map(float, values)),
            name="value of the buyer",
            marker={"color": GREY, "line": {"color": INK, "width": 0.5}},
        )
    )
    for name, series, colour in (("optimum", best, ORANGE), ("expected welfare", earned, BLUE)):
        figure.add_trace(
            go.Scatter(x=x, y=series, mode="lines+markers", name=name, line={"color": colour})
        )
    worst = f"{best[-1] / earned[-1]:.6g}" if earned[-1] else "infinite"
    figure.update_layout(
        title={
            "text": f"Worst case of the policy: ratio {worst}, regret {best[-1] - earned[-1]:.6g}",
            "subtitle": {
                "text": f"{instance.capacity_units} units, at most {instance.horizon} buyers of "
                f"{len(instance.levels)} levels"
            },
        },
        template=TEMPLATE,
        height=440,
        legend=LEGEND_ABOVE,
        margin={"t": 110},
        xaxis={"title": {"text": "buyer"}, "dtick": max(1, len(x) // 20)},
        yaxis={"title": {"text": "money"}, "rangemode": "tozero"},
    )
    return figure
