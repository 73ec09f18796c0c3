"""The latency for every pivot, beside what bounds it and what is simulated."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.pieces.pipeline.bound import machine_bounds
from gadgetopt.pieces.pipeline.pivot_latency import latency_s, pivot_of
from gadgetopt.reporting.figures import BLUE, BRIGHT, INK, LEGEND_ABOVE, ORANGE, RED, TEMPLATE
from gadgetopt.system.declaring import picture

from ..algorithms.schedules import record_of
from ..instance import DappleInstance, DappleSolution
from ..schedule import schedule_of
from ..subproblems.copies import longest_copy
from .schedule import machine_names


@picture()
def draw(instance: DappleInstance, solution: DappleSolution) -> go.Figure:
    """The latency for every pivot beside the bound and simulated makespans."""
    shop, copy = longest_copy(instance, solution)
    f, b, a = (row.tolist() for row in shop.in_seconds())
    M = shop.num_microbatches
    names = machine_names(shop.num_machines)
    latencies = [float(latency_s(f, b, a, M, q)) for q in range(len(f))]
    bounds = [0.0] * len(f)
    for bound in machine_bounds(shop):
        bounds[bound.machine] = max(bounds[bound.machine], float(bound.value_s))
    pivot = pivot_of(f, b, a, M)
    colours = [RED if q == pivot else ORANGE for q in range(len(f))]
    figure = go.Figure(
        [
            go.Bar(
                x=names, y=latencies, name="latency around the pivot", marker={"color": colours}
            ),
            go.Bar(x=names, y=bounds, name="lower bound of the plan", marker={"color": BLUE}),
        ]
    )
    known = {name: float(value) for name, value in record_of(shop).makespan_s.items()}
    known["this schedule"] = float(schedule_of(shop, copy).makespan_s)
    for k, (name, makespan_s) in enumerate(known.items()):
        figure.add_scatter(
            x=names,
            y=[makespan_s] * len(names),
            mode="lines",
            name=name,
            line={
                "color": INK if name == "this schedule" else BRIGHT[k % len(BRIGHT)],
                "dash": "solid" if name == "this schedule" else "dash",
            },
        )
    figure.update_layout(
        title={
            "text": f"The paper's latency is {latencies[pivot]:.6g} s, no order of the plan is "
            f"shorter than {max(bounds):.6g} s",
            "subtitle": {"text": "red: the pivot of the printed rule; lines: makespans"},
        },
        template=TEMPLATE,
        barmode="group",
        legend=LEGEND_ABOVE,
        yaxis={"title": {"text": "s"}},
        xaxis={"title": {"text": "pivot"}},
    )
    return figure
