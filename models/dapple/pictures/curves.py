"""Speedups against the number of microbatches and against the network between machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import plotly.graph_objects as go

from gadgetopt.errors import ModelRefused
from gadgetopt.reporting.figures import BRIGHT, INK, LEGEND_ABOVE, TEMPLATE
from gadgetopt.system.declaring import picture
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.planner import Reading, planned
from ..baselines.parallel import data_parallel, straight
from ..instance import DappleInstance
from ..proving.bounds.least_bound import least_bound

#: Numbers of microbatches, and factors of the bandwidths between machines.
MICROBATCHES = (1, 2, 4, 8, 16, 32, 64, 128)
FACTORS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)

#: Seconds of the least bound of one point.
_POINT_S = 2.0

_BETWEEN = ("inter_bytes_per_s", "allreduce_inter_bytes_per_s", "multi_inter_bytes_per_s")


@picture(name="microbatches", of="instance")
def draw_microbatches(instance: DappleInstance) -> go.Figure:
    """Speedups and the certified limit against the number of microbatches."""
    points = [instance.model_copy(update={"num_microbatches": m}) for m in MICROBATCHES]
    return _speedups(points, MICROBATCHES, "microbatches", "More microbatches, shorter bubbles")


@picture(name="network", of="instance")
def draw_network(instance: DappleInstance) -> go.Figure:
    """Speedups and the certified limit against the bandwidths between machines."""
    cluster = instance.cluster
    points = []
    for factor in FACTORS:
        given = {name: getattr(cluster, name) for name in _BETWEEN}
        changed = {name: x * factor for name, x in given.items() if x is not None}
        between = cluster.model_copy(update=changed)
        points.append(instance.model_copy(update={"cluster": between}))
    title = "The network between machines decides between plans"
    return _speedups(points, FACTORS, "times the bandwidth between machines", title)


def _speedups(
    points: Sequence[DappleInstance], x: Sequence[float], axis: str, title: str
) -> go.Figure:
    methods: dict[str, Callable[..., MethodOutcome]] = {
        "data parallel": lambda instance, _: data_parallel(instance),
        "straight": lambda instance, _: straight(instance),
        "DAPPLE": partial(planned, warmup="best", reading=Reading(max_stages=3)),
    }
    figure = go.Figure()
    for k, (name, method) in enumerate(methods.items()):
        found = [_outcome(method, point) for point in points]
        figure.add_scatter(
            x=x,
            y=[_speedup(p, o and o.claimed_objective) for p, o in zip(points, found, strict=True)],
            mode="lines+markers",
            name=name,
            line={"color": BRIGHT[k]},
            hovertext=["" if o is None else f"{o.notes.get('stages', '')}" for o in found],
        )
    bounds = [_outcome(least_bound, point) for point in points]
    figure.add_scatter(
        x=x,
        y=[_speedup(p, o and o.dual_bound) for p, o in zip(points, bounds, strict=True)],
        mode="lines",
        name="no plan is faster",
        line={"color": INK, "dash": "dash"},
    )
    figure.update_layout(
        title={
            "text": title,
            "subtitle": {
                "text": "speedup over one GPU, DAPPLE with at most three stages; dashed: certified"
            },
        },
        template=TEMPLATE,
        legend=LEGEND_ABOVE,
        xaxis={"title": {"text": axis}, "type": "log", "tickvals": list(x)},
        yaxis={"title": {"text": "speedup"}, "rangemode": "tozero"},
    )
    return figure


def _outcome(
    method: Callable[..., MethodOutcome], instance: DappleInstance
) -> MethodOutcome | None:
    limits = Limits(time_s=_POINT_S) if method is least_bound else Limits()
    try:
        return method(instance, limits)
    except ModelRefused:
        return None


def _speedup(instance: DappleInstance, iteration_s: Any) -> float | None:
    if not iteration_s:
        return None
    chain = instance.chain
    one = instance.num_microbatches * (chain.fwd_sum_s[-1] + chain.bwd_sum_s[-1])
    return float(one) / float(iteration_s)
