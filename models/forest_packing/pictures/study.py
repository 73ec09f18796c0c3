"""Pictures of an instance: accuracy of the approximation, and time against message size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gadgetopt.errors import InputError
from gadgetopt.reporting.figures import BRIGHT, INK, TEMPLATE
from gadgetopt.system.declaring import picture
from gadgetopt.system.files import Document
from gadgetopt.system.result import Limits, Result, Status
from gadgetopt.trust.run import solve

from ..algorithms.exact_plans import prove
from ..algorithms.multiplicative_weights import Packing, pack_columns
from ..algorithms.schedule import (
    Phase,
    best_chunks,
    chunked_time_s,
    phases,
)
from ..instance import ForestPackingInstance, ForestPackingSolution
from ..packing import Pair
from ..subproblems.price_oracles import Oracle, make_oracle

#: Limit of each run of a method.
_LIMITS = Limits(time_s=8.0)

#: Accuracies that are tried, and the most iterations that one may need by its theorem.
_EPS = (0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03)
_ITERATIONS = 20_000

#: Relative difference of a rate and a bound that are the same.
_CLOSED = 1e-9

#: Latency of a hop where the instance has none.
_HOP_S = 1e-6

#: Message sizes in GB: 1 KB to 10 GB.
_SIZES = tuple(float(x) for x in np.logspace(-6, 1, 29))

#: Names of the methods in the picture, and a colour for each family.
_FAMILIES = (
    (
        BRIGHT[0],
        ("column_generation", "optimal packing"),
        ("forest_packing", "forest packing"),
        ("forestcoll", "ForestColl"),
        ("greedy_peel", "greedy trees"),
    ),
    (
        BRIGHT[1],
        ("ring", "ring"),
        ("best_ring", "best ring"),
        ("ring_bidirectional", "ring, both ways"),
    ),
    (
        BRIGHT[2],
        ("blueconnect", "BlueConnect"),
        ("recursive_halving_doubling", "halving and doubling"),
    ),
    (
        BRIGHT[3],
        ("double_binary_tree", "double binary tree"),
        ("single_tree", "best single tree"),
    ),
    (
        BRIGHT[5],
        ("ps_multi_opt", "parameter servers, best"),
        ("ps_multi", "parameter servers, equal"),
        ("ps_single", "one parameter server"),
    ),
)
_DASHES = ("solid", "dash", "dot", "dashdot")


@dataclass(frozen=True)
class Accuracy:
    """Results of the approximation with one epsilon: rates in both scalings and the bound, GB/s."""

    eps: float
    rate: float
    theory_rate: float
    bound: float
    iterations: int


@dataclass(frozen=True)
class Contender:
    """A method's plan as the pipelines that run one after the other, for 1 GB."""

    name: str
    colour: str
    dash: str
    pipelines: tuple[Phase, ...]

    @property
    def fluid_s(self) -> float:
        """Seconds without latency."""
        return sum(p.fluid_s for p in self.pipelines)

    def time_s(self, gbyte: float, hop_s: float) -> tuple[float, int]:
        """Return T(m*) and m* for a message."""
        scaled = [Phase(p.fluid_s * gbyte, p.depth) for p in self.pipelines]
        chunks = best_chunks(scaled, hop_s) or 1
        return chunked_time_s(scaled, chunks, hop_s), chunks


