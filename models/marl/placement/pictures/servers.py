"""Servers with their occupants: a bar for every server, a part of it for every job."""

from __future__ import annotations

import itertools

import plotly.graph_objects as go

from gadgetopt.reporting.figures import BAR, INK, PALE, PALETTE, RED, TEMPLATE
from gadgetopt.system.declaring import picture

from ..evaluate import JobTime, job_times
from ..instance import PlacementInstance, PlacementSolution

#: Servers that are drawn; of more, those of the jobs that are slowed down most.
MOST_SERVERS = 48


@picture()
def draw(instance: PlacementInstance, solution: PlacementSolution) -> go.Figure:
    """Servers with their occupants, and where each job is slowed down most.

    Draw the jobs on every server, in the colour of their type.

    The placement is feasible. A job is framed on the server that slows it down most, if any does.
    """
    times = job_times(instance, solution)
    on_server: dict[int, list[tuple[int, int]]] = {s: [] for s in range(len(instance.servers))}
    for j, pairs in enumerate(solution.tasks):
        for s, n in pairs:
            on_server[s].append((j, n))
    order = _shown(instance, on_server, times)
    rows, starts, widths, colours, frames, texts, hovers = [], [], [], [], [], [], []
    for row, s in enumerate(order):
        start = 0.0
        for j, n in sorted(on_server[s], key=lambda on: (instance.jobs[on[0]].type, on[0])):
            job, time = instance.jobs[j], times[j]
            rows.append(row)
            starts.append(start)
            widths.append(n * job.gpus_per_task or 0.25)
            start += widths[-1]
            colours.append(PALETTE[job.type % len(PALETTE)])
            frames.append(RED if time.slowdown and time.bottleneck == s else PALE)
            texts.append(f"{j}" if n == 1 else f"{j} x{n}")
            hovers.append(_hover(instance, j, time))
    figure = go.Figure(
        go.Bar(
            **BAR,
            y=rows,
            base=starts,
            x=widths,
            marker={"color": colours, "line": {"color": frames, "width": 2}},
            text=texts,
            hovertext=hovers,
        )
    )
    _axes(figure, instance, order, times)
    return figure


def _shown(
    instance: PlacementInstance, on_server: dict[int, list[tuple[int, int]]], times: list[JobTime]
) -> list[int]:
    """Return the servers that are drawn, rack by rack."""
    servers = sorted(
        on_server,
        key=lambda s: -max((float(times[j].slowdown) for j, _ in on_server[s]), default=-1.0),
    )
    return sorted(servers[:MOST_SERVERS], key=lambda s: (instance.servers[s].rack, s))


def _hover(instance: PlacementInstance, j: int, time: JobTime) -> str:
    job = instance.jobs[j]
    name = f" {job.name}" if job.name else ""
    return (
        f"<b>job {j}{name}</b>, type {job.type}, {job.num_tasks} tasks<br>"
        f"slowed down by {float(time.slowdown):.0%} on server {time.bottleneck}<br>"
        f"{time.servers} servers, {time.racks} racks<br>"
        f"{float(time.iteration_s):.4g} s an iteration, {float(time.completion_s):.5g} s in all"
    )


def _axes(
    figure: go.Figure, instance: PlacementInstance, order: list[int], times: list[JobTime]
) -> None:
    mean_s = sum(float(t.completion_s) for t in times) / max(1, len(times))
    slowed = sum(t.slowdown > 0 for t in times)
    spread = sum(t.servers > 1 for t in times)
    for row, s in enumerate(order):
        gpus = instance.servers[s].gpus
        figure.add_shape(
            type="rect",
            x0=0,
            x1=gpus,
            y0=row - 0.45,
            y1=row + 0.45,
            line={"color": INK, "width": 1},
            layer="below",
        )
    for row, (s, following) in enumerate(itertools.pairwise(order)):
        if instance.servers[s].rack != instance.servers[following].rack:
            figure.add_hline(y=row + 0.5, line={"color": INK, "width": 1, "dash": "dot"})
    more = "" if len(order) == len(instance.servers) else f"; {len(order)} servers are drawn"
    figure.update_layout(
        title={
            "text": f"Mean completion time {mean_s:.5g} s, {len(times)} jobs on "
            f"{len(instance.servers)} servers",
            "subtitle": {
                "text": f"slowed down: {slowed} jobs, most of all where they are framed; "
                f"on several servers: {spread}{more}"
            },
        },
        barmode="overlay",
        template=TEMPLATE,
        height=170 + max(120, 26 * len(order)),
        xaxis={"title": {"text": "GPUs"}, "dtick": 1},
        yaxis={
            "range": [len(order) - 0.5, -0.5],
            "tickvals": list(range(len(order))),
            "ticktext": [f"rack {instance.servers[s].rack}, server {s}" for s in order],
            "showgrid": False,
        },
    )
