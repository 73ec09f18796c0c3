"""The Gantt chart of what repeats: each stream over a period, or all of a finite run."""

from __future__ import annotations

from fractions import Fraction

import plotly.graph_objects as go

from gadgetopt.reporting.figures import (
    BAR,
    BLUE,
    CYAN,
    INK,
    MINT,
    ORANGE,
    PALE,
    PINK,
    TEMPLATE,
    YELLOW,
)
from gadgetopt.system.declaring import picture

from ..evaluate import window_of
from ..events import event_graph, finite_starts
from ..instance import OneflowActorsInstance, OneflowActorsSolution
from ..simulator import finite_run, steady_state

COLOURS = (BLUE, MINT, YELLOW, ORANGE, CYAN, PINK)

#: More bars than this have no labels. By definition.
MOST_MARKED = 200
#: Periods that are drawn. By definition.
PERIODS = 2


@picture()
def draw(instance: OneflowActorsInstance, solution: OneflowActorsSolution) -> go.Figure:
    """What each stream fires over two periods of the steady state, or over a finite run.

    Colours are those of actors in turn; numbers count firings from the first that is drawn.
    """
    whole, fired = fired_bars(instance, solution)
    tick = Fraction(1, instance.ticks_per_s)
    many = len(fired) > MOST_MARKED
    names = [actor.name or f"actor {a}" for a, actor in enumerate(instance.actors)]
    figure = go.Figure()
    first = {a: min((k for _, b, k in fired if b == a), default=0) for a in range(len(names))}
    figure.add_bar(
        **{**BAR, "textfont": {"size": 10, "color": INK}},
        y=[instance.actors[a].stream for _, a, _ in fired],
        base=[float(start * tick) for start, _, _ in fired],
        x=[float(instance.ticks[a] * tick) for _, a, _ in fired],
        text=["" if many else f"{names[a]}: {k - first[a]}" for _, a, k in fired],
        hovertext=[
            f"<b>{names[a]}, firing {k - first[a]}</b><br>{float(start * tick):.6g} to "
            f"{float((start + instance.ticks[a]) * tick):.6g} s"
            for start, a, k in fired
        ],
        marker={
            "color": [COLOURS[a % len(COLOURS)] for _, a, _ in fired],
            "line": {"color": PALE, "width": 0 if many else 0.5},
        },
        showlegend=False,
    )
    steady = instance.num_microbatches is None
    what = "Period" if steady else "Makespan"
    slots = ", ".join(map(str, solution.slots)) if len(solution.slots) <= 12 else "many"
    figure.update_layout(
        title={
            "text": f"{what} of {float(whole * tick):.6g} s",
            "subtitle": {"text": f"{'two periods' if steady else 'all firings'}; slots: {slots}"},
        },
        barmode="overlay",
        template=TEMPLATE,
        xaxis={"title": {"text": "s"}},
        yaxis={"categoryorder": "array", "categoryarray": list(instance.streams)[::-1]},
        height=max(300, 170 + 34 * len(instance.streams)),
    )
    return figure


def fired_bars(
    instance: OneflowActorsInstance, solution: OneflowActorsSolution
) -> tuple[Fraction, list[tuple[Fraction, int, int]]]:
    """Return period or makespan, and (start, actor, firing) of what is drawn, in ticks."""
    M, slots = instance.num_microbatches, solution.slots
    if M is not None:
        if solution.dispatch == "orders":
            starts = finite_starts(instance, slots, solution.orders, M) or []
            run = [(x, a, k) for a, times in enumerate(starts) for k, x in enumerate(times)]
        else:
            run = finite_run(instance, slots, solution.dispatch, M)
        fired = [(Fraction(start), a, k) for start, a, k in run]
        return max(start + instance.ticks[a] for start, a, _ in fired), fired
    if solution.dispatch != "orders":
        steady = steady_state(instance, slots, solution.dispatch)
        assert steady is not None  # of a feasible solution
        inside = [
            (Fraction(start - steady.since), a, k)
            for start, a, k in steady.fired
            if steady.since < start <= steady.since + steady.ticks
        ]
        return steady.period, _repeated(inside, Fraction(steady.ticks), steady.window)
    J = window_of(instance, solution)
    graph = event_graph(instance, slots, solution.orders, J)
    period, _ = graph.period()
    inside = [(start, *divmod(n, J)) for n, start in enumerate(graph.starts(period))]
    return period, _repeated(inside, period * J, J)


def _repeated(
    fired: list[tuple[Fraction, int, int]], length: Fraction, window: int
) -> list[tuple[Fraction, int, int]]:
    return [
        (start + n * length, a, k + n * window) for n in range(PERIODS) for start, a, k in fired
    ]
