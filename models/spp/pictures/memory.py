"""Iteration time against memory: SPP's plans under less and less memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from gadgetopt.reporting.figures import BRIGHT, INK, TEMPLATE
from gadgetopt.system.declaring import picture
from gadgetopt.system.result import Limits

from ..algorithms.spp import spp
from ..evaluate import evaluate, memory_bytes
from ..instance import SppInstance, SppSolution

#: Each point has at most this part of the memory of the one before; points at most.
_LESS, MOST_POINTS = 0.95, 16


class Point(NamedTuple):
    """An iteration of SPP: memory of the fullest GPU, time, stages, most microbatches in flight."""

    memory_bytes: float
    time_s: float
    stages: int
    in_flight: int


@picture(of="instance")
def draw(instance: SppInstance) -> go.Figure:
    """Iteration time of SPP against the memory of a GPU.

    Draw the iteration time of SPP's plans, each with a twentieth less memory than the last.
    """
    points = front(under_less_memory(instance))
    figure = go.Figure(
        go.Scatter(
            x=[p.memory_bytes / 1e9 for p in points],
            y=[p.time_s for p in points],
            mode="lines+markers+text",
            text=[f"{p.stages} stages, {p.in_flight}" for p in points],
            textposition="top right",
            textfont={"color": INK},
            line={"color": BRIGHT[0], "shape": "hv"},
            marker={"size": 8},
            cliponaxis=False,
        )
    )
    figure.update_layout(
        title={
            "text": "Iteration time against memory",
            "subtitle": {
                "text": "SPP under memory limits: stages, and most microbatches in flight on one"
            },
        },
        template=TEMPLATE,
        height=480,
        xaxis={"title": {"text": "memory of the fullest GPU, GB"}},
        yaxis={"title": {"text": "iteration time, s"}, "rangemode": "tozero"},
    )
    return figure


def under_less_memory(instance: SppInstance) -> list[Point]:
    """Return SPP's iterations under the instance's memory, and then under less and less."""
    points: list[Point] = []
    limited = instance
    while len(points) < MOST_POINTS:
        solution = spp(limited, Limits()).solution
        if not isinstance(solution, SppSolution):
            break
        found = evaluate(limited, solution)
        peaks = [int(np.cumsum(np.sign(order)).max()) for order in solution.orders[::2]]
        memory = max(memory_bytes(limited, solution, n, peak) for n, peak in enumerate(peaks))
        points.append(Point(float(memory), float(found.objective or 0), len(peaks), max(peaks)))
        less = float(memory) * _LESS
        if less <= 0:
            break
        options = limited.options.model_copy(update={"memory_bytes": less})
        limited = limited.model_copy(update={"options": options})
    return points


def front(points: list[Point]) -> list[Point]:
    """Return the points of which no other has less memory and less time, by memory."""
    kept: list[Point] = []
    for point in sorted(points):
        if not kept or point.time_s < kept[-1].time_s:
            kept.append(point)
    return kept
