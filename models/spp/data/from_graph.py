"""A chain of layers that is built node by node as the fields of an instance."""

from __future__ import annotations

from typing import Any

from gadgetopt.pieces.graphs.building import Graph
from gadgetopt.pieces.graphs.layer_chain import layers_of


def fields_of(graph: Graph) -> dict[str, Any]:
    """Return the layers in the order of the chain, as `layers_of` reads nodes and edges."""
    return layers_of(graph)
