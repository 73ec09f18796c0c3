"""The Gantt chart of a pipeline's iteration: a row for every stage and every link between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import plotly.graph_objects as go

from gadgetopt.pieces.pipeline.simulator import Schedule
from gadgetopt.reporting.figures import (
    BAR,
    BLUE,
    CYAN,
    GREY,
    INK,
    ORANGE,
    PALE,
    TEMPLATE,
    YELLOW,
)

#: Blocks drawn with a border and a number.
MOST_MARKED = 1500

#: A bar: machine, start and length in seconds, and its label.
Bar = tuple[int, float, float, str]


def gantt(schedule: Schedule, names: list[str], bound_s: float, subtitle: str) -> go.Figure:
    """Draw forward and backward blocks, transfers and AllReduce over time.

    Parameters
    ----------
    schedule : Schedule
    names : list of str
        Of stage 0, link 0, stage 1, ...
    bound_s : float
        Drawn as a dashed line.
    subtitle : str
    """
    shop = schedule.shop
    makespan_s = float(schedule.makespan_s)
    figure = go.Figure()
    many = shop.num_machines * shop.num_microbatches > MOST_MARKED
    for name, colour, bars in _bars(schedule):
        figure.add_bar(
            **{**BAR, "textfont": {"size": 10, "color": INK}},
            name=name,
            y=[names[q] for q, _, _, _ in bars],
            base=[start for _, start, _, _ in bars],
            x=[length for _, _, length, _ in bars],
            text=["" if many else label for _, _, _, label in bars],
            hovertext=[
                f"<b>{name} {label}</b><br>{names[q]}<br>{start:.6g} to {start + length:.6g} s"
                for q, start, length, label in bars
            ],
            marker={"color": colour, "line": {"color": PALE, "width": 0 if many else 0.5}},
        )
    figure.add_vline(x=bound_s, line={"color": INK, "width": 2, "dash": "dash"})
    title = (
        f"Iteration of {makespan_s:.6g} s: {shop.num_stages} stages, "
        f"{shop.num_microbatches} microbatches"
    )
    axes_height = max(140, 34 * shop.num_machines)
    below: dict[str, Any] = {"orientation": "h", "x": 1, "xanchor": "right", "yanchor": "top"}
    figure.update_layout(
        title={"text": title, "subtitle": {"text": subtitle}},
        barmode="overlay",
        template=TEMPLATE,
        height=170 + axes_height,
        legend={**below, "y": -30 / axes_height},
        xaxis={"ticksuffix": " s", "range": [0, 1.02 * makespan_s or 1]},
        yaxis={"categoryorder": "array", "categoryarray": names[::-1], "showgrid": False},
    )
    return figure


def _bars(schedule: Schedule) -> Iterator[tuple[str, str, list[Bar]]]:
    """Yield the kinds of bars with their colours."""
    shop = schedule.shop
    stages, links = range(0, shop.num_machines, 2), range(1, shop.num_machines, 2)
    for name, colour, machines, starts, lengths in (
        ("forward", BLUE, stages, schedule.fwd_start, shop.fwd),
        ("backward", ORANGE, stages, schedule.bwd_start, shop.bwd),
        ("transfer forward", CYAN, links, schedule.fwd_start, shop.fwd),
        ("transfer backward", YELLOW, links, schedule.bwd_start, shop.bwd),
    ):
        bars = [
            (q, float(shop.seconds(start)), float(shop.seconds(lengths[q])), str(m + 1))
            for q in machines
            for m, start in enumerate(starts[q])
            if lengths[q]
        ]
        if machines:
            yield name, colour, bars
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
