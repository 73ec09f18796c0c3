"""Cost against memory: the plans that are best for some price of a byte of memory.

Between two such plans there may be others that are no worse, above the line that joins them: what
memory priced into the costs does not find.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import plotly.graph_objects as go

from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.reporting.figures import BLUE, INK, ORANGE, TEMPLATE
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import picture
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.inference import compiler_greedy
from ..baselines import strategies
from ..evaluate import evaluate
from ..instance import OneFlowSbpInstance, OneFlowSbpSolution
from ..proving.elimination import OutOfTime
from ..proving.lagrangian import (
    Point,
    Pricing,
)
from ..subproblems.graph import FORBIDDEN
from ..subproblems.label_graph import label_graph
from .plan import unit_text

#: Prices tried, and seconds for all of them. Tuned: `benchmarks/constants.py`.
MOST_PRICES, MOST_TIME_S = 30, 10.0
#: Sums that one elimination may take, and so entries of its tables: about a gigabyte.
_MOST_SUMS = 7 * MOST_CELLS

_BY_HAND: dict[str, Callable[..., MethodOutcome]] = {
    "compiler's pass": compiler_greedy,
    "data parallel": strategies.data_parallel,
    "Megatron": strategies.megatron,
    "columns": strategies.model_parallel_col,
    "rows": strategies.model_parallel_row,
    "all broadcast": strategies.all_broadcast,
}


@dataclass(frozen=True)
class Plan:
    """Cost and memory of the fullest device of a plan."""

    cost: float
    memory_bytes: int


@picture(of="instance")
def draw(instance: OneFlowSbpInstance) -> go.Figure:
    """Cost against memory of a device, and the strategies chosen by hand.

    Draw cost against memory, without the instance's memory limit, which is a line.
    """
    front = pareto(instance)
    hand = by_hand(instance)
    figure = go.Figure(
        [
            go.Scatter(
                x=[p.memory_bytes / 1e9 for p in front],
                y=[p.cost for p in front],
                mode="lines+markers",
                line={"color": BLUE, "dash": "dot"},
                marker={"color": BLUE, "size": 9, "line": {"color": INK, "width": 1}},
                name="best for a price of memory",
                hovertemplate="%{x:.4g} GB, %{y:.5g}<extra></extra>",
            ),
            go.Scatter(
                x=[p.memory_bytes / 1e9 for p in hand.values()],
                y=[p.cost for p in hand.values()],
                mode="markers+text",
                marker={"color": ORANGE, "size": 10, "symbol": "diamond"},
                text=list(hand),
                textposition=_beside([p.memory_bytes for p in hand.values()]),
                name="chosen by hand",
                hovertemplate="%{text}: %{x:.4g} GB, %{y:.5g}<extra></extra>",
            ),
        ]
    )
    if instance.memory_limit_bytes is not None:
        line = {"color": INK, "dash": "dash", "width": 2}
        figure.add_vline(x=instance.memory_limit_bytes / 1e9, line=line)
    subtitle = "all plans were infeasible"
    if front:
        first, last = front[0], front[-1]
        subtitle = (
            f"from {first.memory_bytes / 1e9:.3g} GB at {first.cost:.4g} to "
            f"{last.memory_bytes / 1e9:.3g} GB at {last.cost:.4g} {unit_text(instance)}"
        )
    figure.update_layout(
        title={"text": "Cost against memory", "subtitle": {"text": subtitle}},
        template=TEMPLATE,
        height=520,
        xaxis={"title": {"text": "memory of the fullest device, GB"}, "rangemode": "tozero"},
        yaxis={"title": {"text": f"cost, {unit_text(instance)}"}, "type": "log"},
    )
    return figure


def _beside(memory_bytes: list[int]) -> list[str]:
    """Return where labels stand: to the left of marks near the right end, else to the right."""
    far = 0.7 * max(memory_bytes, default=0)
    return ["middle left" if used > far else "middle right" for used in memory_bytes]


def by_hand(instance: OneFlowSbpInstance) -> dict[str, Plan]:
    """Return the plans of the compiler's pass and of the strategies; equal ones under one name."""
    free = instance.model_copy(update={"memory_limit_bytes": None})
    names: dict[Plan, list[str]] = {}
    for name, method in _BY_HAND.items():
        solution = method(free).solution
        if not isinstance(solution, OneFlowSbpSolution):
            continue
        result = evaluate(free, solution)
        if result.feasible and result.objective:
            used = int(result.components["memory_bytes"])
            names.setdefault(Plan(float(result.objective), used), []).append(name)
    return {", ".join(found): plan for plan, found in names.items()}


def pareto(instance: OneFlowSbpInstance, time_s: float = MOST_TIME_S) -> list[Plan]:
    """Return plans from the cheapest to the one of least memory, none worse than another in both.

    The cheapest plan, the one at the highest price, and, between any two, the one at the price at
    which these two are equal. Fewer where the time is up.
    """
    clock = Clock(Limits(time_s=time_s))
    groups = len(instance.placements)
    graph = label_graph(instance.model_copy(update={"memory_limit_bytes": None}))
    pricing = Pricing(graph, groups, _MOST_SUMS, lambda: clock.expired)
    points: list[Point] = []

    def at(price: int) -> Point | None:
        if len(points) >= MOST_PRICES:
            return None
        try:
            point = pricing.at((price,) * groups)
        except (OverflowError, OutOfTime):
            return None
        if point.cost >= FORBIDDEN:
            return None
        points.append(point)
        return point

    def between(first: Point, last: Point) -> None:
        saved = sum(first.memory_bytes) - sum(last.memory_bytes)
        if saved <= 0 or last.cost <= first.cost:
            return
        middle = at((last.cost - first.cost) // saved)
        if middle is not None and first.cost < middle.cost < last.cost:
            between(first, middle)
            between(middle, last)

    cheapest = at(0)
    if cheapest is not None:
        price = max(1, cheapest.cost // (8 * max(1, sum(cheapest.memory_bytes))))
        leanest = cheapest
        while (point := at(price)) is not None and len(points) <= MOST_PRICES // 2:
            same = sum(point.memory_bytes) == sum(leanest.memory_bytes)
            leanest = point
            if same and point is not cheapest and len(points) > 4:
                break
            price *= 4
        between(cheapest, leanest)
    return _undominated(points, graph.scale)


def _undominated(points: list[Point], scale: Fraction) -> list[Plan]:
    plans = sorted({(p.cost, max(p.memory_bytes)) for p in points})
    front, least = [], math.inf
    for cost, used in plans:
        if used < least:
            front.append(Plan(float(cost / scale), used))
            least = used
    return front
