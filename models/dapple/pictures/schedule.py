"""The Gantt chart of an iteration, with the pivot of the paper's latency marked."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.pieces.pipeline.bound import head_load_tail
from gadgetopt.pieces.pipeline.pivot_latency import latency_s, pivot_of
from gadgetopt.reporting.figures import RED
from gadgetopt.reporting.pipelines import gantt
from gadgetopt.system.declaring import picture

from ..instance import DappleInstance, DappleSolution
from ..schedule import schedule_of
from ..subproblems.copies import longest_copy


@picture()
def draw(instance: DappleInstance, solution: DappleSolution) -> go.Figure:
    """Blocks of stages and links over time, the paper's pivot marked.

    Draw blocks, transfers and AllReduce over time; the pivot, the bound and the latency. Of several
    copies of the pipeline it is the one that ends last.
    """
    shop, copy = longest_copy(instance, solution)
    schedule = schedule_of(shop, copy)
    f, b, a = (row.tolist() for row in shop.in_seconds())
    M = shop.num_microbatches
    pivot = pivot_of(f, b, a, M)
    latency = float(latency_s(f, b, a, M, pivot))
    names = machine_names(shop.num_machines)
    names[pivot] = f"<b>pivot: {names[pivot]}</b>"
    bound_s = float(head_load_tail(shop).value_s)
    figure = gantt(
        schedule,
        names,
        bound_s,
        f"dashed: no order of this plan ends before {bound_s:.6g} s; "
        f"red: the planner's latency of {latency:.6g} s, an estimate",
    )
    figure.add_vline(x=latency, line={"color": RED, "width": 2, "dash": "dot"})
    return figure


def machine_names(count: int) -> list[str]:
    """Return the names of stage 0, link 0, stage 1, ..."""
    return [f"link {q // 2}" if q % 2 else f"stage {q // 2}" for q in range(count)]
