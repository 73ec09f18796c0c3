"""Spanning arborescences as literals of CP-SAT models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gadgetopt.solvers.to_cpsat.cp_model import cp_model

Arc = tuple[int, int]


def both_ways(edges: Iterable[Arc]) -> list[Arc]:
    """Return both directions of every edge."""
    return [arc for u, v in edges for arc in ((u, v), (v, u))]


def add_arborescence(
    model: cp_model.CpModel, num_nodes: int, arcs: Sequence[Arc], root: int
) -> dict[Arc, cp_model.IntVar]:
    """Add a spanning out-arborescence from a fixed root and return the literal of every arc.

    Every other node has exactly one arc in, and depths grow along arcs, so that there is no cycle.
    Arcs into the root have no literal.
    """
    literals = {arc: model.new_bool_var(f"b{list(arc)}") for arc in arcs if arc[1] != root}
    depth: list[Any] = [
        0 if v == root else model.new_int_var(1, num_nodes - 1, f"d[{v}]") for v in range(num_nodes)
    ]
    for v in range(num_nodes):
        if v != root:
            model.add_exactly_one(b for arc, b in literals.items() if arc[1] == v)
    for (u, v), b in literals.items():
        model.add(depth[v] >= depth[u] + 1).only_enforce_if(b)
    return literals


def add_rooted_arborescence(
    model: cp_model.CpModel,
    num_nodes: int,
    arcs: Sequence[Arc],
    is_root: Sequence[cp_model.IntVar],
) -> tuple[dict[Arc, cp_model.IntVar], list[cp_model.IntVar]]:
    """Add a spanning out-arborescence from the node whose literal in `is_root` is true.

    Returns the literals of the arcs and an upper bound on the depth of every node.
    """
    literals = {arc: model.new_bool_var(f"b{list(arc)}") for arc in arcs}
    depth = [model.new_int_var(0, num_nodes - 1, f"d[{v}]") for v in range(num_nodes)]
    for v in range(num_nodes):
        into = [b for arc, b in literals.items() if arc[1] == v]
        model.add_exactly_one(*into, is_root[v])
        model.add(depth[v] == 0).only_enforce_if(is_root[v])
    for (u, v), b in literals.items():
        model.add(depth[v] >= depth[u] + 1).only_enforce_if(b)
    return literals, depth