@picture(of="instance")
def accuracy(instance: ForestPackingInstance) -> go.Figure:
    """Rate against epsilon, with the certified band.

    Draw the approximation's rate and bound against epsilon, and the optimum if it is known.

    Epsilon goes down to where the theorem allows 20,000 iterations.

    Raises
    ------
    InputError
        If the instance restricts its trees, or no tree spans the workers.
    """
    if instance.restricted:
        raise InputError("accuracy: the instance restricts its trees, expected no restriction")
    points = accuracies(instance)
    if not points or points[0].rate == 0:
        raise InputError("accuracy: expected a network on which every worker reaches every other")
    optimum = _optimum(_solved(instance, "column_generation"))
    eps = [p.eps for p in points]
    figure = go.Figure()
    figure.add_scatter(
        x=eps + eps[::-1],
        y=[p.bound for p in points] + [p.rate for p in points][::-1],
        fill="toself",
        fillcolor="#dbe5ef",
        line={"width": 0},
        mode="lines",
        name="certified: the optimum is in here",
        hoverinfo="skip",
    )
    congested, as_proved = [p.rate for p in points], [p.theory_rate for p in points]
    lines = [
        ("proved bound", [p.bound for p in points], BRIGHT[5], "triangle-down", "solid"),
        ("rate, scaled by its congestion", congested, BRIGHT[0], "circle", "solid"),
        ("rate, scaled as in the proof", as_proved, BRIGHT[2], "square", "dot"),
    ]
    if optimum is not None:
        promise = [(1 - e) ** 2 * optimum for e in eps]
        lines.append(("promised: (1-eps)² times the optimum", promise, "#777777", "", "dash"))
    for name, values, colour, symbol, dash in lines:
        figure.add_scatter(
            x=eps,
            y=values,
            name=name,
            mode="lines+markers" if symbol else "lines",
            line={"color": colour, "width": 2, "dash": dash},
            marker={"symbol": symbol or "circle", "size": 8},
            text=[f"{p.iterations} iterations" for p in points],
            hovertemplate="eps %{x}: %{y:.5g} GB/s, %{text}<extra></extra>",
        )
    if optimum is not None:
        figure.add_hline(
            y=optimum,
            line={"color": INK, "width": 1.5, "dash": "dash"},
            annotation={"text": f"optimum {optimum:.5g}", "font": {"color": INK}},
            annotation_position="top right",
        )
    last = points[-1]
    figure.update_layout(
        title={
            "text": "Near-optimal packing: rate against accuracy",
            "subtitle": {
                "text": f"at epsilon {last.eps:g}, after {last.iterations} iterations, the rate "
                f"is proved to be within {100 * (1 - last.rate / last.bound):.2g} % of the optimum"
            },
            "x": 0.02,
        },
        template=TEMPLATE,
        width=900,
        height=560,
        margin={"t": 110},
        xaxis={
            "title": {"text": "epsilon (smaller is more accurate)"},
            "type": "log",
            "autorange": "reversed",
            "tickvals": eps,
            "ticktext": [f"{e:g}" for e in eps],
        },
        yaxis={"title": {"text": "rate in GB/s"}, "rangemode": "tozero"},
        legend={"x": 0.98, "xanchor": "right", "y": 0.04, "yanchor": "bottom"},
    )
    return figure


@picture(of="instance")
def message_size(instance: ForestPackingInstance) -> go.Figure:
    """Time against message size, every algorithm.

    On the right: the part of the best rate that a plan reaches. Methods that refuse the instance,
    or find no plan in a few seconds, are left out.

    Raises
    ------
    InputError
        If no method has a plan.
    """
    hop_s = instance.hop_latency_s or _HOP_S
    field, bounds = [], []
    for colour, *family in _FAMILIES:
        for (name, title), dash in zip(family, _DASHES, strict=False):
            result = _solved(instance, name)
            bounds.append(result.bound)
            plan = _pipelines(instance, result)
            if plan is not None:
                field.append(Contender(title, colour, dash, plan))
    if not field:
        raise InputError("message_size: expected an instance for which some method has a plan")
    # Without a proved bound the best rate stands for the optimum.
    proved = [float(bound) for bound in bounds if bound is not None]
    fluid_s = 1 / min(proved) if proved else min(c.fluid_s for c in field)
    figure = make_subplots(
        cols=2,
        subplot_titles=("time", "part of the best rate that is reached"),
        horizontal_spacing=0.09,
    )
    sizes = [1e9 * gbyte for gbyte in _SIZES]
    fastest, slowest = np.inf, 0.0
    for k, contender in enumerate(field):
        times = [contender.time_s(gbyte, hop_s) for gbyte in _SIZES]
        reached = [fluid_s * gbyte / t for gbyte, (t, _) in zip(_SIZES, times, strict=True)]
        fastest, slowest = min(fastest, times[0][0]), max(slowest, times[-1][0])
        depth = sum(p.depth for p in contender.pipelines)
        style = {
            "color": contender.colour,
            "dash": contender.dash,
            "width": 3.5 if k == 0 else 1.8,
        }
        for col, values, unit in ((1, [t for t, _ in times], "s"), (2, reached, "")):
            figure.add_scatter(
                x=sizes,
                y=values,
                name=f"{contender.name} ({depth} hops)",
                legendgroup=contender.name,
                showlegend=col == 1,
                mode="lines",
                line=style,
                text=[f"{m} chunks" for _, m in times],
                hovertemplate=f"{contender.name}: %{{y:.3g}} {unit}, %{{text}}<extra></extra>",
                row=1,
                col=col,
            )
    figure.add_scatter(
        x=sizes,
        y=[fluid_s * gbyte for gbyte in _SIZES],
        name="fluid bound",
        mode="lines",
        line={"color": INK, "width": 1.5, "dash": "dash"},
        hovertemplate="no plan is faster than %{y:.3g} s<extra></extra>",
        row=1,
        col=1,
    )
    assumed = "" if instance.hop_latency_s else ", which the instance leaves open"
    figure.update_xaxes(
        title="message",
        type="log",
        range=[2.85, 10.1],
        tickvals=[1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10],
        ticktext=["1 KB", "10", "100", "1 MB", "10", "100", "1 GB", "10"],
    )
    figure.update_yaxes(
        type="log",
        range=[np.log10(fastest) - 0.4, np.log10(slowest) + 0.2],
        tickvals=[10.0**k for k in range(-7, 4)],
        ticktext=["100 ns", "1 us", "10", "100", "1 ms", "10", "100", "1 s", "10", "100", "1000"],
        col=1,
    )
    figure.update_yaxes(tickformat=".0%", range=[0, 1.04], col=2)
    figure.update_layout(
        title={
            "text": "Time against message size",
            "subtitle": {
                "text": f"with the best number of chunks; a hop of a chunk costs "
                f"{1e6 * hop_s:g} us{assumed}; hops: up and down the deepest trees"
            },
            "x": 0.02,
        },
        template=TEMPLATE,
        width=1180,
        height=560,
        margin={"t": 120},
        legend={"tracegroupgap": 1},
    )
    return figure


