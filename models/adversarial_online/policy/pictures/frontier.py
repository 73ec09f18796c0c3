"""Consistency against robustness: what a share on the predicted sequences costs on the others."""

from __future__ import annotations

from fractions import Fraction

import plotly.graph_objects as go

from gadgetopt.reporting.figures import BLUE, INK, TEMPLATE
from gadgetopt.system.declaring import picture
from gadgetopt.system.result import Limits

from ..evaluate import evaluate
from ..instance import AdversarialOnlinePolicyInstance
from ..proving.exact.minimax import minimax

#: Shares of the optimum on the predicted sequences, of which the frontier is computed.
SHARES = tuple(Fraction(n, 20) for n in range(8, 21))

#: Seconds for one point of the frontier; a point that takes longer is left out.
SECONDS = 5.0


@picture(of="instance")
def draw(instance: AdversarialOnlinePolicyInstance) -> go.Figure:
    """Consistency on predicted sequences against the ratio on all others.

    Draw the least worst case for each consistency.

    Without predictions, k buyers of the lowest level are predicted.
    """
    lowest = (0,) * min(instance.capacity_units, instance.horizon)
    points = frontier(
        instance.model_copy(update={"consistency": Fraction(1)})
        if instance.predictions
        else instance.model_copy(update={"predictions": (lowest,), "consistency": Fraction(1)})
    )
    unit = "ratio" if instance.payoff == "ratio" else "regret"
    figure = go.Figure(
        go.Scatter(
            x=[float(share) for share, _ in points],
            y=[worst for _, worst in points],
            mode="lines+markers",
            line={"color": BLUE},
            marker={"line": {"color": INK, "width": 0.5}, "size": 8},
        )
    )
    figure.update_layout(
        title={
            "text": f"Least worst-case {unit} that keeps a share on the predicted sequences",
            "subtitle": {
                "text": "predicted: k buyers of the lowest level"
                if not instance.predictions
                else f"{len(instance.predictions)} predicted sequences"
            },
        },
        template=TEMPLATE,
        height=440,
        xaxis={"title": {"text": "share of the optimum on predicted sequences"}},
        yaxis={"title": {"text": f"{unit} on all sequences"}},
    )
    return figure


def frontier(instance: AdversarialOnlinePolicyInstance) -> list[tuple[Fraction, float]]:
    """Return the least worst case of each consistency that has a policy."""
    points = []
    for share in SHARES:
        asked = instance.model_copy(update={"consistency": share})
        outcome = minimax(asked, Limits(time_s=SECONDS))
        if outcome.solution is None or outcome.limit_hit:
            continue
        worst = evaluate(asked, outcome.solution).objective  # type: ignore[arg-type]
        if worst is not None:
            points.append((share, float(worst)))
    return points
