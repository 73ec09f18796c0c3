"""Picture of a decision: what admitted jobs reserve and use of every resource."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from gadgetopt.reporting.figures import (
    BAR,
    INK,
    PALE,
    PALETTE,
    TEMPLATE,
)
from gadgetopt.system.declaring import picture

from ..evaluate import completion_time_s, evaluate, utility
from ..instance import SmdInstance, SmdSolution

#: A part of a bar carries the name of its job from this many percent of the capacity on.
_WRITTEN_PERCENT = 3


@picture(name="cluster")
def plot(instance: SmdInstance, solution: SmdSolution) -> go.Figure:
    """What admitted jobs reserve and use.

    Draw what part of every capacity the admitted jobs reserve (pale) and use (full colour).

    If only use is charged, only use is drawn. A job has the same colour in all rows.
    """
    evaluation = evaluate(instance, solution)
    parts = _parts(instance, solution)
    admitted = sum(given.admit for given in solution.jobs)
    figure = go.Figure()
    for what, opacity in (("reserved", 0.35), ("used", 1.0)):
        figure.add_trace(
            go.Bar(
                **BAR,
                name=what,
                y=[part["resource"] for part in parts],
                base=[part["start"] for part in parts],
                x=[part[what] for part in parts],
                marker={
                    "color": [PALETTE[part["job"] % len(PALETTE)] for part in parts],
                    "opacity": opacity,
                    "line": {"color": PALE, "width": 1 if admitted <= 60 else 0},
                },
                text=[
                    f"{part['job']}" if part["used"] >= _WRITTEN_PERCENT else "" for part in parts
                ]
                if what == "used"
                else None,
                hovertext=[part["hover"] for part in parts],
            )
        )
    figure.add_vline(x=100, line={"color": INK, "width": 2, "dash": "dash"})
    total = float(evaluation.objective or 0)
    reserved = instance.charging == "reserved"
    figure.update_layout(
        title={
            "text": f"Utility {total:.6g} with {admitted} of {len(instance.jobs)} jobs",
            "subtitle": {
                "text": "pale: reserved, full: used by workers and servers; dashed: the capacity"
                if reserved
                else "used by workers and servers; dashed: the capacity"
            },
        },
        barmode="overlay",
        template=TEMPLATE,
        showlegend=False,
        height=170 + max(120, 60 * len(instance.resources)),
        xaxis={"title": {"text": "% of the capacity"}, "range": [0, 103]},
        yaxis={"categoryorder": "array", "categoryarray": list(reversed(instance.resources))},
    )
    return figure


def _parts(instance: SmdInstance, solution: SmdSolution) -> list[dict[str, Any]]:
    """Return the rectangles: resource, job, where it starts, and lengths in percent."""
    parts = []
    for r, (name, capacity) in enumerate(zip(instance.resources, instance.capacity, strict=True)):
        start = 0.0
        for i, (job, given) in enumerate(zip(instance.jobs, solution.jobs, strict=True)):
            if not given.admit or not capacity:
                continue
            w, p = given.num_workers, given.num_ps
            used = job.worker_demand[r] * w + job.ps_demand[r] * p
            limit = job.reservation_limit[r]
            charged = limit if instance.charging == "reserved" else used
            tau_s = completion_time_s(job, given)
            parts.append(
                {
                    "resource": name,
                    "job": i,
                    "start": start,
                    "reserved": 100 * charged / capacity,
                    "used": 100 * used / capacity,
                    "hover": f"<b>job {i}</b>: {w} workers, {p} servers<br>"
                    f"done after {tau_s:.4g} s, utility {utility(job, tau_s):.4g}<br>"
                    f"{name}: {used:g} of {limit:g} reserved",
                }
            )
            start += 100 * charged / capacity
    return parts
