"""The Gantt chart of a step: F, I and W in three colours, copies and AllReduces beside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import plotly.graph_objects as go

from gadgetopt.reporting.figures import (
    BAR,
    BLUE,
    CYAN,
    INK,
    LEGEND_ABOVE,
    MINT,
    ORANGE,
    PALE,
    PINK,
    TEMPLATE,
    YELLOW,
    mixed,
)
from gadgetopt.system.declaring import picture

from ..cells import read_cell
from ..evaluate import window
from ..instance import PipelineSchedulesInstance, PipelineSchedulesSolution
from ..timing import timing_of

KINDS = {
    "F": ("forward", BLUE),
    "I": ("gradient of the input", MINT),
    "W": ("gradient of the weights", YELLOW),
    "R": ("recomputation", PINK),
    "pair": ("forward and backward together", ORANGE),
    "B": ("backward", MINT),
    "A": ("AllReduce", CYAN),
}

#: More cells than this have no labels.
MOST_MARKED = 400


class Bar(NamedTuple):
    """A step of a device: what it is, its label, its chunk, and when."""

    device: int
    kind: str
    label: str
    chunk: int
    begin_s: float
    length_s: float


@picture()
def draw(instance: PipelineSchedulesInstance, solution: PipelineSchedulesSolution) -> go.Figure:
    """What each device executes over time, F, I and W apart.

    Later chunks of a device are darker. Of a period, each device's step is shown as it repeats.
    """
    whole, _ = window(instance, timing_of(instance, solution))
    whole_s = float(whole / instance.ticks_per_s)
    bars = list(_bars(instance, solution))
    many = len(bars) > MOST_MARKED
    names = [f"device {d}" for d in range(instance.num_devices)]
    figure = go.Figure()
    for kind, (name, colour) in KINDS.items():
        mine = [bar for bar in bars if bar.kind == kind]
        if not mine:
            continue
        figure.add_bar(
            **{**BAR, "textfont": {"size": 10, "color": INK}},
            name=name,
            y=[names[bar.device] for bar in mine],
            base=[bar.begin_s for bar in mine],
            x=[bar.length_s for bar in mine],
            text=["" if many else bar.label for bar in mine],
            hovertext=[
                f"<b>{name}, microbatch {bar.label}</b><br>{names[bar.device]}, chunk {bar.chunk}"
                f"<br>{bar.begin_s:.6g} to {bar.begin_s + bar.length_s:.6g} s"
                for bar in mine
            ],
            marker={
                "color": [mixed(colour, INK, min(0.4, 0.2 * bar.chunk)) for bar in mine],
                "line": {"color": PALE, "width": 0 if many else 0.5},
            },
        )
    what = "Makespan" if instance.objective == "makespan" else "Period"
    M = sum(route.num_microbatches for route in instance.routes)
    figure.update_layout(
        title={
            "text": f"{what} of {whole_s:.6g} s: {instance.num_devices} devices, {M} microbatches",
            "subtitle": {"text": "numbers are microbatches; darker: later chunks of a device"},
        },
        barmode="overlay",
        template=TEMPLATE,
        legend=LEGEND_ABOVE,
        xaxis={"title": {"text": "s"}},
        yaxis={"categoryorder": "array", "categoryarray": names[::-1]},
        height=max(300, 170 + 34 * len(names)),
    )
    return figure


def _bars(
    instance: PipelineSchedulesInstance, solution: PipelineSchedulesSolution
) -> Iterator[Bar]:
    timing = timing_of(instance, solution)
    program, tick = timing.program, 1 / instance.ticks_per_s
    _, starts = window(instance, timing)
    chunks = {s: n for mine in instance.stages_of_device for n, s in enumerate(mine)}
    for d, steps in enumerate((*program.devices,)):
        for step in (*steps, *program.allreduces[d]):
            name, length = program.names[step], program.durations[step]
            if not length:
                continue
            begin_s, length_s = float(starts[step] * tick), length * tick
            try:
                cell = read_cell(name)
            except ValueError:  # an AllReduce has no cell
                yield Bar(d, "A", "", 0, begin_s, length_s)
                continue
            kind = "pair" if len(cell) == 2 else cell[0].kind
            label = " ".join(str(op.microbatch) for op in cell)
            yield Bar(d, kind, label, chunks[cell[0].stage], begin_s, length_s)
