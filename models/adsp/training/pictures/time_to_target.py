"""Seconds to the target against the commits of every worker in a period."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.reporting.figures import BRIGHT, LEGEND_ABOVE, TEMPLATE
from gadgetopt.system.declaring import picture

from ..instance import Adsp, AdspTrainingInstance, Rate
from ..simulator import simulate

#: Rates drawn at most.
MOST_RATES = 40


@picture(of="instance")
def draw(instance: AdspTrainingInstance) -> go.Figure:
    """Seconds to the target against commits in a period: the U of the paper.

    Draw the time of every rate, and that of the online search as a line.
    """
    most = instance.choices.max_commits
    rates = range(1, most + 1, max(1, most // MOST_RATES))
    runs = [(c, simulate(instance, Rate(commits=c))) for c in rates]
    reached = [(c, float(run.time_s), run) for c, run in runs if run.converged]
    figure = go.Figure(
        go.Scatter(
            x=[c for c, _, _ in reached],
            y=[time for _, time, _ in reached],
            mode="lines+markers",
            line_color=BRIGHT[0],
            name="fixed rate",
            hovertext=[f"largest difference of commits: {run.max_spread}" for _, _, run in reached],
        )
    )
    online = simulate(instance, Adsp())
    if online.converged:
        figure.add_scatter(
            x=[rates[0], rates[-1]],
            y=[float(online.time_s)] * 2,
            mode="lines",
            line={"color": BRIGHT[1], "dash": "dash"},
            name="ADSP, searched online",
        )
    figure.update_layout(
        title={"text": "Time to the target against the rate"},
        template=TEMPLATE,
        legend=LEGEND_ABOVE,
        xaxis={"title": {"text": "commits of every worker in a check period"}},
        yaxis={"title": {"text": "time to the target, s"}},
    )
    return figure
