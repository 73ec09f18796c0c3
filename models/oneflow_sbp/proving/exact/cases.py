"""The cases of the search, and the tree that proves their bound."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from ...subproblems.graph import LabelGraph
from ..certificate.check import (
    Branch,
    Leaf,
    leaf_of,
)
from ..lagrangian import Point


@dataclass
class Case:
    """A case of the search.

    Attributes
    ----------
    kept : dict
        Positions that restricted nodes keep, in the domains of the whole graph.
    bound : int
        Times scale; `FORBIDDEN` if nothing is allowed.
    multipliers : tuple of int
    crowded : int or None
        The placement whose memory nothing fits.
    point : Point or None
        Where the bound comes from.
    divide_at : (node, positions) or None
        Where it is divided, if it is not closed.
    children : list of int
        Numbers of the two cases it was divided into, and the node and positions of the first.
    """

    kept: dict[int, tuple[int, ...]]
    bound: int
    multipliers: tuple[int, ...] = ()
    crowded: int | None = None
    point: Point | None = None
    divide_at: tuple[int, tuple[int, ...]] | None = None
    children: list[int] = field(default_factory=list)


def tree_of(
    graph: LabelGraph, cases: Sequence[Case], divided: Container[int]
) -> tuple[Branch | Leaf, ...]:
    """Return the cases in preorder, as a certificate states them.

    Parameters
    ----------
    graph : LabelGraph
        Of the whole instance.
    cases : sequence of Case
        The first is the root.
    divided : container of int
        Numbers of the cases that are branches.
    """
    tree: list[Branch | Leaf] = []
    pending = [0]
    while pending:
        number = pending.pop()
        case = cases[number]
        if number not in divided:
            tree.append(_leaf(graph, case))
            continue
        assert case.divide_at is not None, "divided"
        o, first = case.divide_at
        tree.append(Branch(operator=o, signatures=tuple(graph.domains[o][p] for p in first)))
        pending.extend(reversed(case.children))
    return tuple(tree)


def _leaf(graph: LabelGraph, case: Case) -> Leaf:
    if case.crowded is not None or case.point is None:
        return Leaf(crowded=case.crowded)
    return leaf_of(graph, case.point)
