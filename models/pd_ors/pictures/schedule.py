"""Gantt chart of a decision: one row per job, its slots coloured by mode and number of workers.

Blue slots are inside one machine, at the internal speed, orange ones spread over machines; the more
workers, the darker. A triangle is an arrival, grey where the job is not accepted.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass

import plotly.graph_objects as go

from gadgetopt.reporting.figures import (
    BAR,
    BLUE,
    GREY,
    INK,
    LEGEND_ABOVE,
    ORANGE,
    PALE,
    TEMPLATE,
    mixed,
)
from gadgetopt.system.declaring import picture

from ..evaluate import (
    Course,
    SlotCourse,
    courses,
    evaluate,
    utility,
)
from ..instance import (
    Job,
    PdOrsInstance,
    PdOrsSolution,
    SlotPlan,
)

MODES = ("inside one machine", "spread over machines", "servers only")
_HUES = dict(zip(MODES, (BLUE, ORANGE, GREY), strict=True))

#: Up to this many jobs each one has its own label and numbers on its bars.
_LABELLED_JOBS = 60
#: Up to this many slots each has its number on the axis.
FEW_TICKS = 30


@dataclass(frozen=True)
class Bar:
    """Slots in a row in which a job has the same mode and number of workers.

    Attributes
    ----------
    job, first, last : int
        Slots first to last.
    mode : str
        One of `MODES`.
    workers : int
    hover : str
        Placements in the first of them.
    """

    job: int
    first: int
    last: int
    mode: str
    workers: int
    hover: str


@picture(name="gantt")
def plot(instance: PdOrsInstance, solution: PdOrsSolution) -> go.Figure:
    """Jobs over slots, by mode and number of workers.

    Draw a feasible decision as a Gantt chart of the jobs.
    """
    evaluation = evaluate(instance, solution)
    found = bars(instance, solution)
    most = max((bar.workers for bar in found), default=1)
    few = len(instance.jobs) <= _LABELLED_JOBS
    figure = go.Figure()
    for mode in MODES:
        of_mode = [bar for bar in found if bar.mode == mode]
        if not of_mode:
            continue
        figure.add_bar(
            **BAR,
            name=mode,
            base=[bar.first - 0.5 for bar in of_mode],
            x=[bar.last - bar.first + 1 for bar in of_mode],
            y=[bar.job for bar in of_mode],
            width=0.8,
            marker={
                "color": [_shaded(_HUES[mode], bar.workers / max(most, 1)) for bar in of_mode],
                "line": {"color": PALE, "width": 0.7},
            },
            text=[str(bar.workers) if few and bar.workers else "" for bar in of_mode],
            hovertext=[bar.hover for bar in of_mode],
        )
    _add_arrivals(figure, instance, solution)
    accepted = evaluation.components["accepted_jobs"]
    figure.update_layout(
        title={
            "text": f"Utility {float(evaluation.objective or 0):.6g} with {accepted} of "
            f"{len(instance.jobs)} jobs on {len(instance.machines)} machines",
            "subtitle": {"text": "numbers: workers; the more, the darker; triangles: arrivals"},
        },
        barmode="overlay",
        template=TEMPLATE,
        height=190 + (max(140, 26 * len(instance.jobs)) if few else 1000),
        legend=LEGEND_ABOVE,
        uniformtext={"minsize": 8, "mode": "hide"},
        xaxis={
            "title": {"text": "slot"},
            "range": [0.4, instance.horizon_slots + 0.6],
            "dtick": 1 if instance.horizon_slots <= FEW_TICKS else None,
            "zeroline": False,
        },
        yaxis={
            "title": {"text": "job"},
            "range": [len(instance.jobs) - 0.4, -0.6],
            "dtick": 1 if few else None,
            "zeroline": False,
            "showgrid": False,
        },
    )
    return figure


def bars(instance: PdOrsInstance, solution: PdOrsSolution) -> list[Bar]:
    """Return the rectangles of the picture, by job and slot."""
    out: list[Bar] = []
    for i, (job, schedule, course) in enumerate(
        zip(instance.jobs, solution.schedules, courses(instance, solution), strict=True)
    ):
        if schedule is None or course is None:
            continue
        plans = {plan.slot: plan for plan in schedule}
        out += _joined(
            Bar(i, c.slot, c.slot, _mode(c), c.workers, _hover(i, job, course, c, plans[c.slot]))
            for c in course.slots
            if c.machines
        )
    return out


def _joined(single: Iterator[Bar]) -> Iterator[Bar]:
    """Join bars of neighbouring slots that look the same."""
    current: Bar | None = None
    for bar in single:
        if (
            current is not None
            and bar.first == current.last + 1
            and (bar.mode, bar.workers) == (current.mode, current.workers)
        ):
            current = Bar(bar.job, current.first, bar.last, bar.mode, bar.workers, current.hover)
            continue
        if current is not None:
            yield current
        current = bar
    if current is not None:
        yield current


def _mode(c: SlotCourse) -> str:
    if not c.workers:
        return MODES[2]
    return MODES[0] if c.machines == 1 else MODES[1]


def _hover(i: int, job: Job, course: Course, c: SlotCourse, plan: SlotPlan) -> str:
    name = f" ({html.escape(job.name)})" if job.name else ""
    where = [
        f"machine {p.machine}: {p.workers} workers, {p.servers} servers"
        for p in sorted(plan.placements, key=lambda p: p.machine)
        if p.workers or p.servers
    ]
    if len(where) > 8:
        where = [*where[:7], f"and {len(where) - 7} machines more"]
    part = float(c.samples / (job.epochs * job.samples))
    worth = 0.0 if course.completion is None else utility(job, course.completion)
    return (
        f"<b>job {i}</b>{name}, slot {c.slot}: {c.workers} workers, {c.servers} servers<br>"
        f"{100 * part:.3g} % of its work; utility {worth:.4g}<br>" + "<br>".join(where)
    )


def _add_arrivals(figure: go.Figure, instance: PdOrsInstance, solution: PdOrsSolution) -> None:
    for name, accepted, colour in (("arrival", True, INK), ("not accepted", False, GREY)):
        chosen = [i for i, plan in enumerate(solution.schedules) if (plan is not None) is accepted]
        if not chosen:
            continue
        figure.add_scatter(
            name=name,
            x=[instance.jobs[i].arrival_slot - 0.5 for i in chosen],
            y=chosen,
            mode="markers",
            marker={"symbol": "triangle-right", "size": 9, "color": colour},
            hovertext=[f"job {i} arrives in slot {instance.jobs[i].arrival_slot}" for i in chosen],
            hoverinfo="text",
        )


def _shaded(colour: str, part: float) -> str:
    """Mix a colour with white: the full one at part 1, a third of it at 0."""
    return mixed(colour, PALE, 0.65 * (1 - part))
