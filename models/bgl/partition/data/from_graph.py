"""A graph that is built node by node as the fields of an instance."""

from __future__ import annotations

from typing import Any

from gadgetopt.pieces.graphs.building import Graph


def fields_of(graph: Graph) -> dict[str, Any]:
    """Return nodes, edges and training nodes; a node with `train=True` is one of these."""
    graph.check_fields(("train",), ())
    return {
        "num_nodes": len(graph.nodes),
        "edges": [[edge.tail.number, edge.head.number] for edge in graph.edges],
        "train_nodes": [node.number for node in graph.nodes if node.fields.get("train", False)],
    }
