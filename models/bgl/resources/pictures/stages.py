"""Stage times: a bar for every stage, with even shares and with the solution's."""

from __future__ import annotations

from fractions import Fraction

import plotly.graph_objects as go

from gadgetopt.reporting.figures import BLUE, GREY, INK, LEGEND_ABOVE, TEMPLATE
from gadgetopt.system.declaring import picture

from ..baselines.shares import even_split
from ..evaluate import stage_times
from ..instance import ResourcesInstance, ResourcesSolution
from ..proving.shares import shadow_prices

_LABELS = {
    "request_s": "sampling requests",
    "construct_s": "subgraph construction",
    "net_s": "network",
    "process_s": "subgraph processing",
    "subgraph_copy_s": "subgraph copy",
    "cache_s": "cache and feature copy",
    "gpu_s": "GPU",
}
_RESOURCES = {
    "store_cores": "a core of the store",
    "worker_cores": "a core of the worker",
    "pcie_units": "a unit of PCIe",
}


@picture()
def draw(instance: ResourcesInstance, solution: ResourcesSolution) -> go.Figure:
    """Time of every stage, before and after isolation, and what one more core brings.

    Draw the time of each stage with even shares and with those of a solution.

    The subtitle has the shadow prices: by how much the optimum falls with one more core or unit.
    """
    times = stage_times(instance, solution)
    even = even_split(instance).solution
    assert isinstance(even, ResourcesSolution), "there is an allocation, so there are even shares"
    share = {
        "request_s": _count(solution.request_cores, "core"),
        "construct_s": _count(solution.construct_cores, "core"),
        "process_s": _count(solution.process_cores, "core"),
        "subgraph_copy_s": _count(solution.subgraph_units, "unit"),
        "cache_s": f"{_count(solution.cache_cores, 'core')}, "
        + _count(solution.feature_units, "unit"),
    }
    labels = [_LABELS[k] for k in times]
    figure = go.Figure()
    for name, values, colour, texts in (
        ("even shares", stage_times(instance, even), GREY, [""] * len(times)),
        ("this solution", times, BLUE, [share.get(k, "") for k in times]),
    ):
        figure.add_trace(
            go.Bar(
                orientation="h",
                y=labels,
                x=[float(values[k]) for k in times],
                name=name,
                marker={"color": colour},
                text=texts,
                textposition="auto",
                textfont={"color": INK},
                hovertemplate="%{y}: %{x:.4g} s<extra></extra>",
            )
        )
    slowest = max(times.values())
    figure.add_vline(x=float(slowest), line={"color": INK, "width": 2, "dash": "dash"})
    saved = [
        f"{_RESOURCES[name]} {_written(price)}" for name, price in shadow_prices(instance).items()
    ]
    figure.update_layout(
        title={
            "text": f"Slowest stage {float(slowest):.4g} s a mini-batch",
            "subtitle": {"text": "one more shortens the optimum by: " + ", ".join(saved)},
        },
        barmode="group",
        template=TEMPLATE,
        legend={**LEGEND_ABOVE, "traceorder": "reversed"},
        height=480,
        margin={"t": 120},
        xaxis={"title": {"text": "time, s a mini-batch"}},
        yaxis={"autorange": "reversed"},
    )
    return figure


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _written(price: Fraction) -> str:
    return f"{float(price):.3g} s" if price else "nothing"
