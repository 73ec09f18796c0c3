"""The price of ignoring interference, and that of ignoring the network."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import plotly.graph_objects as go

from gadgetopt.reporting.figures import BRIGHT, LEGEND_ABOVE, TEMPLATE
from gadgetopt.system.declaring import picture
from gadgetopt.system.result import Limits

from ..evaluate import evaluate
from ..heuristics.lns import lns
from ..instance import PlacementInstance, PlacementSolution

#: Factors of the table of interference, rounds and seconds of the search at each.
FACTORS = tuple(Fraction(k, 4) for k in range(9))
#: Rounds and seconds of the search at each factor.
ROUNDS, POINT_S = 100, 1.0


@picture(of="instance")
def draw(instance: PlacementInstance) -> go.Figure:
    """The price of ignoring interference, and of ignoring the network.

    Draw what placements cost that know of everything, of no interference, of no network.

    All three are found by the same search; what they cost is computed with everything.
    """
    no_network = [
        job.model_copy(update={"rack_comm_s": Fraction(0), "cross_comm_s": Fraction(0)})
        for job in instance.jobs
    ]
    blind = _found(_scaled(instance, Fraction(0)))
    lines: dict[str, list[float | None]] = {
        "knows both": [],
        "ignores interference": [],
        "ignores the network": [],
    }
    for factor in FACTORS:
        true = _scaled(instance, factor)
        near = _found(true.model_copy(update={"jobs": tuple(no_network)}))
        for name, solution in zip(lines, (_found(true), blind, near), strict=True):
            lines[name].append(_value(true, solution))
    figure = go.Figure(
        [
            go.Scatter(
                x=[float(f) for f in FACTORS],
                y=values,
                name=name,
                mode="lines+markers",
                line={"color": colour},
            )
            for (name, values), colour in zip(lines.items(), BRIGHT, strict=False)
        ]
    )
    figure.update_layout(
        title={
            "text": "The price of ignoring interference",
            "subtitle": {"text": "placements of one search, with what each of them knows"},
        },
        template=TEMPLATE,
        legend=LEGEND_ABOVE,
        xaxis={"title": {"text": "factor of the table of interference"}},
        yaxis={"title": {"text": "mean job completion time, s"}, "rangemode": "tozero"},
    )
    return figure


def _scaled(instance: PlacementInstance, factor: Fraction) -> PlacementInstance:
    table = tuple(tuple(factor * a for a in row) for row in instance.interference)
    measured = tuple(
        m.model_copy(update={"slowdown": factor * m.slowdown}) for m in instance.measured
    )
    return instance.model_copy(update={"interference": table, "measured": measured})


def _found(instance: PlacementInstance) -> object:
    limits = Limits(time_s=POINT_S)
    return lns(instance, limits, np.random.default_rng(0), rounds=ROUNDS).solution


def _value(instance: PlacementInstance, solution: object) -> float | None:
    if not isinstance(solution, PlacementSolution):
        return None
    return float(evaluate(instance, solution).objective or 0)
