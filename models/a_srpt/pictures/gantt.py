"""Gantt chart of a schedule: a row per GPU, a bar per job; beside it, the virtual machine.

The hue is the job. A dark outline marks a job that is on several servers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gadgetopt.pieces.gangs import assigned_gpus, runs
from gadgetopt.reporting.figures import BAR, INK, PALETTE, TEMPLATE
from gadgetopt.system.declaring import picture

from ..algorithms.virtual_machine import virtual_run
from ..evaluate import duration_ticks, iteration_time
from ..instance import ASrptInstance, ASrptSolution
from ..subproblems.mapper import Mapper

#: Up to this many GPUs each has a label; beyond, each server has one.
_LABELLED_GPUS = 32

#: Jobs drawn; of more, the first ones to start.
MOST_JOBS = 3000

#: A job is named on its largest bar if that takes this part of the time drawn.
_NAMED_SHARE = 0.015


@picture()
def gantt(instance: ASrptInstance, solution: ASrptSolution) -> go.Figure:
    """The GPUs of each server over time.

    Draw a feasible schedule: the jobs on the GPUs of each server, over ticks.
    """
    figure = go.Figure(_bars(instance, solution))
    figure.update_layout(
        title=_title(instance, solution),
        template=TEMPLATE,
        barmode="overlay",
        bargap=0,
        height=170 + _height(instance),
        xaxis={"title": {"text": "tick"}, "zeroline": False},
        yaxis=_gpu_axis(instance),
    )
    _between_servers(figure, instance)
    return figure


@picture()
def beside_virtual(instance: ASrptInstance, solution: ASrptSolution) -> go.Figure:
    """The schedule below the virtual machine that guides A-SRPT."""
    mapper = Mapper(instance, "heavy_edge")
    work = [
        int(gpus) * instance.ticks(j, mapper.on_empty_cluster(instance.jobs[j].job_type))
        for j, gpus in enumerate(instance.gpus)
    ]
    step = instance.total_gpus
    completion, pieces = virtual_run([int(r) * step for r in instance.release_ticks], work)
    shown = {scheduled.job for scheduled in _shown(solution)}
    pieces = [piece for piece in pieces if piece[2] in shown]
    figure = make_subplots(
        rows=2,
        shared_xaxes=True,
        vertical_spacing=0.06,
        row_heights=[60, _height(instance)],
    )
    ends = max((end for _, end, _ in pieces), default=0)
    figure.add_trace(
        go.Bar(
            **BAR,
            y=[0] * len(pieces),
            base=[start / step for start, _, _ in pieces],
            x=[(end - start) / step for start, end, _ in pieces],
            marker={"color": [_colour(j) for *_, j in pieces], "line": {"width": 0}},
            text=[str(j) if end - start >= _NAMED_SHARE * ends else "" for start, end, j in pieces],
            hovertext=[
                f"<b>job {j}</b> on the virtual machine<br>it completes there at tick "
                f"{completion[j] / step:g}"
                for *_, j in pieces
            ],
            showlegend=False,
        ),
        row=1,
        col=1,
    )
    figure.add_trace(_bars(instance, solution), row=2, col=1)
    figure.update_layout(
        title=_title(instance, solution),
        template=TEMPLATE,
        barmode="overlay",
        bargap=0,
        height=270 + _height(instance),
        yaxis={"tickvals": [0], "ticktext": ["virtual machine"], "showgrid": False},
        xaxis2={"title": {"text": "tick"}, "zeroline": False},
        yaxis2=_gpu_axis(instance),
    )
    return figure


def _shown(solution: ASrptSolution) -> Sequence[Any]:
    return sorted(solution.jobs, key=lambda job: (job.start_microtick, job.job))[:MOST_JOBS]


def _bars(instance: ASrptInstance, solution: ASrptSolution) -> go.Bar:
    """Return the rectangles of the jobs, as high as their GPUs."""
    step, first_row = instance.total_gpus, _first_rows(instance)
    jobs = _shown(solution)
    starts, ends, held = [], [], []
    for scheduled in jobs:
        job = instance.jobs[scheduled.job]
        stages = tuple(dict(pairs) for pairs in scheduled.placement)
        seconds = iteration_time(instance, instance.job_types[job.job_type], stages)
        starts.append(scheduled.start_microtick)
        ticks = duration_ticks(instance, job.num_iterations * seconds)
        ends.append(scheduled.start_microtick + step * ticks)
        on: dict[int, int] = {}
        blocks = instance.job_types[job.job_type].block_of_stage
        for block, servers in zip(blocks, stages, strict=True):
            for m, x in servers.items():
                on[m] = on.get(m, 0) + block * x
        held.append(on)
    ids = assigned_gpus(instance.gpus_per_server, starts, ends, held)
    makespan = max(ends)
    y, height, base, length, colour, line, text, hover = ([] for _ in range(8))
    for k, scheduled in enumerate(jobs):
        j, spread = scheduled.job, len(ids[k]) > 1
        blocks = [(m, run) for m, numbers in ids[k].items() for run in runs(sorted(numbers))]
        largest = max(range(len(blocks)), key=lambda b: len(blocks[b][1]))
        named = ends[k] - starts[k] >= _NAMED_SHARE * makespan
        where = ", ".join(f"{x} on server {m}" for m, x in sorted(held[k].items()))
        name = instance.job_types[instance.jobs[j].job_type].name
        for b, (m, run) in enumerate(blocks):
            y.append(first_row[m] + run[0] + (len(run) - 1) / 2)
            height.append(len(run))
            base.append(starts[k] / step)
            length.append((ends[k] - starts[k]) / step)
            colour.append(_colour(j))
            line.append(1.5 if spread else 0)
            text.append(str(j) if named and b == largest else "")
            hover.append(
                f"<b>job {j}</b> {name}<br>released at tick {instance.release_ticks[j]}<br>"
                f"runs from {starts[k] / step:g} to {ends[k] / step:g}<br>GPUs: {where}"
            )
    return go.Bar(
        **BAR,
        y=y,
        width=height,
        base=base,
        x=length,
        marker={"color": colour, "line": {"color": INK, "width": line}},
        text=text,
        hovertext=hover,
        showlegend=False,
    )


def _colour(job: int) -> str:
    return PALETTE[job % len(PALETTE)]


def _height(instance: ASrptInstance) -> int:
    few = instance.total_gpus <= _LABELLED_GPUS
    return max(140, 26 * instance.total_gpus) if few else min(1200, 4 * instance.total_gpus)


def _first_rows(instance: ASrptInstance) -> list[int]:
    return [0, *np.cumsum(instance.gpus_per_server)[:-1].tolist()]


def _gpu_axis(instance: ASrptInstance) -> dict[str, Any]:
    rows, total = _first_rows(instance), instance.total_gpus
    few = total <= _LABELLED_GPUS
    ticks: list[float] = []
    names: list[str] = []
    for m, (row, gpus) in enumerate(zip(rows, instance.gpus_per_server, strict=True)):
        ticks += range(row, row + gpus) if few else [row + (gpus - 1) / 2]
        names += [f"server {m}, GPU {g}" for g in range(gpus)] if few else [f"server {m}"]
    return {
        "range": [total - 0.5, -0.5],
        "tickvals": ticks,
        "ticktext": names,
        "showgrid": False,
        "zeroline": False,
    }


def _between_servers(figure: go.Figure, instance: ASrptInstance) -> None:
    for row in _first_rows(instance)[1:]:
        figure.add_hline(y=row - 0.5, line={"color": INK, "width": 1}, layer="above")


def _title(instance: ASrptInstance, solution: ASrptSolution) -> dict[str, Any]:
    left_out = len(solution.jobs) - min(len(solution.jobs), MOST_JOBS)
    more = f"; the first {MOST_JOBS} to start" if left_out else ""
    return {
        "text": f"{len(instance.jobs)} jobs on {instance.num_servers} servers",
        "subtitle": {"text": f"outlined: on several servers{more}"},
    }
