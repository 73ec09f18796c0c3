"""A graph of operators that is built node by node as the fields of an instance."""

from __future__ import annotations

from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.pieces.graphs.building import Graph

from ..instance import Operator

#: What a node says: the fields of an operator, but its name and where its inputs are from.
FIELDS = tuple(name for name in Operator.model_fields if name not in ("name", "inputs"))


def fields_of(graph: Graph) -> dict[str, Any]:
    """Return the operators, producers before consumers.

    A node is an operator and has its fields; an edge leads from a producer to an operator that
    reads it, the first edge into the first input slot.
    """
    graph.check_fields(FIELDS, ())
    names = graph.named()
    for node in graph.nodes:
        if "kind" not in node.fields:
            raise InputError(f"{node}: kind: missing, expected an operator such as 'matmul'")
    return {
        "operators": [
            {
                "name": names[node.number],
                "inputs": [names[e.tail.number] for e in graph.edges if e.head is node],
                **node.fields,
            }
            for node in graph.in_order()
        ]
    }
