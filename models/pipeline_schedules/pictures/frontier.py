"""The optimum over memory, with the published schedules as marks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gadgetopt.errors import ModelRefused
from gadgetopt.reporting.figures import BLUE, INK, LEGEND_ABOVE, TEMPLATE
from gadgetopt.system.declaring import picture
from gadgetopt.system.result import Limits, MethodOutcome

from ..baselines.automatic import zb_auto, zbv_greedy
from ..baselines.building_blocks import v_half, v_min
from ..baselines.dual_pipe import dual_pipe, dual_pipe_v
from ..baselines.interleaved import interleaved, zb1p
from ..baselines.one_f_one_b import gpipe, one_f_one_b
from ..baselines.waves import chimera, hanayo
from ..baselines.zbv import zbv
from ..baselines.zero_bubble import zb_h1, zb_h2
from ..evaluate import evaluate, memory_levels
from ..instance import PipelineSchedulesInstance
from ..proving.exact.close_gap import close_gap

#: Names of published schedules; the automatic ones use the memory that they are given.
PUBLISHED: dict[str, Callable[[PipelineSchedulesInstance], MethodOutcome]] = {
    "GPipe": gpipe,
    "1F1B": one_f_one_b,
    "interleaved": interleaved,
    "ZB-H1": zb_h1,
    "ZB-H2": zb_h2,
    "ZB1P": zb1p,
    "ZBV": zbv,
    "V-Min": v_min,
    "V-Half": v_half,
    "DualPipe": dual_pipe,
    "DualPipeV": dual_pipe_v,
    "Chimera": chimera,
    "Hanayo": hanayo,
    "zb_auto": zb_auto,
    "zbv_greedy": zbv_greedy,
}

#: Amounts of memory at which the optimum is asked for, at most.
POINTS = 12

#: Seconds of a point.
POINT_S = 2.0


@picture(of="instance")
def draw(instance: PipelineSchedulesInstance) -> go.Figure:
    """The optimum for each amount of memory, and where the published schedules lie.

    Memory is that of the device that holds most, in microbatches of all its stages.
    """
    unlimited = instance.model_copy(update={"memory_bytes": None})
    held = _bytes_of_a_microbatch(instance)
    marks = {name: _mark(method, unlimited, held) for name, method in PUBLISHED.items()}
    kept = {name: mark for name, mark in marks.items() if mark is not None}
    most = max((memory for memory, _ in kept.values()), default=Fraction(instance.num_devices))
    counts = _counts(instance, most)
    outcomes = [_at(unlimited, held, count, kept.values()) for count in counts]
    figure = go.Figure()
    for name, line, values in (
        ("best schedule", {"color": BLUE, "width": 2}, [found for found, _ in outcomes]),
        ("no schedule is shorter", {"color": INK, "dash": "dash"}, [low for _, low in outcomes]),
    ):
        figure.add_scatter(
            x=[float(count) for count in counts],
            y=values,
            mode="lines",
            line={**line, "shape": "hv"},
            name=name,
        )
    named = _named(kept)
    figure.add_scatter(
        x=[float(memory) for memory, _ in named],
        y=[float(value) for _, value in named],
        mode="markers+text",
        text=[name for name, _ in named.values()],
        textposition=[place for _, place in named.values()],
        marker={"color": INK, "size": 9, "symbol": "diamond"},
        name="published",
    )
    figure.update_layout(
        title={
            "text": f"The {instance.objective} against memory",
            "subtitle": {"text": f"best schedule and proved bound within {POINT_S:g} s a point"},
        },
        template=TEMPLATE,
        legend=LEGEND_ABOVE,
        xaxis={"title": {"text": "memory, in microbatches of a whole device"}},
        yaxis={"title": {"text": f"{instance.objective}, s"}, "type": "log"},
    )
    return figure


def _named(
    marks: Mapping[str, tuple[Fraction, Any]],
) -> dict[tuple[Fraction, Any], tuple[str, str]]:
    """Return the names at each mark, and where they stand: one above another they keep apart."""
    names: dict[tuple[Fraction, Any], list[str]] = {}
    for name, mark in marks.items():
        names.setdefault(mark, []).append(name)
    found = {}
    for mark, mine in names.items():
        values = sorted(value for memory, value in names if memory == mark[0])
        highest, lowest = mark[1] == values[-1], mark[1] == values[0]
        place = "top center" if highest else "bottom center" if lowest else "middle right"
        found[mark] = ", ".join(mine), place
    return found


def _bytes_of_a_microbatch(instance: PipelineSchedulesInstance) -> list[Fraction]:
    """Return what a microbatch takes on all stages of each device together."""
    return [
        sum((instance.stages[s].act_bytes for s in mine), Fraction(0))
        for mine in instance.stages_of_device
    ]


def _counts(instance: PipelineSchedulesInstance, most: Fraction) -> list[Fraction]:
    """Return from one microbatch to the most memory that a schedule takes, in steps of a stage."""
    step = Fraction(1, max(map(len, instance.stages_of_device)))
    steps = max(1, -(-(most - 1) // step))
    wide = -(-steps // (POINTS - 1))
    return [1 + step * n for n in range(0, int(steps) + int(wide), int(wide))]


def _mark(
    method: Callable[[PipelineSchedulesInstance], MethodOutcome],
    instance: PipelineSchedulesInstance,
    held: Sequence[Fraction],
) -> tuple[Fraction, Any] | None:
    """Return memory and value of a published schedule, None if it is not for such stages."""
    try:
        solution = method(instance).solution
    except ModelRefused:
        return None
    levels = memory_levels(instance, solution)  # type: ignore[arg-type]
    peaks = [max(level) / each for level, each in zip(levels, held, strict=True) if each]
    value = evaluate(instance, solution).objective  # type: ignore[arg-type]
    return max(peaks, default=Fraction(0)), value


def _at(
    instance: PipelineSchedulesInstance,
    held: Sequence[Fraction],
    count: Fraction,
    marks: Iterable[tuple[Fraction, Any]],
) -> tuple[float | None, float | None]:
    """Return the best value and bound with memory for so many microbatches."""
    limited = instance.model_copy(update={"memory_bytes": tuple(count * each for each in held)})
    outcome = close_gap(limited, Limits(time_s=POINT_S), np.random.default_rng(0))
    values = [value for memory, value in marks if memory <= count]
    if outcome.solution is not None:
        values.append(evaluate(limited, outcome.solution).objective)  # type: ignore[arg-type]
    low = outcome.dual_bound
    return min(map(float, values), default=None), None if low is None else float(low)
