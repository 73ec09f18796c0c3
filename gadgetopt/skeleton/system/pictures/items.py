"""Items: a bar for each, as long as its weight, the chosen ones in colour."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.reporting.figures import BAR, BLUE, GREY, TEMPLATE
from gadgetopt.system.declaring import picture

from ..evaluate import evaluate
from ..instance import SkeletonInstance, SkeletonSolution


@picture()
def draw(
    instance: SkeletonInstance,
    solution: SkeletonSolution,
) -> go.Figure:
    """The weight of every item, and which are chosen.

    The choice is feasible. What is written on a bar is the item's value.
    """
    items = list(range(len(instance.weight_kg)))
    chosen = set(solution.chosen)
    found = evaluate(instance, solution)
    figure = go.Figure(
        go.Bar(
            **BAR,
            y=items,
            x=list(instance.weight_kg),
            marker={"color": [BLUE if i in chosen else GREY for i in items]},
            text=list(map(str, instance.value)),
            hovertext=[f"<b>item {i}</b><br>value {instance.value[i]}" for i in items],
        )
    )
    figure.update_layout(
        title={
            "text": f"Value {found.objective} of {len(chosen)} items",
            "subtitle": {
                "text": f"{found.components['weight_kg']} of {instance.capacity_kg} kg; on each "
                "bar its value"
            },
        },
        template=TEMPLATE,
        height=170 + max(120, 24 * len(items)),
        xaxis={"title": {"text": "weight, kg"}},
        yaxis={"title": {"text": "item"}, "autorange": "reversed"},
    )
    return figure
