"""A plan in slots: a row for every server, a bar for every job that runs there."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.reporting.figures import BAR, PALE, PALETTE, TEMPLATE
from gadgetopt.system.declaring import picture

from ..evaluate import evaluate
from ..instance import QueueingInstance, QueueingSolution

#: Servers that are drawn.
MOST_SERVERS = 48


@picture()
def draw(instance: QueueingInstance, solution: QueueingSolution) -> go.Figure:
    """When and where each job runs, slot by slot.

    Draw when and where each job runs; jobs on one server share its row.

    The plan is feasible.
    """
    mean_s = float(evaluate(instance, solution).objective or 0)
    slot_s = float(instance.slot_s)
    # Slot, server, job, tasks.
    bars: list[tuple[int, int, int, int]] = []
    rows, heights = [], []
    for k, running in enumerate(solution.slots):
        on_server: dict[int, list[tuple[int, int]]] = {}
        for r in running:
            for s, n in r.tasks:
                on_server.setdefault(s, []).append((r.job, n))
        for s, here in on_server.items():
            if s >= MOST_SERVERS:
                continue
            height = 0.9 / len(here)
            for place, (j, n) in enumerate(sorted(here)):
                bars.append((k, s, j, n))
                rows.append(s - 0.45 + (place + 0.5) * height)
                heights.append(height)
    figure = go.Figure(
        go.Bar(
            **BAR,
            y=rows,
            width=heights,
            base=[k * slot_s for k, *_ in bars],
            x=[slot_s] * len(bars),
            marker={
                "color": [PALETTE[j % len(PALETTE)] for _, _, j, _ in bars],
                "line": {"color": PALE, "width": 1},
            },
            text=[f"{j}" if n == 1 else f"{j} x{n}" for _, _, j, n in bars],
            hovertext=[
                f"<b>job {j}</b>, type {instance.jobs[j].type}<br>{n} tasks in slot {k}"
                for k, _, j, n in bars
            ],
        )
    )
    shown = min(MOST_SERVERS, len(instance.servers))
    figure.update_layout(
        title={
            "text": f"Mean completion time {mean_s:.5g} s, {len(instance.jobs)} jobs on "
            f"{len(instance.servers)} servers",
            "subtitle": {"text": f"slots of {slot_s:g} s, one colour a job"},
        },
        barmode="overlay",
        template=TEMPLATE,
        height=170 + max(120, 50 * shown),
        xaxis={"title": {"text": "time, s"}, "dtick": slot_s if len(solution.slots) < 30 else None},
        yaxis={
            "range": [shown - 0.5, -0.5],
            "tickvals": list(range(shown)),
            "ticktext": [f"rack {instance.servers[s].rack}, server {s}" for s in range(shown)],
            "showgrid": False,
        },
    )
    return figure
