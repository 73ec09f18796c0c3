"""Picture of an iteration: backward, push, pull and forward of every layer, by overlap model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gadgetopt.errors import InputError
from gadgetopt.reporting.figures import (
    BAR,
    INK,
    PALETTE,
    TEMPLATE,
)
from gadgetopt.system.declaring import picture

from ..instance import SmdInstance
from ..iteration_time import Layer, Overlap

LANES = ("backward", "push", "pull", "forward")
_MODELS: tuple[Overlap, ...] = ("sequential", "wait_free", "priority")


class Bar(NamedTuple):
    """A stretch of time of a layer in a lane; layers count from 0, the input."""

    lane: str
    layer: int
    start_s: float
    end_s: float


@picture(name="iteration_timeline", of="instance")
def timeline(instance: SmdInstance) -> go.Figure:
    """An iteration of the first job with layers under the three overlap models.

    Raises
    ------
    InputError
        If no job has layers.
    """
    layered = [(i, job) for i, job in enumerate(instance.jobs) if job.layers]
    if not layered:
        raise InputError("jobs: none has layers, expected at least one job with layers to draw")
    i, job = layered[0]
    slice_s = job.slice_s
    drawn = {model: bars(job.layers, model, slice_s) for model in _MODELS}
    ends = {model: max(bar.end_s for bar in found) for model, found in drawn.items()}
    figure = make_subplots(
        rows=len(_MODELS),
        shared_xaxes=True,
        vertical_spacing=0.09,
        subplot_titles=[f"{model.replace('_', '-')}: {ends[model]:.4g} s" for model in _MODELS],
    )
    for row, model in enumerate(_MODELS, start=1):
        found = drawn[model]
        figure.add_trace(
            go.Bar(
                **BAR,
                y=[bar.lane for bar in found],
                base=[bar.start_s for bar in found],
                x=[bar.end_s - bar.start_s for bar in found],
                marker={
                    "color": [PALETTE[bar.layer % len(PALETTE)] for bar in found],
                    "line": {"color": INK, "width": 0.5},
                },
                text=[str(bar.layer + 1) for bar in found] if len(job.layers) <= 12 else None,
                hovertext=[
                    f"layer {bar.layer + 1}, {bar.lane}: {bar.start_s:.4g} to {bar.end_s:.4g} s"
                    for bar in found
                ],
            ),
            row=row,
            col=1,
        )
        figure.update_yaxes(
            categoryorder="array", categoryarray=list(reversed(LANES)), row=row, col=1
        )
    figure.update_xaxes(title={"text": "seconds"}, row=len(_MODELS), col=1)
    figure.update_layout(
        title={"text": f"Job {i}: an iteration of {len(job.layers)} layers, one colour a layer"},
        barmode="overlay",
        template=TEMPLATE,
        showlegend=False,
        height=640,
    )
    return figure


def bars(layers: Sequence[Layer], overlap: Overlap, slice_s: float = 0.0) -> list[Bar]:
    """Return the bars of one iteration of one sample.

    Sequential: one thing after the other. Wait-free: a layer is pushed once its gradient is there
    and pulled once it was pushed, in the order of the backward pass (Lemma 1). Priority: one link
    always carries the available layer nearest to the input, and pulls lag one slice behind
    (Lemma 2, corrected).
    """
    N = len(layers)
    out = []
    clock, ready = 0.0, [0.0] * N  # when the gradient of each layer is there
    for j in reversed(range(N)):
        out.append(Bar("backward", j, clock, clock + layers[j].bp_s))
        clock += layers[j].bp_s
        ready[j] = clock
    if overlap == "priority":
        pushes = _preemptive(layers, ready)
        pulls = [Bar("pull", j, a + slice_s, b + slice_s) for _, j, a, b in pushes]
    else:
        pushes, pulls = _in_order(layers, ready, wait=overlap == "sequential")
    arrived = [max((b.end_s for b in pulls if b.layer == j), default=0.0) for j in range(N)]
    clock = max(arrived) if overlap == "sequential" else 0.0
    for j in range(N):
        begin = max(clock, arrived[j])
        clock = begin + layers[j].fp_s
        out.append(Bar("forward", j, begin, clock))
    return [*out, *pushes, *pulls]


def _in_order(
    layers: Sequence[Layer], ready: Sequence[float], *, wait: bool
) -> tuple[list[Bar], list[Bar]]:
    """Push and pull layers N to 1; with `wait`, each phase starts after all of the one before."""
    order = list(reversed(range(len(layers))))
    pushes, pulls = [], []
    clock = max(ready) if wait else 0.0
    for j in order:
        begin = max(clock, ready[j])
        clock = begin + layers[j].comm_s
        pushes.append(Bar("push", j, begin, clock))
    pushed = {bar.layer: bar.end_s for bar in pushes}
    clock = clock if wait else 0.0
    for j in order:
        begin = max(clock, pushed[j])
        clock = begin + layers[j].comm_s
        pulls.append(Bar("pull", j, begin, clock))
    return pushes, pulls


def _preemptive(layers: Sequence[Layer], ready: Sequence[float]) -> list[Bar]:
    """Push the lowest available layer on one link that never idles."""
    rest = [layer.comm_s for layer in layers]
    # Layers become ready from the last to the first.
    events = sorted((time, j) for j, time in enumerate(ready))
    out, clock = [], 0.0
    for k, (time, _) in enumerate(events):
        clock = max(clock, time)
        until = events[k + 1][0] if k + 1 < len(events) else float("inf")
        for j in sorted(i for _, i in events[: k + 1]):
            carried = min(rest[j], until - clock)
            if carried > 0:
                out.append(Bar("push", j, clock, clock + carried))
                rest[j] -= carried
                clock += carried
    return out
