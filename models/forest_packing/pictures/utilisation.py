"""Picture of link utilisation: a heat map for small networks, bars for others."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gadgetopt.numbers.arrays import Floats
from gadgetopt.reporting.figures import BRIGHT, INK, TEMPLATE
from gadgetopt.system.declaring import picture

from ..instance import ForestPackingInstance, ForestPackingSolution, Stage
from ..network import Network
from .trees import (
    lightened,
    stage_loads,
    total_rate,
    written_rate,
)

#: Heat maps are of at most so many nodes, and write the numbers of at most so many.
_MAPPED_NODES, _WRITTEN_NODES = 24, 10


@picture()
def utilisation(instance: ForestPackingInstance, solution: ForestPackingSolution) -> go.Figure:
    """Load of every link.

    Draw the part of the time that every link of a feasible plan is busy, by stage.

    Small networks are a heat map, source by destination; others, and those whose links share
    limits (half duplex, NICs), are bars.
    """
    network = instance.network
    busy = {stage: busy_rows(instance, solution, stage) for stage in instance.stages}
    if network.only_arc_rows and network.num_nodes <= _MAPPED_NODES:
        figure = _heat_maps(network, busy)
    else:
        figure = _bars(network, busy)
    together = np.sum(list(busy.values()), axis=0)
    full = int((together > 1 - 1e-9).sum())
    what = "links" if network.only_arc_rows else "links, cables and NICs"
    figure.update_layout(
        title={
            "text": f"Use of the network at {written_rate(total_rate(solution))} GB/s",
            "subtitle": {
                "text": f"{full} of {len(together)} {what} are busy all the time, "
                f"the average is busy {100 * float(together.mean() if len(together) else 0):.0f} %"
                " of it"
            },
            "x": 0.02,
        },
        template=TEMPLATE,
    )
    return figure


def busy_rows(
    instance: ForestPackingInstance, solution: ForestPackingSolution, stage: Stage
) -> Floats:
    """Return the part of the time that a stage keeps each row busy, shape (rows,)."""
    network = instance.network
    load = np.zeros(len(network.arcs))
    for (u, v), rate in stage_loads(solution.trees, stage).items():
        load[network.arc_index[network.index[u], network.index[v]]] = rate
    on_row = np.array([load[list(row.arcs)].sum() for row in network.rows])
    return on_row / network.row_capacity_float


# -- traces of the utilisation -----------------------------------------------------------------


def _heat_maps(network: Network, busy: dict[Stage, Floats]) -> go.Figure:
    """One map for each stage and one for both together."""
    maps: dict[str, Floats] = {str(stage): part for stage, part in busy.items()}
    if len(busy) > 1:
        maps["together"] = np.sum(list(busy.values()), axis=0)
    figure = make_subplots(
        cols=len(maps), subplot_titles=list(maps), horizontal_spacing=0.06, shared_yaxes=True
    )
    labels = [str(label) for label in network.labels]
    n = network.num_nodes
    for k, part in enumerate(maps.values(), 1):
        table = np.full((n, n), np.nan)
        table[network.tails, network.heads] = part
        figure.add_trace(
            go.Heatmap(
                x=labels,
                y=labels,
                z=table,
                coloraxis="coloraxis",
                texttemplate="%{z:.2f}" if n <= _WRITTEN_NODES else None,
                xgap=1,
                ygap=1,
                hoverongaps=False,
                hovertemplate="%{y} to %{x}: busy %{z:.1%} of the time<extra></extra>",
            ),
            row=1,
            col=k,
        )
    side = float(np.clip(34 * n, 260, 430))
    figure.update_xaxes(title="to", type="category", showgrid=False, constrain="domain")
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    figure.update_yaxes(title="from", col=1)
    figure.update_layout(
        coloraxis={
            "colorscale": "Cividis",
            "reversescale": True,
            "cmin": 0,
            "cmax": 1,
            "colorbar": {"title": {"text": "busy"}, "tickformat": ".0%"},
        },
        plot_bgcolor="#f2f2f2",
        width=side * len(maps) + 200,
        height=side + 190,
        margin={"t": 130, "l": 70, "b": 60},
    )
    return figure


def _bars(network: Network, busy: dict[Stage, Floats]) -> go.Figure:
    """The rows from the fullest on, stages stacked."""
    together = np.sum(list(busy.values()), axis=0)
    order = np.argsort(-together.round(9), kind="stable")
    names = [network.rows[i].name.replace("->", " to ") for i in order]
    figure = go.Figure()
    for stage, colour in (("reduce", BRIGHT[0]), ("broadcast", lightened(BRIGHT[0]))):
        if stage in busy:
            figure.add_bar(
                x=names,
                y=busy[stage][order],
                name=stage,
                marker={"color": colour, "line": {"width": 0}},
                hovertemplate="%{x}: %{y:.1%}<extra>" + stage + "</extra>",
            )
    figure.add_hline(y=1, line={"color": INK, "width": 1, "dash": "dash"})
    few = len(names) <= 60
    figure.update_layout(
        barmode="stack",
        bargap=0.15 if few else 0.0,
        width=1000,
        height=480,
        margin={"t": 110},
        xaxis={
            "type": "category",
            "title": {"text": "links, the busiest first"},
            "showticklabels": few,
        },
        yaxis={"title": {"text": "busy part of the time"}, "tickformat": ".0%", "range": [0, 1.05]},
        legend={"title": {"text": "stage"}, "traceorder": "normal"},
    )
    return figure
