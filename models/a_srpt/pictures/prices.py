"""The price of GPU-time that proves B5, above the GPUs that a schedule uses."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gadgetopt.numbers.arrays import Floats
from gadgetopt.reporting.figures import BLUE, BRIGHT, INK, LEGEND_ABOVE, TEMPLATE
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import picture

from ..evaluate import evaluate
from ..guarantees.guide import durations_of
from ..instance import ASrptInstance, ASrptSolution
from ..proving.bounds.price import good_prices
from ..relaxations import pool_of

#: Intervals of the price function that is drawn, and jobs up to which it is the best one.
_INTERVALS, _POLISHED = 128, 1000


@picture()
def draw(instance: ASrptInstance, solution: ASrptSolution) -> go.Figure:
    """Prices of GPU-time, and the GPUs that the schedule uses.

    The schedule is feasible. Where the price is 0, GPUs are not what the bound waits for; where it
    is high, a good schedule leaves no GPU idle.
    """
    pool = pool_of(instance)
    times, prices, bound = good_prices(pool, _INTERVALS, 40, 5000, _POLISHED, Clock())
    at, used = usage(instance, solution)
    value = float(evaluate(instance, solution).objective or 0)
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06)
    figure.add_scatter(
        x=at,
        y=used,
        line={"shape": "hv", "color": BLUE, "width": 1},
        fill="tozeroy",
        name="GPUs in use",
        row=1,
        col=1,
    )
    figure.add_hline(y=instance.total_gpus, line={"color": INK, "dash": "dash"}, row=1, col=1)
    figure.add_scatter(
        x=times,
        y=np.append(prices, 0.0),
        line={"shape": "hv", "color": BRIGHT[1], "width": 2},
        name="price",
        row=2,
        col=1,
    )
    figure.update_layout(
        title={
            "text": f"Price of GPU-time: the bound is {bound / value:.1%} of this schedule's value",
            "subtitle": {"text": f"total weighted completion time {value:,.1f} ticks"},
        },
        template=TEMPLATE,
        height=520,
        legend=LEGEND_ABOVE,
    )
    figure.update_yaxes(title_text="GPUs", range=[0, 1.05 * instance.total_gpus], row=1)
    figure.update_yaxes(title_text="price of a GPU-tick", rangemode="tozero", row=2)
    figure.update_xaxes(title_text="time, ticks", row=2)
    return figure


def usage(instance: ASrptInstance, solution: ASrptSolution) -> tuple[Floats, Floats]:
    """Return the times, in ticks, at which the number of GPUs in use changes, and that number."""
    duration = durations_of(instance, solution)
    begin = [job.start_microtick / instance.total_gpus for job in solution.jobs]
    end = [b + duration[job.job] for b, job in zip(begin, solution.jobs, strict=True)]
    gpus = instance.gpus[[job.job for job in solution.jobs]].astype(np.float64)
    at, where = np.unique([0.0, *begin, *end], return_inverse=True)
    change = np.bincount(where[1:], np.concatenate([gpus, -gpus]), minlength=len(at))
    return at, np.cumsum(change)
