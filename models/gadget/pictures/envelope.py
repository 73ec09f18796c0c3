"""Picture of a utility, its concave envelope and their tangent point."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from gadgetopt.reporting.figures import (
    INK,
    PALETTE,
    RED,
    TEMPLATE,
)
from gadgetopt.system.declaring import picture

from ..instance import GadgetInstance
from ..subproblems.hull import envelope, upper_hull
from ..terms import JobTerms
from .gantt import FEW_TICKS


def tangent(job: JobTerms) -> int:
    """Return the least positive number of worker-slots at which utility and envelope agree."""
    hull = upper_hull(job.utility)
    return int(hull[1]) if len(hull) > 1 else 0


def shortfall(job: JobTerms) -> float:
    """Return the largest difference between envelope and utility."""
    return float((envelope(job.utility) - job.utility).max())


@picture(name="envelope", of="instance")
def plot_envelope(instance: GadgetInstance) -> go.Figure:
    """A utility with its concave envelope and the tangent point."""
    job = max(instance.terms.jobs, key=lambda job: (shortfall(job), len(job.utility), -job.index))
    u, above = job.utility, envelope(job.utility)
    k = np.arange(len(u))
    at = tangent(job)
    figure = go.Figure()
    figure.add_scatter(
        x=k,
        y=above,
        name="concave envelope",
        mode="lines",
        line={"color": PALETTE[1], "width": 3, "dash": "dash"},
    )
    figure.add_scatter(
        x=k,
        y=u,
        name="utility",
        mode="lines+markers",
        fill="tonexty",
        fillcolor="rgba(238,136,102,0.15)",
        line={"color": PALETTE[0], "width": 3},
        marker={"size": 7 if len(k) <= 60 else 3},
    )
    figure.add_scatter(
        x=[at],
        y=[u[at]],
        name="tangent point",
        mode="markers+text",
        marker={"symbol": "diamond", "size": 13, "color": RED},
        text=[f"{at} worker-slots"],
        textposition="top left" if at > len(k) / 2 else "bottom right",
        textfont={"color": INK},
    )
    first = float(u[1] - u[0]) if len(u) > 1 else 0.0
    promised = float(above[1] - above[0]) if len(u) > 1 else 0.0
    figure.update_layout(
        title={
            "text": f"Job {job.index}: the first worker-slot gains {first:.3g}, "
            f"by the envelope {promised:.3g}",
            "subtitle": {
                "text": "a policy that looks one slot ahead starts the job only by the envelope; "
                "from the tangent point on both are the same"
                if promised > first
                else "the utility is concave, and its own envelope"
            },
        },
        template=TEMPLATE,
        xaxis={"title": {"text": "worker-slots"}, "dtick": 1 if len(u) <= FEW_TICKS else None},
        yaxis={"title": {"text": "utility"}, "rangemode": "tozero"},
    )
    return figure
