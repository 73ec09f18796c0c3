"""The Gantt chart of an iteration: a row for every stage and channel."""

from __future__ import annotations

from collections.abc import Iterator

import plotly.graph_objects as go

from gadgetopt.pieces.pipeline.bound import head_load_tail
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.pieces.pipeline.simulator import Schedule, machine_name, simulate
from gadgetopt.reporting.figures import (
    BAR,
    BLUE,
    CYAN,
    GREY,
    INK,
    LEGEND_ABOVE,
    ORANGE,
    PALE,
    TEMPLATE,
    YELLOW,
)

from ..instance import SppInstance, SppSolution

#: Blocks drawn with a border and a number.
MOST_MARKED = 1500


def draw(instance: SppInstance, solution: SppSolution) -> go.Figure:
    """Draw forward and backward blocks, transfers and AllReduce over time."""
    shop = shop_of(instance, solution.plan)
    schedule = simulate(shop, solution.orders)
    makespan_s = float(schedule.makespan_s)
    figure = go.Figure()
    many = shop.num_machines * shop.num_microbatches > MOST_MARKED
    for name, colour, bars in _bars(schedule):
        figure.add_bar(
            **{**BAR, "textfont": {"size": 10, "color": INK}},
            name=name,
            y=[machine_name(q) for q, _, _, _ in bars],
            base=[start for _, start, _, _ in bars],
            x=[length for _, _, length, _ in bars],
            text=["" if many else label for _, _, _, label in bars],
            hovertext=[
                f"<b>{name} {label}</b><br>{machine_name(q)}<br>{start:.6g} to "
                f"{start + length:.6g} s"
                for q, start, length, label in bars
            ],
            marker={"color": colour, "line": {"color": PALE, "width": 0 if many else 0.5}},
        )
    bound_s = float(head_load_tail(shop).value_s)
    figure.add_vline(x=bound_s, line={"color": INK, "width": 2, "dash": "dash"})
    idle = max(schedule.idle_fractions)
    figure.update_layout(
        title={
            "text": f"Iteration of {makespan_s:.6g} s: {shop.num_stages} stages, "
            f"{shop.num_microbatches} microbatches",
            "subtitle": {
                "text": f"dashed: no order of this plan ends before {bound_s:.6g} s; "
                f"a stage computes at least {1 - idle:.0%} of the time"
            },
        },
        barmode="overlay",
        template=TEMPLATE,
        height=170 + max(140, 34 * shop.num_machines),
        legend=LEGEND_ABOVE,
        xaxis={"title": {"text": "time, s"}, "range": [0, 1.02 * makespan_s]},
        yaxis={
            "categoryorder": "array",
            "categoryarray": [machine_name(q) for q in reversed(range(shop.num_machines))],
            "showgrid": False,
        },
    )
    return figure


#: A bar: machine, start and length in seconds, and its label.
Bar = tuple[int, float, float, str]


def _bars(schedule: Schedule) -> Iterator[tuple[str, str, list[Bar]]]:
    """Yield the kinds of bars with their colours."""
    shop = schedule.shop
    stages, channels = range(0, shop.num_machines, 2), range(1, shop.num_machines, 2)
    for name, colour, machines, starts, lengths in (
        ("forward", BLUE, stages, schedule.fwd_start, shop.fwd),
        ("backward", ORANGE, stages, schedule.bwd_start, shop.bwd),
        ("transfer forward", CYAN, channels, schedule.fwd_start, shop.fwd),
        ("transfer backward", YELLOW, channels, schedule.bwd_start, shop.bwd),
    ):
        if machines:
            yield (
                name,
                colour,
                [
                    (q, float(shop.seconds(start)), float(shop.seconds(lengths[q])), str(m + 1))
                    for q in machines
                    for m, start in enumerate(starts[q])
                    if lengths[q]
                ],
            )
    reduces = [
        (
            q,
            float(shop.seconds(end - shop.allreduce[q])),
            float(shop.seconds(shop.allreduce[q])),
            "",
        )
        for q, end in zip(stages, schedule.stage_ends, strict=True)
        if shop.allreduce[q]
    ]
    if reduces:
        yield "AllReduce", GREY, reduces
