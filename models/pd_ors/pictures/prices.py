"""Heat map of PD-ORS's prices of every resource by machine and slot, as jobs arrive."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.reporting.figures import TEMPLATE
from gadgetopt.system.declaring import picture

from ..instance import PdOrsInstance, PdOrsSolution
from ..subproblems.prices import PriceTable, price_range, replay
from .schedule import FEW_TICKS

#: Most machines drawn; of more, this many evenly spread ones.
_DRAWN_MACHINES = 200


@picture(name="prices")
def heat_map(
    instance: PdOrsInstance, solution: PdOrsSolution, *, log_price_span: float | None = None
) -> go.Figure:
    """Price of every resource by machine and slot, as jobs arrive.

    Prices are those that the accepted jobs of any feasible decision would have led to, taken in
    order of arrival, with U and L as in `prices.price_range`. A slider goes through the slots of
    arrivals; the last one is shown first.
    """
    moments = _moments(instance, solution, log_price_span)
    shown = np.linspace(
        0, len(instance.machines) - 1, min(len(instance.machines), _DRAWN_MACHINES)
    ).astype(int)
    resources = [r for r in range(len(instance.resources)) if instance.terms.capacity[:, r].any()]
    figure = make_subplots(
        rows=1,
        cols=len(resources),
        shared_yaxes=True,
        horizontal_spacing=0.02,
        subplot_titles=[instance.resources[r] for r in resources],
    )
    last = moments[-1][1]
    slots = list(range(1, instance.horizon_slots + 1))
    for column, r in enumerate(resources, 1):
        figure.add_heatmap(
            x=slots,
            y=[str(h) for h in shown],
            z=_table(last, shown, r),
            coloraxis="coloraxis",
            hovertemplate="slot %{x}, machine %{y}<br>price 10^%{z:.2f}<extra></extra>",
            row=1,
            col=column,
        )
    everything = [prices[..., r] for _, prices in moments for r in resources]
    figure.update_layout(
        title={
            "text": "Prices of resources by machine and slot",
            "subtitle": {"text": "utility per amount of 1 (powers of ten), as jobs are accepted"},
        },
        template=TEMPLATE,
        height=260 + min(900, max(160, 14 * len(shown))),
        coloraxis={
            "colorscale": "Cividis",
            "cmin": float(min(x.min() for x in everything)),
            "cmax": float(max(x.max() for x in everything)),
            "colorbar": {"title": {"text": "log<sub>10</sub>"}},
        },
        sliders=[
            {
                "active": len(moments) - 1,
                "currentvalue": {"prefix": "after arrivals of slot "},
                "pad": {"t": 50},
                "steps": [
                    {
                        "label": name,
                        "method": "restyle",
                        "args": [{"z": [_table(prices, shown, r) for r in resources]}],
                    }
                    for name, prices in moments
                ],
            }
        ],
    )
    few = instance.horizon_slots <= FEW_TICKS
    figure.update_xaxes(title_text="slot", dtick=1 if few else None)
    figure.update_yaxes(title_text="machine", autorange="reversed", type="category", col=1)
    return figure


def _moments(
    instance: PdOrsInstance, solution: PdOrsSolution, log_price_span: float | None
) -> list[tuple[str, Floats]]:
    """Return log10 of the prices after the arrivals of every slot with any; at least one table."""
    limits = price_range(instance, log_price_span=log_price_span)
    moments: dict[int, Floats] = {}
    for i, table in replay(instance, solution, limits):
        moments[instance.jobs[i].arrival_slot] = np.log10(table.per_amount())
    if not moments:
        moments[1] = np.log10(PriceTable.of_range(instance.terms, limits).per_amount())
    return [(str(slot), prices) for slot, prices in sorted(moments.items())]


def _table(prices: Floats, shown: Ints, r: int) -> list[list[float]]:
    """Return the rows of a picture, one a machine, with few digits."""
    return np.round(prices[:, shown, r].T, 2).tolist()
