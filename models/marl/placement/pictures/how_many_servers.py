"""Mean completion time against the number of servers: what more room is worth."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from gadgetopt.reporting.figures import BRIGHT, INK, LEGEND_ABOVE, TEMPLATE
from gadgetopt.system.declaring import picture
from gadgetopt.system.result import Limits

from ..baselines.rules import by_rule
from ..evaluate import evaluate
from ..heuristics.lns import lns
from ..instance import PlacementInstance, PlacementSolution
from ..proving.certificate.check import alone_bound

#: Numbers of servers that are tried, and rounds of the search for each.
MOST_POINTS, ROUNDS = 16, 100
#: Seconds of the search for each.
POINT_S = 1.0


@picture(of="instance")
def draw(instance: PlacementInstance) -> go.Figure:
    """Mean completion time against the number of servers.

    Draw what a search, least interference first and packing reach on the first servers.
    """
    number = len(instance.servers)
    counts = sorted({round(k) for k in np.linspace(1, number, min(number, MOST_POINTS))})
    lines: dict[str, list[float | None]] = {"search": [], "lif": [], "pack": []}
    alone: list[float | None] = []
    for count in counts:
        part = _first_servers(instance, count)
        values = dict.fromkeys(lines) if part is None else _values(part)
        for name, value in values.items():
            lines[name].append(value)
        alone.append(None if part is None else float(alone_bound(part)))
    figure = go.Figure(
        [
            go.Scatter(x=counts, y=values, name=name, mode="lines+markers", line={"color": colour})
            for (name, values), colour in zip(lines.items(), BRIGHT, strict=False)
        ]
    )
    figure.add_scatter(
        x=counts, y=alone, name="nobody disturbed", line={"color": INK, "dash": "dash"}
    )
    figure.update_layout(
        title={
            "text": "Mean completion time against the number of servers",
            "subtitle": {
                "text": "the first servers of the file; no point where no placement was found"
            },
        },
        template=TEMPLATE,
        legend=LEGEND_ABOVE,
        xaxis={"title": {"text": "servers"}},
        yaxis={"title": {"text": "mean job completion time, s"}, "rangemode": "tozero"},
    )
    return figure


def _first_servers(instance: PlacementInstance, count: int) -> PlacementInstance | None:
    """Return the instance on its first servers; None if some job is too large for them."""
    try:
        return instance.model_copy(update={"servers": instance.servers[:count]})
    except ValueError:
        return None


def _values(instance: PlacementInstance) -> dict[str, float | None]:
    limits, rng = Limits(time_s=POINT_S), np.random.default_rng(0)
    return {
        "search": _value(instance, lns(instance, limits, rng, rounds=ROUNDS).solution),
        "lif": _value(instance, by_rule(instance, limits, rng, "lif", "fifo").solution),
        "pack": _value(instance, by_rule(instance, limits, rng, "pack", "fifo").solution),
    }


def _value(instance: PlacementInstance, solution: object) -> float | None:
    if not isinstance(solution, PlacementSolution):
        return None
    return float(evaluate(instance, solution).objective or 0)
