r"""Certificates of lower bounds, and their check in whole numbers without a solver.

* `Elimination`: a binary tree of cases. Each branch divides the signatures of one operator in two;
  in each leaf, bucket elimination gives the exact minimum of the cost with the memory limit
  priced in, :math:`\min_x c(x) + \sum_g \lambda_g (m_g(x) - M^{max})`, a lower bound for all
  :math:`\lambda \ge 0`. Where a table would have more than `most_cells` entries, mini-buckets give
  a bound on that minimum. A leaf may instead show that no signatures that it allows fit the memory of
  a placement. The bound is the least of the leaves'.
* `Messages`: a reparametrisation. Whatever costs are moved from tables of pairs to tables of nodes,
  the sum of all tables' minima is a lower bound.

Tables are integers: costs times a common denominator, rounded down where that does not fit. The
check of an elimination runs it again; it needs no word of the run that found it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator, Field

from gadgetopt.system.data import Certificate, Data, NonNegativeInt, PositiveInt, Rational

from .instance import OneFlowSbpInstance
from .subproblems.elimination import MOST_CELLS, eliminate
from .subproblems.label_graph import FORBIDDEN, LabelGraph, label_graph
from .subproblems.order import elimination_order

#: Leaves that a check may go through.
MOST_LEAVES = 10**5


def _not_negative(value: Fraction) -> Fraction:
    if value < 0:
        raise ValueError(f"{value} is negative")
    return value


Multiplier = Annotated[Rational, AfterValidator(_not_negative)]


class Leaf(Data):
    """A case that elimination bounds.

    Attributes
    ----------
    multipliers : tuple of Rational
        Price of a byte of memory on a device, for every placement; none without a memory limit.
    crowded : int or None
        Number of the placement whose memory no allowed signatures fit.
    """

    kind: Literal["leaf"] = "leaf"
    multipliers: tuple[Multiplier, ...] = ()
    crowded: NonNegativeInt | None = None


class Branch(Data):
    """Two cases: an operator has one of these signatures, or another one.

    Attributes
    ----------
    operator : int
    signatures : tuple of int
    """

    kind: Literal["branch"] = "branch"
    operator: NonNegativeInt
    signatures: Annotated[tuple[NonNegativeInt, ...], Field(min_length=1)]


class Elimination(Data):
    """Cases, each bounded by elimination.

    Attributes
    ----------
    tree : tuple of Branch and Leaf
        In preorder: a branch is followed by its first case and then by its second.
    most_cells : int
        Entries of the largest table.
    """

    kind: Literal["elimination"] = "elimination"
    tree: Annotated[
        tuple[Annotated[Leaf | Branch, Field(discriminator="kind")], ...], Field(min_length=1)
    ]
    most_cells: Annotated[int, Field(gt=0, le=MOST_CELLS)]


class Messages(Data):
    """Costs moved from the tables of pairs to those of nodes.

    Attributes
    ----------
    multipliers : tuple of Rational
        As in a leaf.
    messages : tuple of (tuple of int, tuple of int)
        For every pair of the label graph what moves to its first and to its second node, for each
        of its labels, in units of 1 / `scale`.
    scale : int
    """

    kind: Literal["messages"] = "messages"
    multipliers: tuple[Multiplier, ...] = ()
    messages: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    scale: PositiveInt


class OneFlowSbpCertificate(Certificate):
    """A proof of a lower bound."""

    proof: Annotated[Elimination | Messages, Field(discriminator="kind")]


def check_bound(
    instance: OneFlowSbpInstance, certificate: OneFlowSbpCertificate
) -> Fraction | None:
    """Return the lower bound that a certificate proves; None if it proves none.

    Raises
    ------
    ValueError
        If it does not fit the instance, or its numbers do not fit 64 bits.
    """
    proof = certificate.proof
    graph = label_graph(instance)
    if isinstance(proof, Messages):
        return _bound_of_messages(instance, graph, proof)
    return _bound_of_cases(instance, graph, proof)


def _bound_of_cases(
    instance: OneFlowSbpInstance, graph: LabelGraph, proof: Elimination
) -> Fraction | None:
    if sum(isinstance(node, Leaf) for node in proof.tree) > MOST_LEAVES:
        raise ValueError(f"tree: more than {MOST_LEAVES} leaves")
    bounds: list[Fraction] = []
    open_cases: list[dict[int, tuple[int, ...]]] = [{}]
    for i, node in enumerate(proof.tree):
        if not open_cases:
            raise ValueError(f"tree[{i}]: the cases are complete before it")
        case = open_cases.pop()
        if isinstance(node, Leaf):
            bound = _bound_of_leaf(instance, graph, case, node, i, proof.most_cells)
            if bound is not None:
                bounds.append(bound)
        else:
            open_cases.extend(reversed(_divided(graph, case, node, i)))
    if open_cases:
        raise ValueError(f"tree: {len(open_cases)} cases are missing at its end")
    return min(bounds, default=None)


def _divided(
    graph: LabelGraph, case: dict[int, tuple[int, ...]], node: Branch, i: int
) -> list[dict[int, tuple[int, ...]]]:
    """Return the two cases of a branch, as positions in the domains of restricted operators."""
    o = node.operator
    if o >= graph.operators:
        raise ValueError(f"tree[{i}].operator: {o}, but there are {graph.operators}")
    allowed = case.get(o, tuple(range(len(graph.domains[o]))))
    wanted = set(node.signatures)
    first = tuple(p for p in allowed if graph.domains[o][p] in wanted)
    second = tuple(p for p in allowed if graph.domains[o][p] not in wanted)
    if not first or not second:
        raise ValueError(f"tree[{i}].signatures: all or none of what is left of operator {o}")
    return [{**case, o: first}, {**case, o: second}]


def _bound_of_leaf(
    instance: OneFlowSbpInstance,
    graph: LabelGraph,
    case: dict[int, tuple[int, ...]],
    leaf: Leaf,
    i: int,
    most_cells: int,
) -> Fraction | None:
    """Return the bound of a leaf; None if it allows nothing."""
    limit = instance.memory_limit_bytes
    restricted = graph.restricted(case)
    prices = _prices(instance, graph, leaf.multipliers, f"tree[{i}]")
    if leaf.crowded is not None:
        if limit is None or leaf.crowded >= len(instance.placements):
            raise ValueError(f"tree[{i}].crowded: no memory limit or no such placement")
        priced = restricted.memory_only(leaf.crowded)
    else:
        priced = _priced(restricted, prices, f"tree[{i}]")
    order = elimination_order([len(d) for d in priced.domains], priced.edges)
    value = eliminate(priced, order, most_cells).value
    if value >= FORBIDDEN:
        return None
    if leaf.crowded is not None:
        if value > (limit or 0):
            return None
        raise ValueError(f"tree[{i}].crowded: {value} bytes fit the limit")
    return Fraction(value - sum(prices) * (limit or 0), graph.scale)


def _prices(
    instance: OneFlowSbpInstance, graph: LabelGraph, multipliers: Sequence[Fraction], where: str
) -> list[int]:
    """Return multipliers in units of 1 / scale, rounded down."""
    groups = len(instance.placements)
    if not multipliers:
        return [0] * groups
    if instance.memory_limit_bytes is None or len(multipliers) != groups:
        raise ValueError(
            f"{where}.multipliers: {len(multipliers)} for {groups} placements with a limit, "
            "none without one"
        )
    return [math.floor(price * graph.scale) for price in multipliers]


def _priced(graph: LabelGraph, prices: Sequence[int], where: str) -> LabelGraph:
    try:
        return graph.priced(prices)
    except OverflowError as error:
        raise ValueError(f"{where}.{error}") from None


def _bound_of_messages(
    instance: OneFlowSbpInstance, graph: LabelGraph, proof: Messages
) -> Fraction | None:
    if len(proof.messages) != len(graph.edges):
        raise ValueError(f"messages: {len(proof.messages)} for {len(graph.edges)} pairs")
    if proof.scale != graph.scale:
        raise ValueError(f"scale: {proof.scale}, but that of the tables is {graph.scale}")
    prices = _prices(instance, graph, proof.multipliers, "proof")
    priced = _priced(graph, prices, "proof")
    nodes = [priced.tables[t].copy() for t in priced.unary]
    total = 0
    for i, ((u, v, t), sent) in enumerate(zip(priced.edges, proof.messages, strict=True)):
        moved = []
        for o, given in zip((u, v), sent, strict=True):
            if len(given) != len(nodes[o]):
                raise ValueError(f"messages[{i}]: {len(given)} for {len(nodes[o])} labels")
            if any(abs(x) >= FORBIDDEN for x in given):
                raise ValueError(f"messages[{i}]: too large for 64 bits")
            moved.append(np.array(given, dtype=np.int64))
            nodes[o] = _added(nodes[o], moved[-1], f"messages[{i}]")
        table = priced.tables[t]
        rest = np.where(
            table >= FORBIDDEN, 2 * FORBIDDEN, table - moved[0][:, None] - moved[1][None, :]
        )
        total += int(rest.min())
    total += sum(int(table.min()) for table in nodes)
    if total >= FORBIDDEN:
        return None
    return Fraction(total - sum(prices) * (instance.memory_limit_bytes or 0), graph.scale)


def _added(table: np.ndarray, moved: np.ndarray, where: str) -> np.ndarray:  # type: ignore[type-arg]
    total = table + moved
    if (np.abs(total) >= 2**62).any():
        raise ValueError(f"{where}: sums are too large for 64 bits")
    return np.where(table >= FORBIDDEN, FORBIDDEN, total)
