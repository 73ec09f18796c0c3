"""What limits the iteration: head, load and tail of every machine."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.pieces.pipeline.bound import head_load_tail, machine_bounds
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.pieces.pipeline.simulator import machine_name, simulate
from gadgetopt.reporting.figures import (
    BAR,
    BLUE,
    INK,
    LEGEND_ABOVE,
    MINT,
    ORANGE,
    TEMPLATE,
)
from gadgetopt.system.declaring import picture

from ..instance import SppInstance, SppSolution


@picture(name="critical_machine")
def draw(instance: SppInstance, solution: SppSolution) -> go.Figure:
    """Head, load and tail of every stage and channel: what limits the iteration.

    Draw the bound of every machine as its head, load and tail, beside the iteration time.
    """
    shop = shop_of(instance, solution.plan)
    rows = list(machine_bounds(shop))
    critical = head_load_tail(shop)
    labels = [
        machine_name(r.machine) + ("" if r.direction == "both" else f", {r.direction}")
        for r in rows
    ]
    figure = go.Figure()
    for part, colour in (("head", BLUE), ("load", ORANGE), ("tail", MINT)):
        seconds = [float(shop.seconds(getattr(r, part))) for r in rows]
        figure.add_bar(
            **BAR,
            name=part,
            y=labels,
            x=seconds,
            hovertext=[f"{part} {s:.6g} s" for s in seconds],
            marker={"color": colour},
        )
    makespan_s = float(simulate(shop, solution.orders).makespan_s)
    figure.add_vline(x=makespan_s, line={"color": INK, "width": 2})
    where = labels[rows.index(critical)]
    figure.update_layout(
        title={
            "text": f"Critical: {where}, {float(critical.value_s):.6g} s",
            "subtitle": {
                "text": f"line: this iteration, {makespan_s:.6g} s; its orders are at most "
                f"{makespan_s / max(float(critical.value_s), 1e-300):.4f} times the best of this "
                "plan"
            },
        },
        barmode="stack",
        template=TEMPLATE,
        height=170 + max(140, 30 * len(rows)),
        legend=LEGEND_ABOVE,
        xaxis={"title": {"text": "time, s"}},
        yaxis={"categoryorder": "array", "categoryarray": labels[::-1], "showgrid": False},
    )
    return figure
