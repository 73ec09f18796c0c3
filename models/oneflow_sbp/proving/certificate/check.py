r"""Certificates of lower bounds, and their check in whole numbers without a solver.

A certificate is a binary tree of cases: each branch divides the signatures of one operator in two.
Each leaf bounds the cost with the memory limit priced in, which is a lower bound for all
:math:`\lambda \ge 0`,

.. math:: \min_x c(x) + \sum_g \lambda_g (m_g(x) - M^{max}).

* By default by bucket elimination, which is exact; where a bucket would take more than `most_cells`
  sums, it is split into mini-buckets.
* With `messages` by a reparametrisation: after dominated labels are removed, costs move from tables
  of pairs to tables of nodes; whatever moves, the sum of all tables' minima is a lower bound.
* With a `cutoff` too: labels with which that sum is no less than the cutoff are left out, and
  elimination bounds the rest. The bound is then at most the cutoff.
* `crowded`: no signatures that the leaf allows fit the memory of a placement.

The bound of the certificate is the least of the leaves'.

Before the cases, `fixings` may take labels away: those whose min-marginal, with the memory limit
priced in, reaches a cutoff. The bound is then at most the cutoff.

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
from pydantic_core import PydanticKnownError

from gadgetopt.numbers.arrays import Ints
from gadgetopt.system.data import Certificate, Data, NonNegativeInt, Rational

from ...instance import OneFlowSbpInstance
from ...subproblems.graph import (
    FORBIDDEN,
    LabelGraph,
)
from ...subproblems.label_graph import label_graph
from ..elimination import (
    MOST_CELLS,
    TooWide,
    eliminate,
)
from ..lagrangian import Point
from ..min_marginals import below
from ..order import elimination_order
from ..reweighted import bound_of_leaf

#: Leaves and fixings that a check may go through.
MOST_LEAVES, MOST_FIXINGS = 10**5, 10


def _not_negative(value: Fraction) -> Fraction:
    if value < 0:
        raise PydanticKnownError("greater_than_equal", {"ge": 0})
    return value


Multiplier = Annotated[Rational, AfterValidator(_not_negative)]


class Leaf(Data):
    """A case that elimination bounds.

    Attributes
    ----------
    multipliers : tuple of Rational
        Price of a byte of memory on a device, for every placement; none without a memory limit.
    messages : tuple of (tuple of int, tuple of int), optional
        For every pair of the label graph what moves to its first and to its second node, for each
        label that is not dominated, in units of 1 / scale.
    cutoff : Rational, optional
        Of the priced cost.
    crowded : int, optional
        Number of the placement whose memory no allowed signatures fit.
    """

    kind: Literal["leaf"] = "leaf"
    multipliers: tuple[Multiplier, ...] = ()
    messages: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] | None = None
    cutoff: Multiplier | None = None
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


class Fixing(Data):
    """Labels taken away: no assignment with them costs less than the cutoff.

    Attributes
    ----------
    multipliers : tuple of Rational
        As of a leaf.
    cutoff : Rational
        Of the cost.
    """

    multipliers: tuple[Multiplier, ...] = ()
    cutoff: Multiplier


class OneFlowSbpCertificate(Certificate):
    """A proof of a lower bound.

    Attributes
    ----------
    fixings : tuple of Fixing
        One after the other, before the cases.
    tree : tuple of Branch and Leaf
        In preorder: a branch is followed by its first case and then by its second.
    most_cells : int
        Sums that a bucket of an elimination may take.
    """

    fixings: Annotated[tuple[Fixing, ...], Field(max_length=MOST_FIXINGS)] = ()
    tree: Annotated[
        tuple[Annotated[Leaf | Branch, Field(discriminator="kind")], ...], Field(min_length=1)
    ]
    most_cells: Annotated[int, Field(gt=0, le=MOST_CELLS)]


def multipliers_of(graph: LabelGraph, multipliers: Sequence[int]) -> tuple[Fraction, ...]:
    """Return multipliers as a certificate states them."""
    limited = graph.limit_bytes is not None
    return tuple(Fraction(m, graph.scale) for m in multipliers) if limited else ()


def leaf_of(graph: LabelGraph, point: Point) -> Leaf:
    """Return the leaf that proves the bound of a point."""
    return Leaf(
        multipliers=multipliers_of(graph, point.multipliers),
        messages=None
        if point.messages is None
        else tuple((tuple(a.tolist()), tuple(b.tolist())) for a, b in point.messages),
        cutoff=None if point.cutoff is None else Fraction(point.cutoff, graph.scale),
    )


def check_bound(
    instance: OneFlowSbpInstance, certificate: OneFlowSbpCertificate
) -> Fraction | None:
    """Return the lower bound that a certificate proves; None if it proves none.

    Raises
    ------
    ValueError
        If it does not fit the instance, or its numbers do not fit 64 bits.
    """
    tree = certificate.tree
    if sum(isinstance(node, Leaf) for node in tree) > MOST_LEAVES:
        raise ValueError(f"tree: more than {MOST_LEAVES} leaves")
    graph, bounds = label_graph(instance), [fixing.cutoff for fixing in certificate.fixings]
    for i, fixing in enumerate(certificate.fixings):
        left = _fixed(instance, graph, fixing, f"fixings[{i}]")
        if left is None:
            return min(bounds)
        graph = left
    open_cases: list[dict[int, tuple[int, ...]]] = [{}]
    for i, node in enumerate(tree):
        if not open_cases:
            raise ValueError(f"tree[{i}]: the cases are complete before it")
        case = open_cases.pop()
        if isinstance(node, Leaf):
            check = _LeafCheck(instance, graph, node, f"tree[{i}]", certificate.most_cells)
            bound = check.bound(graph.restricted(case))
            if bound is not None:
                bounds.append(bound)
        else:
            open_cases.extend(reversed(_divided(graph, case, node, i)))
    if open_cases:
        raise ValueError(f"tree: {len(open_cases)} cases are missing at its end")
    return min(bounds, default=None)


def _fixed(
    instance: OneFlowSbpInstance, graph: LabelGraph, fixing: Fixing, where: str
) -> LabelGraph | None:
    """Return the graph without the labels that a fixing takes away; None if nothing is left."""
    prices = _prices(instance, graph, fixing.multipliers, where)
    order = elimination_order([len(d) for d in graph.domains], graph.edges)
    try:
        kept = below(graph, order, prices, math.ceil(fixing.cutoff * graph.scale))
    except (OverflowError, TooWide) as error:
        raise ValueError(f"{where}: {str(error) or 'elimination is too wide'}") from None
    return None if kept is None else graph.restricted(kept)


def _prices(
    instance: OneFlowSbpInstance,
    graph: LabelGraph,
    multipliers: Sequence[Fraction],
    where: str,
) -> list[int]:
    """Return multipliers in units of 1 / scale, rounded down."""
    groups = len(instance.placements)
    limited = bool(instance.memory_limit_bytes)
    if not multipliers:
        return [0] * groups
    if not limited or len(multipliers) != groups:
        expected = groups if limited else 0
        raise ValueError(f"{where}.multipliers: {len(multipliers)}, expected {expected}")
    return [math.floor(price * graph.scale) for price in multipliers]


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


class _LeafCheck:
    """The check of one leaf."""

    def __init__(
        self,
        instance: OneFlowSbpInstance,
        graph: LabelGraph,
        leaf: Leaf,
        where: str,
        most_cells: int,
    ):
        self.instance, self.graph, self.leaf, self.where = instance, graph, leaf, where
        self.limit = instance.memory_limit_bytes or 0
        self.most_cells = most_cells

    def bound(self, case: LabelGraph) -> Fraction | None:
        """Return the bound on the allowed labels; None if there are none."""
        if self.leaf.crowded is not None:
            self._check_crowded(case, self.leaf.crowded)
            return None
        prices = _prices(self.instance, self.graph, self.leaf.multipliers, self.where)
        try:
            priced = case.priced(prices)
            value = self._value(priced)
        except (OverflowError, ValueError) as error:
            raise ValueError(f"{self.where}.{error}") from None
        if value >= FORBIDDEN:
            return None
        return Fraction(value - sum(prices) * self.limit, self.graph.scale)

    def _value(self, priced: LabelGraph) -> int:
        if self.leaf.messages is None:
            return self._eliminated(priced)
        messages = [(_array(first), _array(second)) for first, second in self.leaf.messages]
        cutoff = self.leaf.cutoff
        whole = None if cutoff is None else math.floor(cutoff * self.graph.scale)
        return bound_of_leaf(priced, messages, whole, self.most_cells)

    def _eliminated(self, graph: LabelGraph) -> int:
        order = elimination_order([len(d) for d in graph.domains], graph.edges)
        return eliminate(graph, order, self.most_cells).value

    def _check_crowded(self, case: LabelGraph, group: int) -> None:
        if not self.limit or group >= len(self.instance.placements):
            raise ValueError(f"{self.where}.crowded: no memory limit or no such placement")
        least = self._eliminated(case.memory_only(group))
        if least <= self.limit:
            raise ValueError(f"{self.where}.crowded: {least} bytes fit the limit")


def _array(message: tuple[int, ...]) -> Ints:
    if any(abs(x) >= FORBIDDEN for x in message):
        raise ValueError("messages: too large for 64 bits")
    return np.array(message, dtype=np.int64)
