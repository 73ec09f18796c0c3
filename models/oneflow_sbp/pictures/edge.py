"""Why an edge is as it is: the cost of the plan with other labels at its two ends.

Every cell is the cheapest plan in which the producer puts out one label and the consumer wants
another, all other operators as they are, less the cost of the plan shown. The variable of an update
changes with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import plotly.graph_objects as go

from gadgetopt.reporting.figures import TEMPLATE
from gadgetopt.system.declaring import picture

from ..instance import OneFlowSbpInstance, OneFlowSbpSolution
from ..labels import Label, label_text
from ..tables import Edge, Tables
from .plan import conversion_of, unit_text


@picture()
def draw(instance: OneFlowSbpInstance, solution: OneFlowSbpSolution) -> go.Figure:
    """What other labels at the ends of the dearest conversion would cost.

    White cells are not possible with the other operators as they are. Conversions of a tensor that
    are shared count once for every use here.
    """
    edge = dearest(instance, solution)
    changes = explained(instance, solution, edge)
    rows = sorted({a for a, _ in changes}, key=label_text)
    columns = sorted({b for _, b in changes}, key=label_text)
    values = [[_number(changes.get((a, b))) for b in columns] for a in rows]
    source, target = (instance.operators[o] for o in (edge.source, edge.target))
    signatures = instance.tables.signatures
    have = signatures[edge.source][solution.signature[edge.source]].output
    want = signatures[edge.target][solution.signature[edge.target]].inputs[edge.slot]
    names, cost = conversion_of(instance, solution, edge)
    figure = go.Figure(
        go.Heatmap(
            x=list(map(label_text, columns)),
            y=list(map(label_text, rows)),
            z=values,
            text=[["" if v is None else f"{v:+.3g}" for v in row] for row in values],
            texttemplate="%{text}",
            colorscale="Oranges",
            colorbar={"title": {"text": f"more, {unit_text(instance)}"}},
            hovertemplate="held %{y}, wanted %{x}: %{text}<extra></extra>",
            xgap=2,
            ygap=2,
        )
    )
    figure.update_layout(
        title={
            "text": f"{source.name} to {target.name}: {label_text(have)} to {label_text(want)}",
            "subtitle": {
                "text": f"{names or 'no collective'}, {cost:.4g} {unit_text(instance)}; in cells "
                "what other labels cost more, with all other operators unchanged"
            },
        },
        template=TEMPLATE,
        height=170 + 40 * max(4, len(rows)),
        xaxis={"title": {"text": f"label that {target.name} wants"}, "type": "category"},
        yaxis={
            "title": {"text": f"label of {source.name}"},
            "type": "category",
            "autorange": "reversed",
        },
    )
    return figure


def dearest(instance: OneFlowSbpInstance, solution: OneFlowSbpSolution) -> Edge:
    """Return the edge of the dearest conversion, the first edge if nothing is converted.

    Raises
    ------
    ValueError
        If the instance has no edges.
    """
    return max(instance.tables.edges, key=lambda edge: conversion_of(instance, solution, edge)[1])


def explained(
    instance: OneFlowSbpInstance, solution: OneFlowSbpSolution, edge: Edge
) -> dict[tuple[Label, Label], Fraction | None]:
    """Return the change of cost for every pair of labels at the ends of an edge.

    None where no signatures of the two operators allow it. The variable of an update at one end
    takes the best signature of the update's label.
    """
    tables = instance.tables
    chosen = list(solution.signature)
    own, other = edge.source, edge.target
    joint = [e for e in tables.edges if {e.source, e.target} == {own, other}]
    costs = [_alone(tables, chosen, o, without) for o, without in ((own, other), (other, own))]
    now: Fraction | None = None
    best: dict[tuple[Label, Label], Fraction | None] = {}
    for k, first in enumerate(costs[0]):
        for j, second in enumerate(costs[1]):
            have = tables.signatures[own][k].output
            want = tables.signatures[other][j].inputs[edge.slot]
            total = _sum(first, second, *(_pair(tables, e, own, k, j) for e in joint))
            best.setdefault((have, want), None)
            known = best[have, want]
            if total is not None and (known is None or total < known):
                best[have, want] = total
            if (k, j) == (chosen[own], chosen[other]):
                now = total
    base = now or Fraction(0)
    return {pair: None if x is None else x - base for pair, x in best.items()}


def _alone(tables: Tables, chosen: list[int], o: int, without: int) -> list[Fraction | None]:
    """Return what every signature of an operator costs with its other neighbours."""
    edges = [
        e for e in tables.edges if o in (e.source, e.target) and without not in (e.source, e.target)
    ]
    tie = next((e for e in edges if e.tied and e.target == o), None)
    fixed = [e for e in edges if e is not tie]
    totals: list[Fraction | None] = []
    for k, compute in enumerate(tables.classes[tables.class_of[o]].compute):
        pinned = o in tables.pinned and tables.signatures[o][k].output != tables.pinned[o]
        ends = ((k, chosen[e.target]) if e.source == o else (chosen[e.source], k) for e in fixed)
        parts = [_conversion(tables, e, *pair) for e, pair in zip(fixed, ends, strict=True)]
        totals.append(None if pinned else _sum(compute, *parts))
    if tie is None:
        return totals
    of_variable = _alone(tables, chosen, tie.source, o)
    return [_sum(total, _cheapest(tables, tie, of_variable, k)) for k, total in enumerate(totals)]


def _cheapest(
    tables: Tables, tie: Edge, of_variable: Sequence[Fraction | None], k: int
) -> Fraction | None:
    """Return the least cost of a variable whose update has signature k."""
    label = tables.signatures[tie.target][k].inputs[tie.slot]
    held = (s.output for s in tables.signatures[tie.source])
    pairs = zip(held, of_variable, strict=True)
    return min((x for own, x in pairs if own == label and x is not None), default=None)


def _pair(tables: Tables, edge: Edge, own: int, k: int, j: int) -> Fraction | None:
    return _conversion(tables, edge, *((k, j) if edge.source == own else (j, k)))


def _conversion(tables: Tables, edge: Edge, k: int, j: int) -> Fraction | None:
    have = tables.signatures[edge.source][k].output
    if edge.tied and have != tables.signatures[edge.target][j].inputs[edge.slot]:
        return None
    return tables.conversions(edge)[k][j]


def _sum(*parts: Fraction | None) -> Fraction | None:
    known = [x for x in parts if x is not None]
    return sum(known, Fraction(0)) if len(known) == len(parts) else None


def _number(value: Fraction | None) -> float | None:
    return None if value is None else float(value)
