"""Where each device is idle: before its first I, between, and after its last F."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.reporting.figures import BLUE, LEGEND_ABOVE, ORANGE, TEMPLATE, YELLOW
from gadgetopt.system.declaring import picture

from ..evaluate import idle_parts
from ..instance import PipelineSchedulesInstance, PipelineSchedulesSolution
from ..timing import timing_of

PARTS = (("warm-up", BLUE), ("middle", YELLOW), ("cool-down", ORANGE))


@picture()
def draw(instance: PipelineSchedulesInstance, solution: PipelineSchedulesSolution) -> go.Figure:
    """The idle share of each device: in warm-up, middle and cool-down.

    Warm-up ends with the device's first I, cool-down begins with its last F.
    """
    parts = idle_parts(instance, timing_of(instance, solution))
    names = [f"device {d}" for d in range(len(parts))]
    figure = go.Figure()
    for n, (name, colour) in enumerate(PARTS):
        figure.add_bar(
            x=names, y=[float(part[n]) for part in parts], name=name, marker={"color": colour}
        )
    mean = float(sum(map(sum, parts)) / len(parts))
    of = "step" if instance.objective == "makespan" else "period"
    figure.update_layout(
        title={"text": f"Devices are idle for {mean:.2%} of the {of}, on average"},
        barmode="stack",
        template=TEMPLATE,
        legend=LEGEND_ABOVE,
        yaxis={"title": {"text": f"idle share of the {of}"}, "tickformat": ".0%"},
    )
    return figure
