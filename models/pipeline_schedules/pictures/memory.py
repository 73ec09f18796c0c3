"""What the activations of each device take over time, beside its memory."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.reporting.figures import BRIGHT, INK, LEGEND_ABOVE, TEMPLATE
from gadgetopt.system.declaring import picture

from ..evaluate import memory_levels, window
from ..instance import PipelineSchedulesInstance, PipelineSchedulesSolution
from ..timing import timing_of


@picture()
def draw(instance: PipelineSchedulesInstance, solution: PipelineSchedulesSolution) -> go.Figure:
    """Activations of each device over time, and its memory.

    A device's curve is what it holds while it executes a cell.
    """
    timing = timing_of(instance, solution)
    _, starts = window(instance, timing)
    tick = 1 / instance.ticks_per_s
    figure = go.Figure()
    levels = memory_levels(instance, solution)
    for d, (held, cells) in enumerate(
        zip(levels, _steps_of_cells(instance, solution), strict=True)
    ):
        figure.add_scatter(
            x=[float(starts[step] * tick) for step in cells],
            y=[float(level) for level in held],
            mode="lines",
            line={"color": BRIGHT[d % len(BRIGHT)], "shape": "hv"},
            name=f"device {d}",
        )
    for capacity in sorted(set(instance.memory_bytes or ())):
        figure.add_hline(y=float(capacity), line={"color": INK, "width": 2, "dash": "dash"})
    figure.update_layout(
        title={
            "text": f"Largest of all: {float(max(map(max, levels))):.6g} bytes",
            "subtitle": {"text": "dashed: memory of a device" if instance.memory_bytes else ""},
        },
        template=TEMPLATE,
        legend=LEGEND_ABOVE,
        xaxis={"title": {"text": "s"}},
        yaxis={"title": {"text": "bytes of activations"}, "rangemode": "tozero"},
    )
    return figure


def _steps_of_cells(
    instance: PipelineSchedulesInstance, solution: PipelineSchedulesSolution
) -> list[list[int]]:
    """Return the first step of each device's cells: a cell B that is I and then W has two."""
    found = []
    devices = timing_of(instance, solution).program.devices
    for cells, steps in zip(solution.cells, devices, strict=True):
        left, firsts = iter(steps), []
        for cell in cells:
            firsts.append(next(left))
            op = cell[0]
            fused = instance.stages[op.stage].fused_saving_s is not None
            if len(cell) == 1 and op.kind == "B" and not fused:
                next(left)
        found.append(firsts)
    return found
