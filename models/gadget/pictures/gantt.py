"""Gantt chart of ring sizes: a row per job, a bar per run of slots with equal rings.

The larger the ring, the higher the bar. The colour shows if a ring stays on one server, stays in
one rack or spans racks.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from itertools import groupby

import plotly.graph_objects as go

from gadgetopt.reporting.figures import (
    BAR,
    INK,
    LEGEND_ABOVE,
    RED,
    TEMPLATE,
)
from gadgetopt.system.declaring import picture

from ..evaluate import evaluate, utility, worker_slots
from ..instance import (
    GadgetInstance,
    GadgetSolution,
    Ring,
    TwoTier,
)

#: Reach of a ring, with its colour.
REACH = (
    ("on one server", "#99ddff"),
    ("over servers of one rack", "#eedd88"),
    ("over racks", "#ee8866"),
    ("over several servers", "#eedd88"),
)

#: Up to this many integers, an axis has a tick for each.
FEW_TICKS = 20

#: Up to this many jobs, bars are labelled with the ring size.
_WRITTEN_JOBS = 40
#: Height of the smallest bar, and extra height of the largest, as shares of a row.
_ANYWAY, _BEYOND = 0.3, 0.6


@dataclass(frozen=True)
class Bar:
    """Slots `start` to `end`, in which a job has rings of equal size and reach."""

    job: int
    start: int
    end: int
    size: int
    reach: int


def bars(instance: GadgetInstance, solution: GadgetSolution) -> list[Bar]:
    """Return the bars of the picture, by job and then by time."""
    found: list[Bar] = []
    rings = sorted(solution.rings, key=lambda ring: (ring.job, ring.slot))
    for job, of_job in groupby(rings, key=lambda ring: ring.job):
        for ring in of_job:
            size, far = len(ring.servers), reach(instance, ring)
            last = found[-1] if found and found[-1].job == job else None
            if last and (last.end, last.size, last.reach) == (ring.slot - 1, size, far):
                found[-1] = Bar(job, last.start, ring.slot, size, far)
            else:
                found.append(Bar(job, ring.slot, ring.slot, size, far))
    return found


def reach(instance: GadgetInstance, ring: Ring) -> int:
    """Return the reach of a ring, as a position in `REACH`."""
    used = set(ring.servers)
    if len(used) == 1:
        return 0
    cluster = instance.substrate
    if not isinstance(cluster, TwoTier):
        return 3
    return 1 if len({cluster.servers[s].rack for s in used}) == 1 else 2


@picture(name="gantt")
def plot(instance: GadgetInstance, solution: GadgetSolution) -> go.Figure:
    """Ring sizes of all jobs over the slots."""
    evaluation = evaluate(instance, solution)
    jobs, T = len(instance.jobs), instance.horizon_slots
    few = jobs <= _WRITTEN_JOBS
    drawn = bars(instance, solution)
    largest = max((bar.size for bar in drawn), default=1)
    about = _about(instance, solution)
    order = sorted(range(jobs), key=lambda i: (instance.jobs[i].arrival_slot, i))
    row = {i: k for k, i in enumerate(order)}
    figure = go.Figure()
    for far, (name, colour) in enumerate(REACH):
        here = [bar for bar in drawn if bar.reach == far]
        if not here:
            continue
        figure.add_bar(
            **{**BAR, "textfont": {"color": INK, "size": 11}},
            name=name,
            base=[bar.start - 0.5 for bar in here],
            x=[bar.end - bar.start + 1 for bar in here],
            y=[row[bar.job] for bar in here],
            width=[_ANYWAY + _BEYOND * bar.size / largest for bar in here],
            marker={"color": colour, "line": {"color": INK, "width": 0.6 if few else 0.2}},
            text=[str(bar.size) for bar in here] if few else None,
            constraintext="none",
            hovertext=[
                f"{about[bar.job]}<br>slots {bar.start} to {bar.end}: {bar.size} workers, {name}"
                for bar in here
            ],
        )
    figure.add_scatter(
        x=[instance.jobs[i].arrival_slot - 0.5 for i in order],
        y=list(range(jobs)),
        mode="markers",
        marker={"symbol": "line-ns", "size": 14 if few else 5, "line": {"color": RED, "width": 2}},
        hovertext=[f"{about[i]}<br>arrives in slot {instance.jobs[i].arrival_slot}" for i in order],
        hoverinfo="text",
        name="arrival",
    )
    total = float(evaluation.objective or 0)
    size = f"{jobs} job{'s' * (jobs > 1)} in {T} slot{'s' * (T > 1)}"
    figure.update_layout(
        title={
            "text": f"Utility {total:.6g} of {size}",
            "subtitle": {"text": f"the more workers, up to {largest}, the higher the bar"},
        },
        barmode="overlay",
        bargap=0,
        template=TEMPLATE,
        height=190 + (max(120, 30 * jobs) if few else min(1_400, max(700, 6 * jobs))),
        legend=LEGEND_ABOVE,
        margin={"t": 120},
        xaxis={
            "title": {"text": "slot"},
            "range": [0.4, T + 0.6],
            "dtick": 1 if T <= FEW_TICKS else None,
            "zeroline": False,
        },
        yaxis={
            "range": [jobs - 0.4, -0.6],
            "tickvals": list(range(jobs)) if few else None,
            "ticktext": [f"job {i}" for i in order] if few else None,
            "showticklabels": few,
            "title": None if few else {"text": "jobs by arrival"},
            "showgrid": few,
            "zeroline": False,
        },
    )
    return figure


def _about(instance: GadgetInstance, solution: GadgetSolution) -> list[str]:
    """Return the hover text of every job."""
    lines = []
    for i, (job, z) in enumerate(zip(instance.jobs, worker_slots(instance, solution), strict=True)):
        name = f" ({html.escape(job.name)})" if job.name else ""
        lines.append(
            f"<b>job {i}</b>{name}<br>{z} worker-slots, "
            f"{job.iterations_per_worker_slot * z:g} iterations<br>utility {utility(job, z):.4g}"
        )
    return lines
