"""The cases of the search, and the tree that proves their bound."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from ...subproblems.graph import LabelGraph
from ..certificate.records import Branch, Leaf
from ..elimination import Elimination
from ..lagrangian import Point
from ..proof import ProofWriter


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
    crowded : (int, Elimination) or None
        The placement whose memory nothing fits, and why.
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
    crowded: tuple[int, Elimination] | None = None
    point: Point | None = None
    divide_at: tuple[int, tuple[int, ...]] | None = None
    children: list[int] = field(default_factory=list)


def tree_of(
    writer: ProofWriter, graph: LabelGraph, cases: Sequence[Case], divided: Container[int]
) -> tuple[Branch | Leaf, ...]:
    """Return the cases in preorder, as a certificate states them.

    Parameters
    ----------
    writer : ProofWriter
    graph : LabelGraph
        That the cases restrict.
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
            tree.append(_leaf(writer, case))
            continue
        assert case.divide_at is not None, "divided"
        o, first = case.divide_at
        tree.append(Branch(operator=o, signatures=tuple(graph.domains[o][p] for p in first)))
        pending.extend(reversed(case.children))
    return tuple(tree)


def _leaf(writer: ProofWriter, case: Case) -> Leaf:
    if case.crowded is not None:
        group, done = case.crowded
        return writer.eliminated(done, crowded=group)
    return Leaf() if case.point is None else writer.leaf(case.point)