# -- numbers -----------------------------------------------------------------------------------


def accuracies(instance: ForestPackingInstance) -> list[Accuracy]:
    """Return the results of the approximation for smaller and smaller epsilon."""
    oracle = make_oracle(instance)
    points: list[Accuracy] = []
    for eps in _EPS:
        most = pack_columns(oracle, Limits(time_s=0.0), eps=eps).iterations_bound
        if points and most > _ITERATIONS:
            break
        packing = pack_columns(oracle, _LIMITS, eps=eps, target_gap=None)
        theory = packing.total / packing.theory_scale
        # If it stops early, the scheme's own scaling guarantees nothing.
        theory = float("nan") if packing.limit_hit else theory
        bound = _proved(instance, oracle, packing)
        points.append(Accuracy(eps, packing.rate, theory, bound, packing.iterations))
    return points


def _proved(instance: ForestPackingInstance, oracle: Oracle, packing: Packing) -> float:
    """Return the exact bound of the best prices, or the floating-point one if none is proved."""
    proved = prove(instance, oracle, packing.prices) if packing.trees else None
    return packing.bound if proved is None else float(proved.bound)


def _solved(instance: ForestPackingInstance, method: str) -> Result:
    from .. import PROBLEM

    return solve(Document(PROBLEM, "instance", "picture", instance), method, _LIMITS)


def _optimum(result: Result) -> float | None:
    if result.objective is None or result.bound is None:
        return None
    closed = result.status is Status.OPTIMAL or (result.gap is not None and result.gap <= _CLOSED)
    return float(result.objective) if closed else None


def _pipelines(instance: ForestPackingInstance, result: Result) -> tuple[Phase, ...] | None:
    """Return the pipelines of a plan, for 1 GB; together they take as long as the plan."""
    if not isinstance(result.solution, ForestPackingSolution) or not result.objective:
        return None
    plan = phases(instance, _pairs(instance, result.solution))
    whole = sum(p.fluid_s for p in plan) * float(result.objective)
    return tuple(Phase(p.fluid_s / whole, p.depth) for p in plan)


def _pairs(instance: ForestPackingInstance, solution: ForestPackingSolution) -> list[Pair]:
    """Return a plan in the network's node numbers."""
    index = instance.network.index

    def routes(paths: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(index[v] for v in path) for path in paths)

    return [
        Pair(
            index[tree.root],
            routes(tree.in_tree),
            None if tree.out_tree is None else routes(tree.out_tree),
            tree.rate_gbyte_per_s,
        )
        for tree in solution.trees
        if tree.rate_gbyte_per_s > 0
    ]
