"""Where the stages are: GPUs in the order of the stages, and the bandwidths between them."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.reporting.figures import BRIGHT, INK, TEMPLATE
from gadgetopt.system.declaring import picture

from ..algorithms.block_costs import bandwidth_matrix
from ..instance import SppInstance, SppSolution


@picture()
def draw(instance: SppInstance, solution: SppSolution) -> go.Figure:
    """Stages on the GPUs, in the order of the stages, with the bandwidths between them."""
    order = [v for gpus in solution.stage_devices for v in sorted(gpus)]
    b = bandwidth_matrix(instance)[np.ix_(order, order)] / 1e9
    labels = [_label(instance, v) for v in order]
    shown = np.where(np.eye(len(order), dtype=bool), np.nan, b)
    figure = go.Figure(
        go.Heatmap(
            z=shown,
            colorscale="Blues",
            colorbar={"title": {"text": "GB/s"}},
            hovertemplate="position %{y} to %{x}: %{z:.4g} GB/s<extra></extra>",
            xgap=1,
            ygap=1,
        )
    )
    at = 0
    for n, gpus in enumerate(solution.stage_devices):
        end = at + len(gpus)
        first, last = solution.stage_layers[n]
        figure.add_shape(
            type="rect",
            x0=at - 0.5,
            x1=end - 0.5,
            y0=at - 0.5,
            y1=end - 0.5,
            line={"color": BRIGHT[n % len(BRIGHT)], "width": 4},
        )
        figure.add_annotation(
            x=end - 0.5,
            y=at - 0.5,
            text=f"stage {n}: layers {first} to {last - 1}",
            showarrow=False,
            xanchor="left",
            yanchor="top",
            font={"color": INK},
            bgcolor="rgba(255,255,255,0.8)",
        )
        at = end
    ticks = {"tickvals": list(range(len(order))), "ticktext": labels, "showgrid": False}
    side = 220 + 26 * max(12, len(order))
    figure.update_layout(
        title={
            "text": f"{len(solution.stage_devices)} stages on {len(order)} GPUs",
            "subtitle": {"text": "bandwidth of every pair of GPUs; boxes are stages"},
        },
        template=TEMPLATE,
        height=side,
        width=side + 160,
        xaxis={**ticks, "title": {"text": "GPU"}},
        yaxis={**ticks, "autorange": "reversed"},
    )
    return figure


def _label(instance: SppInstance, gpu: int) -> str:
    cluster = instance.cluster
    if isinstance(cluster, TwoLevelCluster):
        return f"{gpu} (m{cluster.machine_of[gpu]})"
    return str(gpu)
