"""Distribution of flow times under each policy: the share of jobs that are done within a time."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from gadgetopt.errors import InputError
from gadgetopt.reporting.figures import BRIGHT, INK, TEMPLATE
from gadgetopt.system.declaration import Method
from gadgetopt.system.declaring import picture
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits

from ..evaluate import duration_ticks, iteration_time
from ..instance import ASrptInstance, ASrptSolution

#: A picture must not take minutes.
MOST_JOBS = 5000

_DASHES = ("solid", "dash", "dot")


def policies() -> tuple[Method, ...]:
    """Return the policies drawn, A-SRPT first.

    What needs no predictions is offline; the weighted variant is A-SRPT itself where weights are
    equal.
    """
    return tuple(
        method
        for method in problem("a_srpt").methods
        if "predictor" in method.parameters and method.name != "a_srpt_weighted"
    )


def flow_ticks(instance: ASrptInstance, solution: ASrptSolution) -> list[float]:
    """Return the flow times of all jobs in ascending order, ticks."""
    flow = []
    for scheduled in solution.jobs:
        job = instance.jobs[scheduled.job]
        stages = tuple(dict(pairs) for pairs in scheduled.placement)
        seconds = iteration_time(instance, instance.job_types[job.job_type], stages)
        ticks = duration_ticks(instance, job.num_iterations * seconds)
        flow.append(scheduled.start_microtick / instance.total_gpus + ticks - job.release_tick)
    return sorted(flow)


@picture(of="instance")
def draw(instance: ASrptInstance) -> go.Figure:
    """Distribution of flow times under each policy.

    Draw the flow times of every policy as steps, over a logarithmic axis.

    Raises
    ------
    InputError
        If there are more than `MOST_JOBS` jobs.
    """
    if len(instance.jobs) > MOST_JOBS:
        raise InputError(f"jobs: {len(instance.jobs)}, expected at most {MOST_JOBS} to draw")
    figure = go.Figure()
    for k, method in enumerate(policies()):
        outcome = method.run(instance, Limits(), np.random.default_rng(0))
        flow = flow_ticks(instance, outcome.solution)
        mean = sum(flow) / len(flow)
        first = k == 0
        figure.add_scatter(
            x=flow,
            y=[(i + 1) / len(flow) for i in range(len(flow))],
            mode="lines",
            name=f"{method.name}, mean {mean:.4g}",
            line={
                "shape": "hv",
                "color": INK if first else BRIGHT[k % len(BRIGHT)],
                "width": 3 if first else 1.8,
                "dash": "solid" if first else _DASHES[k // len(BRIGHT) + k % 2],
            },
        )
    figure.update_layout(
        title={
            "text": "Flow times under each policy",
            "subtitle": {"text": f"{len(instance.jobs)} jobs; perfect predictions"},
        },
        template=TEMPLATE,
        xaxis={"title": {"text": "flow time, ticks"}, "type": "log"},
        yaxis={"title": {"text": "share of jobs done within it"}, "tickformat": ".0%"},
    )
    return figure
