"""Iteration time against the number of stages, and against the number of microbatches."""

from __future__ import annotations

from fractions import Fraction

import plotly.graph_objects as go

from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.pipeline.bound import head_load_tail
from gadgetopt.pieces.pipeline.instance import Layer
from gadgetopt.reporting.figures import BRIGHT, INK, LEGEND_ABOVE, TEMPLATE
from gadgetopt.system.declaring import picture
from gadgetopt.system.result import Limits

from ..algorithms.device_order import rdo_order
from ..algorithms.prm import prm_of
from ..algorithms.spp import pe, plan_of, spp
from ..evaluate import evaluate
from ..instance import SppInstance, SppSolution

#: Numbers of microbatches that one minibatch is split into.
SPLITS = (1, 2, 4, 8, 16, 32, 64)


@picture(name="stages", of="instance")
def draw_stages(instance: SppInstance) -> go.Figure:
    """Iteration time, bound and load of SPP's plans against the number of stages.

    Draw makespan, bound and largest load of PRM's plan for every number of stages.
    """
    gpus = rdo_order(instance)
    prm = prm_of(instance, gpus)
    stages, loads, bounds, times = [], [], [], []
    for xi in range(1, instance.most_stages + 1):
        if xi > 1:
            prm.extend()
        found = prm.best(xi)
        if found is None:
            continue
        schedule = pe(instance, plan_of(found, gpus))
        stages.append(xi)
        loads.append(found.load_s)
        bounds.append(float(head_load_tail(schedule.shop).value_s))
        times.append(float(schedule.makespan_s))
    figure = go.Figure()
    for name, values, colour, dash in (
        ("iteration time T, PE", times, BRIGHT[0], "solid"),
        ("head-load-tail bound of the plan", bounds, BRIGHT[2], "dash"),
        ("largest load W", loads, BRIGHT[1], "dot"),
    ):
        figure.add_scatter(
            x=stages,
            y=values,
            name=name,
            mode="lines+markers",
            line={"color": colour, "dash": dash},
        )
    best = min(times, default=0.0)
    figure.update_layout(
        title={
            "text": f"SPP by number of stages: best {best:.6g} s",
            "subtitle": {"text": "PRM minimises W, not T"},
        },
        template=TEMPLATE,
        height=480,
        legend=LEGEND_ABOVE,
        xaxis={"title": {"text": "stages"}},
        yaxis={"title": {"text": "s"}, "rangemode": "tozero"},
    )
    return figure


@picture(name="microbatches", of="instance")
def draw_microbatches(instance: SppInstance) -> go.Figure:
    """Iteration time of SPP against the microbatches that one minibatch is split into."""
    splits, times, loads, stages = [], [], [], []
    for M in SPLITS:
        again = resplit(instance, M)
        solution = spp(again, Limits()).solution
        if not isinstance(solution, SppSolution):
            continue  # no plan fits into memory
        judged = evaluate(again, solution)
        splits.append(M)
        times.append(float(judged.objective or 0))
        loads.append(float(judged.components["max_load_s"]))
        stages.append(f"{judged.components['stages']} stages")
    figure = go.Figure()
    figure.add_scatter(
        x=splits,
        y=times,
        name="iteration time T",
        mode="lines+markers+text",
        text=stages,
        textposition="top center",
        textfont={"color": INK},
        line={"color": BRIGHT[0]},
    )
    figure.add_scatter(
        x=splits,
        y=loads,
        name="largest load W of its plan",
        mode="lines+markers",
        line={"color": BRIGHT[1], "dash": "dot"},
    )
    figure.update_layout(
        title={
            "text": "One minibatch in more and more microbatches",
            "subtitle": {"text": "SPP; times and activations of a microbatch shrink with it"},
        },
        template=TEMPLATE,
        height=480,
        legend=LEGEND_ABOVE,
        xaxis={"title": {"text": "microbatches"}, "type": "log", "tickvals": list(SPLITS)},
        yaxis={"title": {"text": "s"}, "rangemode": "tozero"},
    )
    return figure


def resplit(instance: SppInstance, microbatches: int) -> SppInstance:
    """Return the instance with its minibatch split into another number of microbatches."""
    part = Fraction(instance.num_microbatches, microbatches)

    def scaled(value: float | None) -> float | None:
        return None if value is None else float(decimal_rational(value) * part)

    def of(layer: Layer) -> Layer:
        sizes = ("fwd_time_s", "bwd_time_s", "act_bytes", "grad_bytes", "stash_bytes")
        return layer.model_copy(update={name: scaled(getattr(layer, name)) for name in sizes})

    return instance.model_copy(
        update={"layers": tuple(map(of, instance.layers)), "num_microbatches": microbatches}
    )
