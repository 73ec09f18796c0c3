"""Picture of a job's utility over workers and servers, with every algorithm's point."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from gadgetopt.errors import InputError
from gadgetopt.reporting.figures import INK, PALETTE, TEMPLATE
from gadgetopt.system.declaring import picture

from ..algorithms.grid_search import grid_search
from ..algorithms.rounding import rounded
from ..baselines.policies import most_equal, one_by_one
from ..instance import Job, SmdInstance
from ..subproblems.inner import (
    Pair,
    Point,
    best_pair,
    continuous,
    largest_p,
    pairs,
)

#: epsilon_1 of Algorithm 1, as in the paper.
_EPS = 0.01
#: A utility of 0 is not white; white is beyond the reservation.
_COLOURS = ((0.0, "#d3dfec"), (0.5, "#5a9bd0"), (1.0, "#08306b"))
#: With at most so many workers or servers each has a tick.
_FEW_TICKS = 20


@picture(name="utility_surface", of="instance")
def surface(instance: SmdInstance) -> go.Figure:
    """Utility of the first job over workers and servers, with every algorithm's point.

    The first job for which anything fits is drawn. Algorithm 2 makes twenty attempts.

    Raises
    ------
    InputError
        If no job fits its reservation.
    """
    fitting = [i for i, job in enumerate(instance.jobs) if largest_p(job)]
    if not fitting:
        raise InputError("jobs: not even one worker and one server fit any reservation")
    i = fitting[0]
    job = instance.jobs[i]
    table = pairs(job)
    worth = np.full((int(table.p.max()), int(table.w.max())), np.nan)
    worth[table.p - 1, table.w - 1] = job.utility.over(table.tau_s)
    figure = go.Figure(
        go.Heatmap(
            z=worth,
            x0=1,
            y0=1,
            colorscale=_COLOURS,
            colorbar={"title": {"text": "utility"}},
            hovertemplate="%{x} workers, %{y} servers<br>utility %{z:.4g}<extra></extra>",
        )
    )
    for k, (name, point) in enumerate(points(job).items()):
        figure.add_trace(
            go.Scatter(
                x=[point.w],
                y=[point.p],
                mode="markers",
                name=f"{name}: {job.utility.at(point.tau_s):.4g}",
                marker={
                    "symbol": ("circle", "x", "square", "diamond", "star", "cross", "hexagon")[
                        k % 7
                    ],
                    # Coinciding points stay visible around each other.
                    "size": 22 - 2 * k,
                    "color": PALETTE[(k + 1) % len(PALETTE)],
                    "line": {"color": INK, "width": 1},
                },
                hovertemplate=f"{name}<br>%{{x:.3f}} workers, %{{y:.3f}} servers<br>"
                f"{point.tau_s:.6g} s<extra></extra>",
            )
        )
    figure.update_layout(
        title={
            "text": f"Job {i} ({job.sgd_mode}): utility over workers and servers",
            "subtitle": {"text": "white: beyond the reservation"},
        },
        template=TEMPLATE,
        xaxis={"title": {"text": "workers"}, **_ticks(worth.shape[1])},
        yaxis={"title": {"text": "servers"}, **_ticks(worth.shape[0])},
        legend={"x": 1.2},
    )
    return figure


def _ticks(most: int) -> dict[str, float]:
    """Return whole numbers as ticks if the axis is so short that it would show fractions."""
    return {"dtick": 1} if most <= _FEW_TICKS else {}


def points(job: Job) -> dict[str, Pair | Point]:
    """Return the point of each algorithm, by name, for a job whose (1, 1) fits."""
    found: dict[str, Pair | Point | None] = {
        "optimum": best_pair(job),
        "continuous optimum": continuous(job),
    }
    searched = grid_search(job, _EPS)
    if searched is not None:
        found["Algorithm 1"] = searched.point
        found["Algorithm 2"] = rounded(job, searched.point, np.random.default_rng(0)).pair
    found["ESW"] = most_equal(job)
    found["Optimus, fill"] = one_by_one(job, "fill")
    found["Optimus, stop"] = one_by_one(job, "stop")
    return {name: point for name, point in found.items() if point is not None}
