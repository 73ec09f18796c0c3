"""What certificates of OneFlow SBP say."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticKnownError

from gadgetopt.system.data import Certificate, Data, NonNegativeInt, Rational

#: Sums of a node that an elimination may take, and fixings of a certificate.
#: Tuned: `benchmarks/constants.py`.
MOST_CELLS, MOST_FIXINGS = 2**30, 10


def _not_negative(value: Fraction) -> Fraction:
    if value < 0:
        raise PydanticKnownError("greater_than_equal", {"ge": 0})
    return value


def _positive(value: Fraction) -> Fraction:
    if value <= 0:
        raise PydanticKnownError("greater_than", {"gt": 0})
    return value


Multiplier = Annotated[Rational, AfterValidator(_not_negative)]
Scale = Annotated[Rational, AfterValidator(_positive)]
Numbers = tuple[NonNegativeInt, ...]


class Split(Data):
    """A node whose tables choose labels of their own, in parts, when it is eliminated.

    Attributes
    ----------
    node : int
    parts : tuple of tuple of int
        Its neighbours in each part. A table belongs to the first part that has all of its nodes.
    shifts : tuple of tuple of int
        Costs that are added to each part for each label that the node has left; those of a label
        add up to at most 0.
    """

    node: NonNegativeInt
    parts: Annotated[tuple[Numbers, ...], Field(min_length=1)]
    shifts: tuple[tuple[int, ...], ...]


class Replacement(Data):
    """Labels of a node, each of which another one can always replace.

    Attributes
    ----------
    node : int
    labels : tuple of int
        One after the other.
    by : tuple of int
        For each of them a label that is left.
    """

    node: NonNegativeInt
    labels: Numbers
    by: Numbers


#: For every pair of nodes that share a table, ascending, what moves to its first and to its second
#: node, for each label that is left, in units of 1 / scale.
Messages = tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]


class Round(Data):
    """Labels taken away: those that others replace, then those that messages rule out.

    Attributes
    ----------
    replaced : tuple of Replacement
        Node by node.
    messages : tuple of (tuple of int, tuple of int)
    cutoff : Rational
        Of the priced cost; labels that need as much are taken away.
    """

    replaced: tuple[Replacement, ...] = ()
    messages: Messages
    cutoff: Multiplier


class Leaf(Data):
    """A case that is bounded.

    Attributes
    ----------
    multipliers : tuple of Rational
        Price of a byte of memory on a device, for every placement; none without a memory limit.
    order : int, optional
        Number of the order of an elimination; without it nodes are eliminated as they are numbered.
    splits : tuple of Split
        Of the elimination.
    rounds : tuple of Round
        One after the other, before all else.
    messages : tuple of (tuple of int, tuple of int), optional
    replaced : tuple of Replacement
        Labels taken away before messages move, node by node.
    cutoff : Rational, optional
        Of the priced cost.
    replaced_then : tuple of Replacement
        Labels taken away after those that the cutoff rules out, before the elimination.
    crowded : int, optional
        Number of the placement whose memory no allowed signatures fit.
    """

    kind: Literal["leaf"] = "leaf"
    multipliers: tuple[Multiplier, ...] = ()
    order: NonNegativeInt | None = None
    splits: tuple[Split, ...] = ()
    rounds: tuple[Round, ...] = ()
    messages: Messages | None = None
    replaced: tuple[Replacement, ...] = ()
    cutoff: Multiplier | None = None
    replaced_then: tuple[Replacement, ...] = ()
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
    signatures: Annotated[Numbers, Field(min_length=1)]


class Fixing(Data):
    """Labels taken away: no assignment with them costs less than the cutoff.

    Attributes
    ----------
    multipliers : tuple of Rational
        As of a leaf.
    cutoff : Rational
        Of the cost.
    order : int, optional
        As of a leaf.
    """

    multipliers: tuple[Multiplier, ...] = ()
    cutoff: Multiplier
    order: NonNegativeInt | None = None


class OneFlowSbpCertificate(Certificate):
    """A proof of a lower bound.

    Attributes
    ----------
    scale : Rational
        Costs are counted in units of 1 / scale, rounded down.
    orders : tuple of tuple of int
        Orders of all nodes, in which they are eliminated.
    fixings : tuple of Fixing
        One after the other, before the cases.
    tree : tuple of Branch and Leaf
        In preorder: a branch is followed by its first case and then by its second.
    most_cells : int
        Sums of a node that an elimination may take.
    """

    scale: Scale = Field(default="1", validate_default=True)
    orders: tuple[Numbers, ...] = ()
    fixings: Annotated[tuple[Fixing, ...], Field(max_length=MOST_FIXINGS)] = ()
    tree: Annotated[
        tuple[Annotated[Leaf | Branch, Field(discriminator="kind")], ...], Field(min_length=1)
    ]
    most_cells: Annotated[int, Field(gt=0, le=MOST_CELLS)]
