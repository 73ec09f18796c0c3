"""Curves: misses over the capacity, and over the number of sequences of BGL's order."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from gadgetopt.errors import InputError
from gadgetopt.reporting.figures import BRIGHT, INK, LEGEND_ABOVE, TEMPLATE
from gadgetopt.system.declaring import picture

from ..baselines.policies import static_frequency
from ..evaluate import evaluate
from ..heuristics.orders import retained
from ..instance import CacheInstance, CacheSolution
from ..subproblems.replay import POLICIES, replay
from ..subproblems.sequences import Proximity

#: Capacities on a curve, numbers of sequences, and orders that are meaned for each of these.
_CAPACITIES, _SEQUENCES, _ORDERS = 12, (1, 2, 3, 4, 6, 8, 12, 16), 3


@picture(of="instance")
def misses_by_capacity(instance: CacheInstance) -> go.Figure:
    """Misses of every policy over the capacity, above the envelope of Belady's rule.

    Draw the misses of the policies on the order of the file, for capacities up to all nodes.

    No policy is below the envelope, Belady's rule, and nothing below the compulsory misses. The
    loads of the static cache are counted.
    """
    plain = instance.model_copy(
        update={"weights": None, "sizes": None, "remote_cost": 1, "host_capacity": 0, "gpus": None}
    )
    nodes = len(plain.frequency)
    capacities = np.unique(np.linspace(0, nodes, _CAPACITIES).round().astype(int)).tolist()
    order = list(range(len(plain.requests)))
    names: tuple[str, ...] = ("Belady", *POLICIES, "static")
    curves: dict[str, list[int]] = {name: [] for name in names}
    for capacity in capacities:
        sized = plain.model_copy(update={"capacity": capacity})
        curves["Belady"].append(_misses(sized, retained(sized, order)))
        for policy in POLICIES:
            curves[policy].append(_misses(sized, replay(sized, order, policy)))
        static = static_frequency(sized).solution
        assert isinstance(static, CacheSolution), "a static cache is always feasible"
        curves["static"].append(_misses(sized, static))
    figure = go.Figure()
    labels = {"Belady": "Belady, optimal", "static": "static, loads counted"}
    for k, (name, misses) in enumerate(curves.items()):
        figure.add_trace(
            go.Scatter(
                x=capacities,
                y=misses,
                name=labels.get(name, name.upper()),
                mode="lines+markers",
                line={"color": INK if name == "Belady" else BRIGHT[k], "width": 2},
            )
        )
    figure.add_hline(y=nodes, line={"color": INK, "width": 1, "dash": "dot"})
    figure.update_layout(
        title={
            "text": "Misses over the capacity of the cache",
            "subtitle": {
                "text": f"dotted: {nodes} compulsory misses; the order is that of the file"
            },
        },
        template=TEMPLATE,
        legend=LEGEND_ABOVE,
        height=460,
        xaxis={"title": {"text": "capacity, nodes"}},
        yaxis={"title": {"text": "misses"}, "rangemode": "tozero"},
    )
    return figure


@picture(of="instance")
def misses_by_sequences(instance: CacheInstance) -> go.Figure:
    """Misses and shuffling error of BGL's orders over the number of sequences.

    Raises
    ------
    InputError
        If the instance has no graph.
    """
    if instance.graph is None:
        raise InputError("graph: missing, and proximity-aware orders need one")
    proximity = Proximity(instance.graph, instance.batch_size)
    free = instance.model_copy(update={"order": "free", "gpus": None})
    rng = np.random.default_rng(0)
    fifo, best, errors = [], [], []
    for sequences in _SEQUENCES:
        orders = [proximity.order(sequences, rng) for _ in range(_ORDERS)]
        fifo.append(np.mean([_misses(free, replay(free, order, "fifo")) for order in orders]))
        best.append(np.mean([_misses(free, retained(free, order)) for order in orders]))
        errors.append(np.mean([proximity.shuffling_error(order, rng) for order in orders]))
    figure = go.Figure()
    for name, values, colour in (("FIFO", fifo, BRIGHT[1]), ("Belady", best, INK)):
        figure.add_trace(
            go.Scatter(
                x=_SEQUENCES,
                y=values,
                name=name,
                mode="lines+markers",
                line={"color": colour, "width": 2},
            )
        )
    figure.add_trace(
        go.Scatter(
            x=_SEQUENCES,
            y=errors,
            name="shuffling error",
            yaxis="y2",
            mode="lines+markers",
            line={"color": BRIGHT[0], "width": 2, "dash": "dash"},
        )
    )
    figure.update_layout(
        title={
            "text": "More sequences shuffle better and miss more",
            "subtitle": {
                "text": f"allowed error {proximity.allowed_error():.3g}, means of {_ORDERS} orders"
            },
        },
        template=TEMPLATE,
        legend=LEGEND_ABOVE,
        height=460,
        xaxis={"title": {"text": "sequences"}, "type": "log", "tickvals": _SEQUENCES},
        yaxis={"title": {"text": "misses"}, "rangemode": "tozero"},
        yaxis2={
            "title": {"text": "shuffling error"},
            "overlaying": "y",
            "side": "right",
            "rangemode": "tozero",
            "showgrid": False,
        },
    )
    return figure


def _misses(instance: CacheInstance, solution: CacheSolution) -> int:
    parts = evaluate(instance, solution).components
    return int(parts["misses"] + parts["preloads"])
