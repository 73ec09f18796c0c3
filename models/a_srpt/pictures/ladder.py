"""The ladder of bounds: what each proves, as a part of a schedule's value."""

from __future__ import annotations

from contextlib import suppress

import plotly.graph_objects as go

from gadgetopt.errors import ModelRefused
from gadgetopt.reporting.figures import BAR, BLUE, INK, MINT, TEMPLATE
from gadgetopt.system.declaring import picture
from gadgetopt.system.result import Limits

from ..evaluate import evaluate
from ..instance import ASrptInstance, ASrptSolution
from ..proving.bounds.combinatorial import (
    busy_time,
    release,
    srpt,
)
from ..proving.bounds.price import price_bound
from ..proving.bounds.server_price import server_price_bound
from ..proving.bounds.time_indexed import time_indexed_bound
from ..proving.bounds.transportation import transportation_bound
from ..proving.certificate.check import (
    ASrptCertificate,
    proved,
)

#: Bounds from the simplest on, and seconds for each.
_FORMULAS = {"B0, releases": release, "B1, SRPT": srpt, "B2, busy times": busy_time}
_PROGRAMS = {
    "B3, transportation": transportation_bound,
    "B4, starts": time_indexed_bound,
    "B5, prices of GPU-time": price_bound,
    "prices of parts of servers": server_price_bound,
}
#: Seconds for each of these bounds.
_SECONDS = 20.0


def rungs(instance: ASrptInstance) -> dict[str, float]:
    """Return the bounds by name, in weighted ticks; some are not made for large instances."""
    outcomes = {name: formula(instance) for name, formula in _FORMULAS.items()}
    for name, method in _PROGRAMS.items():
        with suppress(ModelRefused):
            outcomes[name] = method(instance, Limits(time_s=_SECONDS))
    found = {}
    for name, outcome in outcomes.items():
        if isinstance(outcome.certificate, ASrptCertificate):
            found[name] = float(proved(instance, outcome.certificate.proof))
    return found


@picture()
def draw(instance: ASrptInstance, solution: ASrptSolution) -> go.Figure:
    """What each bound proves, beside the schedule's value.

    Draw a bar for every bound, on the total completion time and on the total flow time.

    The schedule is feasible. A bound on flow times is that on completions less the releases, so it
    is the smaller part of the value.
    """
    value = float(evaluate(instance, solution).objective or 0)
    released = float(sum(job.weight * job.release_tick for job in instance.jobs))
    bounds = rungs(instance)
    names = list(bounds)
    figure = go.Figure()
    for label, less, colour in (
        ("completion time", 0.0, BLUE),
        ("flow time", released, MINT),
    ):
        parts = [(bound - less) / (value - less) for bound in bounds.values()]
        figure.add_bar(
            **BAR,
            y=names,
            x=parts,
            name=label,
            marker={"color": colour},
            text=[f"{part:.1%}" for part in parts],
            hovertext=[f"<b>{n}</b><br>{bound - less:,.1f} ticks" for n, bound in bounds.items()],
        )
    figure.add_vline(x=1, line={"color": INK, "width": 2, "dash": "dash"})
    figure.update_layout(
        title={
            "text": "Lower bounds, as parts of this schedule's value",
            "subtitle": {
                "text": f"completion times {value:,.1f}, flow times {value - released:,.1f}"
            },
        },
        template=TEMPLATE,
        height=170 + 50 * len(names),
        barmode="group",
        xaxis={"title": {"text": "bound / value"}, "tickformat": ".0%", "range": [0, 1.05]},
        yaxis={"autorange": "reversed"},
    )
    return figure
