"""Picture of the marginal utility of worker-slots.

If all curves fall, the total utility is submodular, and temporal greedy reaches half of the
optimum. With a sigmoid the curves first rise.
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from gadgetopt.reporting.figures import PALETTE, RED, TEMPLATE
from gadgetopt.system.declaring import picture

from ..instance import GadgetInstance
from ..subproblems.hull import envelope
from ..terms import JobTerms
from .gantt import FEW_TICKS

#: Tolerance for gains, which are differences of rounded utilities.
_EQUAL = 1e-9


def rising(job: JobTerms) -> list[int]:
    """Return the worker-slots whose gain exceeds that of the one before."""
    gain = np.diff(job.utility)
    slack = _EQUAL * max(1.0, float(job.utility[-1]))
    return [k + 1 for k in np.flatnonzero(gain[1:] > gain[:-1] + slack).tolist()]


@picture(name="gains", of="instance")
def plot_gains(instance: GadgetInstance) -> go.Figure:
    """Marginal utility of worker-slots.

    Draw the marginal gains of the first jobs; those of their envelopes are dotted.
    """
    jobs = [job for job in instance.terms.jobs if job.max_total > 1][: len(PALETTE)]
    figure = go.Figure()
    for n, job in enumerate(jobs):
        gain, smoothed = np.diff(job.utility), np.diff(envelope(job.utility))
        k = np.arange(1, len(gain) + 1)
        group = {"legendgroup": str(job.index)}
        figure.add_scatter(
            x=k,
            y=gain,
            name=f"job {job.index}",
            mode="lines+markers",
            line={"color": PALETTE[n], "width": 2.5},
            marker={"size": 6 if len(k) <= 60 else 3},
            **group,
        )
        up = rising(job)
        if up:
            figure.add_scatter(
                x=k,
                y=smoothed,
                mode="lines",
                line={"color": PALETTE[n], "width": 1.5, "dash": "dot"},
                name=f"envelope of job {job.index}",
                showlegend=False,
                **group,
            )
            figure.add_scatter(
                x=k[up],
                y=gain[up],
                mode="markers",
                marker={"symbol": "triangle-up-open", "size": 13, "color": RED},
                name=f"job {job.index} rises",
                showlegend=False,
                **group,
            )
    most = max((job.max_total for job in jobs), default=0)
    count = sum(bool(rising(job)) for job in instance.terms.jobs)
    figure.update_layout(
        title={
            "text": "Gain of one more worker-slot",
            "subtitle": {
                "text": f"rising (triangles) for {count} of {len(instance.jobs)} jobs: total "
                "utility is not submodular; dotted: envelopes"
                if count
                else "never rising: total utility is submodular, slot by slot reaches half of the "
                "optimum"
            },
        },
        template=TEMPLATE,
        xaxis={"title": {"text": "worker-slot"}, "dtick": 1 if most <= FEW_TICKS else None},
        yaxis={"title": {"text": "gain in utility"}, "rangemode": "tozero"},
    )
    return figure
