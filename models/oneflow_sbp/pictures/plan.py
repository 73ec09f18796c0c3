"""The graph of operators, coloured by the label of their output, with inserted collectives.

The network runs from left to right; data and weights are above the operators that use them, the
gradients of activations, those of weights and the updates below, under the operators whose
gradients they are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import plotly.graph_objects as go

from gadgetopt.reporting.figures import BRIGHT, GREY, INK, PALETTE, RED, TEMPLATE
from gadgetopt.system.declaring import picture

from ..boxing import LOCAL
from ..evaluate import conversion_cost, conversion_steps, evaluate, table_of
from ..instance import OneFlowSbpInstance, OneFlowSbpSolution
from ..labels import label_text
from ..tables import Edge

#: Operators drawn; of more, the first ones and their gradients.
MOST_OPERATORS = 240
#: Conversions up to which the collective is written at its edge.
_MOST_WRITTEN = 24
#: Rows of the picture, from above.
_WEIGHTS, _NETWORK, _GRADIENTS, _WEIGHT_GRADIENTS, _UPDATES = 1.4, 0.0, -1.4, -2.8, -4.2
#: Distance of operators that share a place.
_APART = 0.38


@picture()
def draw(instance: OneFlowSbpInstance, solution: OneFlowSbpSolution) -> go.Figure:
    """Operators coloured by the label of their output, with the collectives in between."""
    shown = list(range(min(len(instance.operators), MOST_OPERATORS)))
    places = positions(instance)
    figure = go.Figure()
    _draw_edges(figure, instance, solution, places, shown)
    _draw_operators(figure, instance, solution, places, shown)
    result = evaluate(instance, solution)
    parts = result.components
    unit = unit_text(instance)
    more = f"; the first {len(shown)} operators" if len(shown) < len(instance.operators) else ""
    figure.update_layout(
        title={
            "text": f"Cost {_short(float(result.objective or 0))} {unit}",
            "subtitle": {
                "text": f"{len(instance.operators)} operators, {int(parts['conversions'])} "
                f"conversions of {_bytes(float(parts['boxing_bytes']))}, "
                f"{_bytes(float(parts['memory_bytes']))} on a device{more}"
            },
        },
        template=TEMPLATE,
        height=700,
        xaxis={"visible": False},
        yaxis={
            "tickvals": [_WEIGHTS, _NETWORK, _GRADIENTS, _WEIGHT_GRADIENTS, _UPDATES],
            "ticktext": ["data, weights", "network", "gradients", "weights' gradients", "updates"],
            "showgrid": False,
            "zeroline": False,
        },
        legend={"title": {"text": "output"}},
    )
    return figure


def unit_text(instance: OneFlowSbpInstance) -> str:
    """Return the unit of the objective in words."""
    return "s" if instance.costs.unit == "seconds" else "bytes (and weighted operations)"


def positions(instance: OneFlowSbpInstance) -> list[tuple[float, float]]:
    """Return where every operator is drawn."""
    operators, number = instance.operators, instance.tables.number
    inputs = [[number[name] for name in o.inputs] for o in operators]
    last = next((k for k, o in enumerate(operators) if o.kind == "cross_entropy_grad"), None)
    end = len(operators) if last is None else last
    columns: list[float] = [0.0] * len(operators)
    rows = [_NETWORK] * len(operators)
    for o, operator in enumerate(operators[:end]):
        leads = [columns[u] for u in inputs[o] if operators[u].kind != "variable"]
        columns[o] = max(leads, default=-1.0) + 1
        if operator.kind in ("source", "variable"):
            rows[o] = _WEIGHTS
    first_use = _first_uses(inputs)
    for o, operator in enumerate(operators):
        if operator.kind in ("source", "variable") and o in first_use and first_use[o] < end:
            before = 1 if operator.kind == "source" else 0
            columns[o], rows[o] = columns[first_use[o]] - before, _WEIGHTS
    weight_of = {inputs[o][1]: inputs[o][0] for o, x in enumerate(operators) if x.kind == "update"}
    for o in range(end, len(operators)):
        if operators[o].kind in ("source", "variable"):
            columns[o], rows[o] = max(columns[:end], default=0) + 1, _WEIGHTS
            continue
        above = [columns[u] for u in inputs[o] if u < end]
        beside = [columns[u] for u in inputs[o] if u >= end]
        columns[o] = max(above) if above else min(beside, default=0.0)
        rows[o] = _GRADIENTS
        if operators[o].kind == "update":
            rows[o] = _UPDATES
        elif o in weight_of:
            columns[o], rows[o] = columns[weight_of[o]], _WEIGHT_GRADIENTS
    return _apart(columns, rows)


def _first_uses(inputs: Sequence[Sequence[int]]) -> dict[int, int]:
    uses: dict[int, int] = {}
    for o, around in enumerate(inputs):
        for u in around:
            uses.setdefault(u, o)
    return uses


def _apart(columns: Sequence[float], rows: Sequence[float]) -> list[tuple[float, float]]:
    """Move operators that share a place."""
    count: Counter[tuple[float, float]] = Counter()
    placed = []
    for place in zip(columns, rows, strict=True):
        k = count[place]
        placed.append((place[0] + 0.2 * k, place[1] - _APART * k))
        count[place] += 1
    return placed


def _draw_operators(
    figure: go.Figure,
    instance: OneFlowSbpInstance,
    solution: OneFlowSbpSolution,
    places: Sequence[tuple[float, float]],
    shown: Sequence[int],
) -> None:
    by_label: dict[str, list[int]] = defaultdict(list)
    for o in shown:
        signature = instance.tables.signatures[o][solution.signature[o]]
        by_label[label_text(signature.output)].append(o)
    colours = [*PALETTE, *BRIGHT]
    for k, (label, members) in enumerate(
        sorted(by_label.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    ):
        colour = GREY if set(label) <= set("(B,)") else colours[k % len(colours)]
        figure.add_trace(
            go.Scatter(
                x=[places[o][0] for o in members],
                y=[places[o][1] for o in members],
                mode="markers+text" if len(shown) <= 60 else "markers",
                marker={
                    "size": 17 if len(shown) <= 60 else 11,
                    "color": colour,
                    "line": {"color": INK, "width": 1},
                    "symbol": [
                        "square"
                        if instance.operators[o].kind in ("source", "variable")
                        else "circle"
                        for o in members
                    ],
                },
                text=[instance.operators[o].name for o in members],
                textposition="top center",
                textfont={"size": 9, "color": INK},
                name=label,
                hovertext=[_operator_text(instance, solution, o) for o in members],
                hoverinfo="text",
            )
        )


def _operator_text(instance: OneFlowSbpInstance, solution: OneFlowSbpSolution, o: int) -> str:
    operator = instance.operators[o]
    signature = instance.tables.signatures[o][solution.signature[o]]
    shape = "x".join(map(str, operator.shape))
    return (
        f"<b>{operator.name}</b>: {operator.kind}<br>{signature}<br>{shape}, "
        f"{_bytes(operator.tensor_bytes)}"
    )


def _draw_edges(
    figure: go.Figure,
    instance: OneFlowSbpInstance,
    solution: OneFlowSbpSolution,
    places: Sequence[tuple[float, float]],
    shown: Sequence[int],
) -> None:
    drawn = set(shown)
    plain: list[tuple[int, int]] = []
    moved: list[tuple[Edge, str, float]] = []
    for edge in instance.tables.edges:
        if edge.source not in drawn or edge.target not in drawn:
            continue
        names, cost = conversion_of(instance, solution, edge)
        if cost:
            moved.append((edge, names, cost))
        else:
            plain.append((edge.source, edge.target))
    figure.add_trace(_lines(plain, places, GREY, 1.2, "as it is held", "solid"))
    pairs = [(edge.source, edge.target) for edge, _, _ in moved]
    figure.add_trace(_lines(pairs, places, RED, 2.0, "converted", "solid"))
    middles = [
        ((places[u][0] + places[v][0]) / 2, (places[u][1] + places[v][1]) / 2) for u, v in pairs
    ]
    figure.add_trace(
        go.Scatter(
            x=[x for x, _ in middles],
            y=[y for _, y in middles],
            mode="markers+text" if len(moved) <= _MOST_WRITTEN else "markers",
            marker={"symbol": "diamond", "size": 8, "color": RED},
            text=[names for _, names, _ in moved],
            textposition="bottom center",
            textfont={"size": 9, "color": RED},
            hovertext=[
                f"{instance.operators[e.source].name} to {instance.operators[e.target].name}"
                f"<br>{names}: {_short(cost)} {unit_text(instance)}"
                for e, names, cost in moved
            ],
            hoverinfo="text",
            name="collective",
        )
    )


def _lines(
    pairs: Sequence[tuple[int, int]],
    places: Sequence[tuple[float, float]],
    colour: str,
    width: float,
    name: str,
    dash: str,
) -> go.Scatter:
    xs: list[float | None] = []
    ys: list[float | None] = []
    for u, v in pairs:
        xs += [places[u][0], places[v][0], None]
        ys += [places[u][1], places[v][1], None]
    line = {"color": colour, "width": width, "dash": dash}
    return go.Scatter(x=xs, y=ys, mode="lines", line=line, hoverinfo="skip", name=name)


def conversion_of(
    instance: OneFlowSbpInstance, solution: OneFlowSbpSolution, edge: Edge
) -> tuple[str, float]:
    """Return the collectives of an edge, and what they cost."""
    listed = table_of(instance, edge)
    if listed is not None:
        cost = listed[solution.signature[edge.source]][solution.signature[edge.target]]
        return "listed", float(cost or 0)
    signatures = instance.tables.signatures
    have = signatures[edge.source][solution.signature[edge.source]].output
    want = signatures[edge.target][solution.signature[edge.target]].inputs[edge.slot]
    steps = conversion_steps(instance, edge, have, want) or ()
    names = [s.collective.replace("_", "-") for s in steps if s.collective not in LOCAL]
    return ", ".join(names), float(conversion_cost(instance, edge, steps))


def _bytes(amount: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.3g} {unit}"
        amount /= 1000
    return f"{amount:.4g} TB"


def _short(value: float) -> str:
    return f"{value:.4g}"
