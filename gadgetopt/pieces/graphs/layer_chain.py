"""A chain of layers that is built node by node as the fields of a pipeline instance."""

from __future__ import annotations

from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.pieces.graphs.building import Graph
from gadgetopt.pieces.pipeline.instance import Layer

#: What an edge says: what crosses the boundary after a layer.
OF_EDGES = ("act_bytes", "grad_bytes")
OF_NODES = tuple(name for name in Layer.model_fields if name not in OF_EDGES)


def layers_of(graph: Graph) -> dict[str, Any]:
    """Return the layers in the order of the chain.

    A node is a layer with its times and parameters; an edge has `act_bytes`, the activations that
    cross it, and may have `grad_bytes`, the gradients that return.
    """
    graph.check_fields(OF_NODES, OF_EDGES)
    chains = graph.chains()
    if len(chains) != 1:
        raise InputError(f"{len(chains)} chains of layers, expected one")
    nodes, edges = chains[0]
    crossing = [*(edge.fields for edge in edges), {}]
    return {"layers": [{**n.fields, **across} for n, across in zip(nodes, crossing, strict=True)]}
