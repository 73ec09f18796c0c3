"""The map of counts: GPUs of each machine in each stage."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.reporting.figures import BLUE, PALE, TEMPLATE
from gadgetopt.system.declaring import picture

from ..instance import DappleInstance, DappleSolution


@picture()
def draw(instance: DappleInstance, solution: DappleSolution) -> go.Figure:
    """GPUs of each machine in each stage.

    Draw how many GPUs of each machine every stage has, and its layers.
    """
    machine_of = instance.cluster.machine_of
    machines = len(instance.cluster.gpus_per_machine)
    every = [copy.stage_devices for copy in solution.pipelines]
    rings = [tuple(v for own in every for v in own[n]) for n in range(len(solution.stage_layers))]
    counts = [
        [sum(machine_of[v] == k for v in devices) for devices in rings] for k in range(machines)
    ]
    stages = [
        f"stage {n}<br>layers {first}-{end - 1}"
        for n, (first, end) in enumerate(solution.stage_layers)
    ]
    figure = go.Figure(
        go.Heatmap(
            x=stages,
            y=[f"machine {k}" for k in range(machines)],
            z=counts,
            text=[[str(count) if count else "" for count in row] for row in counts],
            texttemplate="%{text}",
            colorscale=[[0, PALE], [1, BLUE]],
            zmin=0,
            showscale=False,
            xgap=2,
            ygap=2,
            hovertemplate="%{y}, %{x}: %{z} GPUs<extra></extra>",
        )
    )
    spanning = sum(len({machine_of[v] for v in devices}) > 1 for devices in rings)
    copies = f", {len(every)} copies" if len(every) > 1 else ""
    figure.update_layout(
        title={
            "text": f"{len(stages)} stages on {machines} machines{copies}",
            "subtitle": {"text": f"GPUs of each machine in each stage; {spanning} span machines"},
        },
        template=TEMPLATE,
        height=170 + max(120, 34 * machines),
        yaxis={"autorange": "reversed"},
    )
    return figure
