"""Waterfall of utility, cost and payoff of every job at the prices of its arrival."""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gadgetopt.reporting.figures import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    TEMPLATE,
)
from gadgetopt.system.declaring import picture

from ..algorithms.online import best_plan
from ..instance import PdOrsInstance, PdOrsSolution
from ..subproblems.kernel import Plan, best_plans, usage_of
from ..subproblems.prices import PriceTable, by_arrival, price_range
from ..subproblems.slot_methods import SlotOptions
from ..terms import JobTerms

#: ln(U / L) of the second row. The paper's L is often so low that nothing costs anything until
#: a machine is almost full (reconstructed).
_SPAN = 10.0


@dataclass(frozen=True)
class Payoff:
    """Utility and cost of a job at the prices of its arrival.

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


@picture(name="payoffs")
def waterfall(instance: PdOrsInstance, solution: PdOrsSolution) -> go.Figure:
    """Utility, cost and payoff of every job at the prices of its arrival.

    A job that is not accepted is shown with its best schedule at that moment, if it had one; the
    external case of a slot is filled greedily for it.
    """
    figure = make_subplots(
        rows=2,
        cols=1,
        vertical_spacing=0.14,
        subplot_titles=("at the prices of the paper's L", f"at log_price_span = {_SPAN:g}"),
    )
    for row, span in ((1, None), (2, _SPAN)):
        _add_jobs(figure, row, payoffs(instance, solution, log_price_span=span))
    figure.update_layout(
        title={
            "text": "Utility, cost and payoff of every job at its arrival",
            "subtitle": {"text": "jobs in order of arrival; one is worth accepting above 0"},
        },
        barmode="relative",
        template=TEMPLATE,
        height=820,
    )
    figure.update_yaxes(title_text="utility")
    return figure


def _add_jobs(figure: go.Figure, row: int, found: list[Payoff]) -> None:
    names = [f"job {p.job}" for p in found]
    hover = {"hovertext": [_hover(p) for p in found], "hoverinfo": "text"}
    shown = {"showlegend": row == 1}
    for name, accepted, colour in (("accepted", True, BLUE), ("not accepted", False, GREY)):
        figure.add_bar(
            name=f"utility, {name}",
            x=names,
            y=[p.utility if p.accepted is accepted else None for p in found],
            marker={"color": colour},
            legendgroup=name,
            row=row,
            col=1,
            **hover,
            **shown,
        )
    figure.add_bar(
        name="cost",
        x=names,
        y=[-p.cost for p in found],
        marker={"color": ORANGE},
        legendgroup="cost",
        row=row,
        col=1,
        **hover,
        **shown,
    )
    left = [p.utility - p.cost for p in found]
    figure.add_scatter(
        name="payoff",
        x=names,
        y=left,
        mode="markers",
        marker={"symbol": "line-ew", "size": 14, "line": {"color": INK, "width": 3}},
        legendgroup="payoff",
        row=row,
        col=1,
        **hover,
        **shown,
    )
    # A job whose cost is a multiple of the largest utility would flatten all others.
    top = max([p.utility for p in found], default=1.0)
    figure.update_yaxes(range=[max(min([*left, 0.0]) * 1.05, -2 * top), 1.05 * top], row=row)


def payoffs(
    instance: PdOrsInstance, solution: PdOrsSolution, *, log_price_span: float | None = None
) -> list[Payoff]:
    """Return utility and cost of the jobs in order of arrival; jobs without any plan are left out.

    Prices and room are those that the accepted jobs before leave, with U and L as in
    `prices.price_range`.
    """
    terms = instance.terms
    table = PriceTable.of_range(terms, price_range(instance, log_price_span=log_price_span))
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
        taken = usage_of(job, schedule)
        cost = float((table.price[taken.slots - 1, taken.machines] * taken.amounts).sum())
        done = max(plan.slot for plan in schedule if any(p.workers for p in plan.placements))
        out.append(Payoff(i, True, float(job.utility[done]), cost))
        table.take(taken.slots, taken.machines, taken.amounts)
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


def _hover(p: Payoff) -> str:
    how = "accepted" if p.accepted else "not accepted; its best schedule"
    return (
        f"<b>job {p.job}</b>, {how}<br>utility {p.utility:.4g}, cost {p.cost:.4g}, "
        f"payoff {p.utility - p.cost:.4g}"
    )
