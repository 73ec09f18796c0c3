"""What every job is worth, costs and is left with at the prices of its arrival."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from .instance import PdOrsInstance, PdOrsSolution, SlotPlan
from .kernel import Plan, best_plans
from .online import best_plan
from .plot import BLUE, GREY, INK, ORANGE, checked
from .prices import PriceTable, by_arrival, price_range
from .slot_methods import SlotOptions
from .terms import Ints, JobTerms


@dataclass(frozen=True)
class Payoff:
    """What a job is worth and costs at the prices of its arrival.

    Attributes
    ----------
    job : int
    accepted : bool
    utility, cost : float
        Of its schedule; of a job that is not accepted, of the best there was.
    """

    job: int
    accepted: bool
    utility: float
    cost: float


def waterfall(instance: PdOrsInstance, solution: PdOrsSolution) -> go.Figure:
    """Draw what every job is worth, what it costs at the prices of its arrival, and what is left.

    A job that is not accepted is shown with its best schedule at that moment, if it had one; the
    external case of a slot is filled greedily for it.

    Raises
    ------
    InputError
        If the decision is infeasible.
    """
    checked(instance, solution)
    found = payoffs(instance, solution)
    names = [f"job {p.job}" for p in found]
    figure = go.Figure()
    for name, accepted, colour in (("accepted", True, BLUE), ("not accepted", False, GREY)):
        figure.add_bar(
            name=f"utility, {name}",
            x=names,
            y=[p.utility if p.accepted is accepted else None for p in found],
            marker={"color": colour},
            hovertext=[_hover(p) for p in found],
            hoverinfo="text",
        )
    figure.add_bar(
        name="cost",
        x=names,
        y=[-p.cost for p in found],
        marker={"color": ORANGE},
        hovertext=[_hover(p) for p in found],
        hoverinfo="text",
    )
    figure.add_scatter(
        name="payoff",
        x=names,
        y=[p.utility - p.cost for p in found],
        mode="markers",
        marker={"symbol": "line-ew", "size": 14, "line": {"color": INK, "width": 3}},
        hovertext=[_hover(p) for p in found],
        hoverinfo="text",
    )
    left = [p.utility - p.cost for p in found]
    top = max([p.utility for p in found], default=1.0)
    figure.update_layout(
        title={
            "text": "Utility, cost and payoff of every job at its arrival",
            "subtitle": {"text": "accepted where utility exceeds cost; jobs in order of arrival"},
        },
        barmode="relative",
        template="plotly_white",
        height=520,
        yaxis={
            "title": {"text": "utility"},
            # A job that costs a multiple of what any is worth would flatten all others.
            "range": [max(min([*left, 0.0]) * 1.05, -2 * top), 1.05 * top],
        },
    )
    return figure


def payoffs(instance: PdOrsInstance, solution: PdOrsSolution) -> list[Payoff]:
    """Return utility and cost of the jobs in order of arrival; jobs without any plan are left out.

    Prices and room are those that the accepted jobs before leave.
    """
    terms = instance.terms
    table = PriceTable.of_range(terms, price_range(instance))
    out = []
    for i in by_arrival(instance):
        job = terms.jobs[i]
        schedule = solution.schedules[i]
        if schedule is None:
            best = best_plan(job, table, _cheapest)
            if best is not None:
                payoff, plan = best
                out.append(Payoff(i, False, payoff + plan.cost, plan.cost))
            continue
        slots, machines, amounts = _usage(job, schedule)
        cost = float((table.price[slots - 1, machines] * amounts).sum())
        done = max(plan.slot for plan in schedule if any(p.workers for p in plan.placements))
        out.append(Payoff(i, True, float(job.utility[done]), cost))
        table.take(slots, machines, amounts)
    return out


def _cheapest(job: JobTerms, table: PriceTable, last_slot: int) -> dict[int, Plan]:
    return best_plans(
        job,
        table.price,
        table.room,
        options=SlotOptions("greedy"),
        progress="auto",
        last_slot=last_slot,
        alike=table.alike,
    )


def _usage(job: JobTerms, schedule: tuple[SlotPlan, ...]) -> tuple[Ints, Ints, Ints]:
    """Return slots, machines and amounts of each resource of all that a job takes."""
    entries = [
        (plan.slot, p.machine, p.workers, p.servers) for plan in schedule for p in plan.placements
    ]
    slots, machines, w, s = np.array(entries, dtype=np.int64).reshape(-1, 4).T
    return slots, machines, w[:, None] * job.alpha + s[:, None] * job.beta


def _hover(p: Payoff) -> str:
    how = "accepted" if p.accepted else "not accepted; its best schedule"
    return (
        f"<b>job {p.job}</b>, {how}<br>utility {p.utility:.4g}, cost {p.cost:.4g}, "
        f"payoff {p.utility - p.cost:.4g}"
    )
