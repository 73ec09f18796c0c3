"""Use of the cluster over time: used part of each resource, arrivals, acceptances, completions."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.reporting.figures import (
    BLUE,
    GREY,
    MINT,
    ORANGE,
    PEAR,
    PINK,
    TEMPLATE,
    YELLOW,
)
from gadgetopt.system.declaring import picture

from ..evaluate import courses
from ..instance import PdOrsInstance, PdOrsSolution
from .schedule import FEW_TICKS

_LINES = (BLUE, ORANGE, MINT, PINK, PEAR, YELLOW)
_DASHES = ("solid", "dash", "dot", "dashdot")


@picture()
def over_time(instance: PdOrsInstance, solution: PdOrsSolution) -> go.Figure:
    """Used part of the machines, arrivals and completions by slot.

    Draw the used part of every resource by slot, above arrivals and completions.
    """
    T = instance.horizon_slots
    slots = list(range(1, T + 1))
    figure = make_subplots(
        rows=2,
        cols=1,
        shared_xaxes=True,
        vertical_spacing=0.08,
        subplot_titles=("used part of all machines", "jobs by slot"),
    )
    for r, (name, part) in enumerate(
        zip(instance.resources, used_parts(instance, solution).T, strict=True)
    ):
        figure.add_scatter(
            x=slots,
            y=(100 * part).tolist(),
            name=name,
            mode="lines+markers",
            line={
                "shape": "hvh",
                "color": _LINES[r % len(_LINES)],
                "dash": _DASHES[r % len(_DASHES)],
                "width": 2.5,
            },
            legendgroup="used",
            row=1,
            col=1,
        )
    for name, counts, colour in jobs_by_slot(instance, solution):
        figure.add_bar(
            x=slots,
            y=counts.tolist(),
            name=name,
            marker={"color": colour},
            legendgroup="jobs",
            offsetgroup="done" if name == "completed" else "arrived",
            row=2,
            col=1,
        )
    figure.update_layout(
        title={"text": f"{len(instance.jobs)} jobs on {len(instance.machines)} machines"},
        barmode="relative",
        template=TEMPLATE,
        height=620,
    )
    figure.update_yaxes(title_text="% of the capacity", range=[0, 103], row=1, col=1)
    figure.update_yaxes(title_text="jobs", rangemode="tozero", row=2, col=1)
    figure.update_xaxes(dtick=1 if T <= FEW_TICKS else None)
    figure.update_xaxes(title_text="slot", range=[0.4, T + 0.6], row=2, col=1)
    return figure


def used_parts(instance: PdOrsInstance, solution: PdOrsSolution) -> Floats:
    """Return the used part of every resource of all machines, shape (slots, resources)."""
    used = np.zeros((instance.horizon_slots, len(instance.resources)))
    for job, schedule in zip(instance.jobs, solution.schedules, strict=True):
        alpha, beta = np.array(job.worker_demand), np.array(job.ps_demand)
        for plan in schedule or ():
            w = sum(p.workers for p in plan.placements)
            s = sum(p.servers for p in plan.placements)
            used[plan.slot - 1] += w * alpha + s * beta
    there = np.array([machine.capacity for machine in instance.machines]).sum(axis=0)
    return np.divide(used, there, out=np.zeros_like(used), where=there > 0)


def jobs_by_slot(instance: PdOrsInstance, solution: PdOrsSolution) -> list[tuple[str, Ints, str]]:
    """Return how many jobs arrive and are accepted or not, and complete, in every slot."""
    counts = {name: np.zeros(instance.horizon_slots, dtype=np.int64) for name in _JOBS}
    for job, course in zip(instance.jobs, courses(instance, solution), strict=True):
        arrived = "not accepted" if course is None else "accepted"
        counts[arrived][job.arrival_slot - 1] += 1
        if course is not None and course.completion is not None:
            counts["completed"][course.completion - 1] += 1
    return [(name, counts[name], colour) for name, colour in _JOBS.items()]


_JOBS = {"accepted": BLUE, "not accepted": GREY, "completed": MINT}
