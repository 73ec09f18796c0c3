"""Iteration time against memory: the Pareto curve of the microbatches that a stage may hold."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from gadgetopt.reporting.figures import BRIGHT, INK, LEGEND_ABOVE, TEMPLATE
from gadgetopt.system.result import Limits

from ..algorithms.spp import spp
from ..evaluate import evaluate, memory_bytes
from ..instance import SppInstance, SppSolution


def draw(instance: SppInstance) -> go.Figure:
    """Draw SPP's iteration time for 1, 2, 3, 4, 6, 8, ... microbatches in flight on a stage.

    The memory is that of the stage that needs most, on each of its GPUs.
    """
    points = []
    for cap in caps(instance.num_microbatches):
        options = instance.options.model_copy(update={"max_in_flight": cap})
        limited = instance.model_copy(update={"options": options})
        solution = spp(limited, Limits(), np.random.default_rng(0)).solution
        if isinstance(solution, SppSolution):
            time_s = float(evaluate(limited, solution).objective or 0)
            points.append((_largest_bytes(limited, solution) / 1e9, time_s, cap))
    figure = go.Figure()
    front = pareto(points)
    figure.add_scatter(
        x=[x for x, _, _ in points],
        y=[y for _, y, _ in points],
        mode="markers+text",
        text=[str(cap) for _, _, cap in points],
        textposition="top right",
        textfont={"color": INK},
        marker={"color": BRIGHT[4], "size": 9},
        name="SPP, by microbatches in flight",
    )
    figure.add_scatter(
        x=[x for x, _, _ in front],
        y=[y for _, y, _ in front],
        mode="lines",
        line={"color": BRIGHT[0], "shape": "hv"},
        name="not dominated",
    )
    figure.update_layout(
        title={
            "text": "Iteration time against memory",
            "subtitle": {"text": "numbers: microbatches that a stage may hold; plans by SPP"},
        },
        template=TEMPLATE,
        legend=LEGEND_ABOVE,
        xaxis={"title": {"text": "memory of the fullest GPU, GB"}, "rangemode": "tozero"},
        yaxis={"title": {"text": "iteration time, s"}, "rangemode": "tozero"},
    )
    return figure


def caps(microbatches: int) -> list[int]:
    """Return 1, 2, 3, 4, 6, 8, 12, ... up to a number of microbatches, and that."""
    powers = (2**k for k in range(microbatches.bit_length() + 1))
    steps = {x for power in powers for x in (power, power * 3 // 2)}
    return sorted({x for x in steps if 1 <= x < microbatches} | {microbatches})


def pareto(points: list[tuple[float, float, int]]) -> list[tuple[float, float, int]]:
    """Return the points of which no other has less memory and less time, by memory."""
    front: list[tuple[float, float, int]] = []
    for point in sorted(points):
        if not front or point[1] < front[-1][1]:
            front.append(point)
    return front


def _largest_bytes(instance: SppInstance, solution: SppSolution) -> float:
    peaks = [max(np.cumsum(np.sign(order))) for order in solution.orders[::2]]
    return max(
        float(memory_bytes(instance, solution, n, int(peak))) for n, peak in enumerate(peaks)
    )
