"""The Gantt chart of an iteration: a row for every stage and channel."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.pieces.pipeline.bound import head_load_tail
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.pieces.pipeline.simulator import machine_name, simulate
from gadgetopt.reporting.pipelines import gantt
from gadgetopt.system.declaring import picture

from ..instance import SppInstance, SppSolution


@picture()
def draw(instance: SppInstance, solution: SppSolution) -> go.Figure:
    """Blocks of stages and channels over time, with bubbles and AllReduce.

    Draw forward and backward blocks, transfers and AllReduce over time.
    """
    shop = shop_of(instance, solution.plan)
    schedule = simulate(shop, solution.orders)
    bound_s = float(head_load_tail(shop).value_s)
    idle = max(schedule.idle_fractions)
    return gantt(
        schedule,
        [machine_name(q) for q in range(shop.num_machines)],
        bound_s,
        f"dashed: no order of this plan ends before {bound_s:.6g} s; "
        f"every stage computes at least {1 - idle:.0%} of the time",
    )
