"""A check period of each worker: between two commits it computes."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.reporting.figures import BAR, BLUE, LEGEND_ABOVE, ORANGE, TEMPLATE
from gadgetopt.system.declaring import picture

from ..evaluate import evaluate
from ..instance import AdspRatesInstance, AdspRatesSolution

#: Workers drawn; of more, the first.
MOST_WORKERS = 40


@picture()
def draw(instance: AdspRatesInstance, solution: AdspRatesSolution) -> go.Figure:
    """A check period of each worker: steps and commits."""
    period = instance.check_period_s
    blocks: dict[str, tuple[list[int], list[float], list[float], list[str]]] = {
        "computes": ([], [], [], []),
        "commits": ([], [], [], []),
    }
    shown = list(zip(instance.workers, solution.commits_per_period, strict=True))[:MOST_WORKERS]
    for row, (worker, n) in enumerate(shown):
        local_s = period / n - worker.comm_time_s
        for k in range(n):
            begin = k * period / n
            for name, start, length in (
                ("computes", begin, local_s),
                ("commits", begin + local_s, worker.comm_time_s),
            ):
                rows, starts, lengths, texts = blocks[name]
                rows.append(row)
                starts.append(start)
                lengths.append(length)
                steps = f"{local_s / worker.step_time_s:.2f} steps"
                texts.append(steps if name == "computes" else f"{length:g} s")
    figure = go.Figure()
    for (name, (rows, starts, lengths, texts)), colour in zip(
        blocks.items(), (BLUE, ORANGE), strict=True
    ):
        figure.add_bar(
            **BAR, name=name, y=rows, base=starts, x=lengths, hovertext=texts, marker_color=colour
        )
    found = evaluate(instance, solution)
    figure.update_layout(
        title={
            "text": f"{_label(instance)} {float(found.objective or 0):.6g}",
            "subtitle": {
                "text": f"{float(found.components['mean_steps_per_period']):.4g} steps of a mean "
                f"worker in a period, at most {float(found.components['most_local_steps']):.4g} "
                "between two commits"
            },
        },
        barmode="overlay",
        template=TEMPLATE,
        legend=LEGEND_ABOVE,
        height=170 + max(120, 26 * len(shown)),
        xaxis={"title": {"text": "time in the check period, s"}, "range": [0, period]},
        yaxis={
            "range": [len(shown) - 0.5, -0.5],
            "tickvals": list(range(len(shown))),
            "ticktext": [
                f"worker {i}: {w.step_time_s:g} s a step, {n} commits"
                for i, (w, n) in enumerate(shown)
            ],
            "showgrid": False,
        },
    )
    return figure


def _label(instance: AdspRatesInstance) -> str:
    names = {
        "error_bound": "Error bound",
        "time_to_accuracy": "Seconds to accuracy",
        "momentum_cap": "Steps lost in a period",
    }
    return names[instance.model.kind]
