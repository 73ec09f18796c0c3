"""Loads of machines: a bar for every machine, of its jobs, longest first."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.reporting.figures import BAR, INK, PALE, PALETTE, TEMPLATE
from gadgetopt.system.declaring import picture

from ..counting import combinatorial_bound
from ..evaluate import evaluate
from ..instance import ParallelMachinesInstance, ParallelMachinesSolution

#: A processing time is written on its part of a bar from this part of the makespan on.
_WRITTEN_SHARE = 0.03

#: Machines drawn; of more, the most loaded ones.
MOST_MACHINES = 60


@picture()
def draw(instance: ParallelMachinesInstance, solution: ParallelMachinesSolution) -> go.Figure:
    """The jobs of each machine, and the combinatorial lower bound as a line.

    The assignment is feasible. Machines are ordered by load. Jobs of one processing time have one
    colour.
    """
    makespan_s = int(evaluate(instance, solution).objective or 0)
    jobs_of: dict[int, list[int]] = {}
    for j in instance.longest_first:
        jobs_of.setdefault(solution.machine[j], []).append(j)
    times_s = instance.processing_s
    order = sorted(jobs_of, key=lambda i: -sum(times_s[j] for j in jobs_of[i]))[:MOST_MACHINES]
    colour = {d: PALETTE[t % len(PALETTE)] for t, d in enumerate(instance.demand)}
    rows, starts, jobs = [], [], []
    for row, i in enumerate(order):
        start_s = 0
        for j in jobs_of[i]:
            rows.append(row)
            starts.append(start_s)
            jobs.append(j)
            start_s += times_s[j]
    figure = go.Figure(
        go.Bar(
            **BAR,
            y=rows,
            base=starts,
            x=[times_s[j] for j in jobs],
            marker={
                "color": [colour[times_s[j]] for j in jobs],
                "line": {"color": PALE, "width": 1 if len(jobs) <= 400 else 0},
            },
            text=[
                str(times_s[j]) if times_s[j] >= _WRITTEN_SHARE * makespan_s else "" for j in jobs
            ],
            hovertext=[f"<b>job {j}</b><br>{times_s[j]} s" for j in jobs],
        )
    )
    bound_s = combinatorial_bound(instance)
    figure.add_vline(x=bound_s, line={"color": INK, "width": 2, "dash": "dash"})
    more = "" if len(jobs_of) <= MOST_MACHINES else f"; the {MOST_MACHINES} fullest machines"
    figure.update_layout(
        title={
            "text": f"Makespan {makespan_s} s, {len(times_s)} jobs on {instance.machines} machines",
            "subtitle": {"text": f"dashed: no schedule ends before {bound_s} s{more}"},
        },
        barmode="overlay",
        template=TEMPLATE,
        height=170 + max(120, 30 * len(order)),
        xaxis={"title": {"text": "time, s"}, "range": [0, 1.03 * makespan_s]},
        yaxis={
            "range": [len(order) - 0.5, -0.5],
            "tickvals": list(range(len(order))),
            "ticktext": [f"machine {i}" for i in order],
            "showgrid": False,
        },
    )
    return figure
