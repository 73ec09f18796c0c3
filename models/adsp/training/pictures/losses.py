"""Loss over time under ADSP and what it was compared with."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.reporting.figures import BRIGHT, INK, LEGEND_ABOVE, TEMPLATE
from gadgetopt.system.declaring import picture

from ..instance import AdspTrainingInstance
from ..simulator import simulate
from ..tasks import target_loss, task_of
from .named import compared, name_of

#: Points of a curve.
_POINTS = 1000


@picture(of="instance")
def draw(instance: AdspTrainingInstance) -> go.Figure:
    """Loss over time under ADSP and what it was compared with.

    Draw the loss of each policy until it has converged.
    """
    task = task_of(instance)
    first = task.loss(task.start)
    figure = go.Figure()
    for policy, colour in zip(compared(instance), BRIGHT, strict=False):
        run = simulate(instance, policy)
        points = run.losses[:: max(1, len(run.losses) // _POINTS)]
        points += run.losses[-1:]
        figure.add_scatter(
            x=[0.0, *(tick / run.unit for tick, _ in points)],
            y=[first, *(loss for _, loss in points)],
            name=name_of(policy),
            mode="lines",
            line_color=colour,
        )
    figure.add_hline(y=target_loss(instance), line={"color": INK, "dash": "dash"})
    figure.update_layout(
        title={"text": "Loss over time", "subtitle": {"text": "dashed: the target"}},
        template=TEMPLATE,
        legend=LEGEND_ABOVE,
        xaxis={"title": {"text": "time, s"}},
        yaxis={"title": {"text": "loss"}, "type": "log"},
    )
    return figure
