"""What each worker does: steps, commits, and waiting."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.reporting.figures import BAR, BLUE, GREY, LEGEND_ABOVE, ORANGE, TEMPLATE
from gadgetopt.system.declaring import picture

from ..instance import AdspTrainingInstance, AdspTrainingSolution
from ..simulator import simulate
from ..ticks import Ticks
from .named import name_of

#: Bars drawn of each worker; the run may be longer.
MOST_COMMITS, MOST_WORKERS = 60, 24


@picture()
def draw(instance: AdspTrainingInstance, solution: AdspTrainingSolution) -> go.Figure:
    """Computing, communicating and waiting of each worker."""
    run = simulate(instance, solution.policy, keep_log=True)
    ticks = Ticks.of(instance)
    workers = range(min(MOST_WORKERS, len(instance.workers)))
    bars: dict[str, list[tuple[int, float, float, str]]] = {
        "computes": [],
        "communicates": [],
        "waits": [],
    }
    shown, free, end = dict.fromkeys(workers, 0), dict.fromkeys(workers, 0), 0
    unit = ticks.per_second
    for commit in run.log:
        i = commit.worker
        if i not in shown or shown[i] >= MOST_COMMITS:
            continue
        shown[i] += 1
        done = commit.arrive - ticks.half[i]
        text = f"worker {i}: {commit.steps} steps"
        if commit.begin > free[i]:
            bars["waits"].append((i, free[i] / unit, (commit.begin - free[i]) / unit, "waits"))
        bars["computes"].append((i, commit.begin / unit, (done - commit.begin) / unit, text))
        bars["communicates"].append((i, done / unit, 2 * ticks.half[i] / unit, "commit and pull"))
        free[i] = commit.arrive + ticks.half[i]
        end = max(end, free[i])
    figure = go.Figure()
    for (name, rows), colour in zip(bars.items(), (BLUE, ORANGE, GREY), strict=True):
        figure.add_bar(
            **BAR,
            name=name,
            y=[row[0] for row in rows],
            base=[row[1] for row in rows],
            x=[row[2] for row in rows],
            hovertext=[row[3] for row in rows],
            marker_color=colour,
        )
    figure.update_layout(
        title={
            "text": f"{name_of(solution.policy)}: {float(run.time_s):.5g} s to the target",
            "subtitle": {"text": f"{sum(run.commits)} commits, {sum(run.steps)} steps in all"},
        },
        barmode="overlay",
        template=TEMPLATE,
        legend=LEGEND_ABOVE,
        height=170 + max(120, 28 * len(workers)),
        xaxis={"title": {"text": "time, s"}, "range": [0, end / unit]},
        yaxis={
            "range": [len(workers) - 0.5, -0.5],
            "tickvals": list(workers),
            "ticktext": [
                f"worker {i}: {instance.workers[i].step_time_s:g} s a step" for i in workers
            ],
            "showgrid": False,
        },
    )
    return figure
