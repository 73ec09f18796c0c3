"""Histogram of prediction errors: for each predictor, the share of jobs in ranges of its error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.reporting.figures import BRIGHT, TEMPLATE
from gadgetopt.system.declaring import picture

from ..instance import ASrptInstance
from ..subproblems.arrivals import Arrival, arrival_of
from ..subproblems.predictors import make_predictor

#: Upper ends of the ranges of relative errors, and their names.
EDGES = (0.1, 0.2, 0.5, 1.0)
RANGES = ("0-10 %", "10-20 %", "20-50 %", "50-100 %", "> 100 %")

PREDICTORS = ("forest", "group_mean", "group_median", "last", "global_mean")

#: A picture must not take minutes.
MOST_JOBS = 5000


def errors(instance: ASrptInstance, predictor: str, rng: np.random.Generator) -> list[float]:
    """Return the relative error at each arrival, if every job runs as soon as it arrives.

    That is a cluster without a queue: a job is known as soon as it can be. Times are those of the
    mapping onto the empty cluster, at best.
    """
    guess = make_predictor(predictor, instance, 0.0, rng)
    ends = sorted((int(r + d), j) for j, (r, d) in enumerate(_intervals(instance)))
    found = []
    done = 0
    arrivals: dict[int, Arrival] = {}
    for release, j in sorted((int(r), j) for j, r in enumerate(instance.release_ticks)):
        while done < len(ends) and ends[done][0] <= release:
            over = ends[done][1]
            guess.observe(arrivals.pop(over), instance.jobs[over].num_iterations)
            done += 1
        arrivals[j] = arrival_of(instance, j)
        true = instance.jobs[j].num_iterations
        found.append(abs(guess.predict(arrivals[j]) - true) / true)
    return found


def shares(found: Sequence[float]) -> list[float]:
    """Return the share of errors in each of `RANGES`."""
    counts = np.bincount(np.searchsorted(EDGES, found), minlength=len(RANGES))
    return (counts / len(found)).tolist()


@picture(of="instance")
def draw(instance: ASrptInstance) -> go.Figure:
    """Errors of the predicted iterations, for each predictor.

    Draw the shares of each predictor beside each other; `forest` only with scikit-learn.

    Raises
    ------
    InputError
        If there are more than `MOST_JOBS` jobs.
    """
    if len(instance.jobs) > MOST_JOBS:
        raise InputError(f"jobs: {len(instance.jobs)}, expected at most {MOST_JOBS} to draw")
    figure = go.Figure()
    for k, predictor in enumerate(PREDICTORS):
        try:
            found = errors(instance, predictor, np.random.default_rng(0))
        except ModelRefused:
            continue
        figure.add_bar(x=list(RANGES), y=shares(found), name=predictor, marker={"color": BRIGHT[k]})
    figure.update_layout(
        title={
            "text": "Errors of predicted iterations",
            "subtitle": {"text": f"{len(instance.jobs)} jobs, each predicted when it arrives"},
        },
        template=TEMPLATE,
        barmode="group",
        xaxis={"title": {"text": "relative error"}},
        yaxis={"title": {"text": "share of jobs"}, "tickformat": ".0%"},
    )
    return figure


def _intervals(instance: ASrptInstance) -> Any:
    return zip(instance.release_ticks, instance.min_ticks, strict=True)
