"""A chain of layers that is built node by node as the fields of an instance."""

from __future__ import annotations

from gadgetopt.pieces.pipeline.layers_of_graph import fields_of

__all__ = ["fields_of"]
