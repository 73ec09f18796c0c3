"""What the search hands to a certificate: orders, splits, messages and replaced labels."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..subproblems.graph import LabelGraph
from .certificate.records import (
    MOST_CELLS,
    Branch,
    Fixing,
    Leaf,
    Messages,
    OneFlowSbpCertificate,
    Replacement,
    Round,
    Split,
)
from .dominance import Replaced
from .elimination import Elimination
from .lagrangian import Point
from .messages import Message
from .reweighted import MessageProof


class ProofWriter:
    """Writes leaves and fixings, and keeps the orders that they name.

    Parameters
    ----------
    graph : LabelGraph
        Of the whole instance.
    """

    def __init__(self, graph: LabelGraph):
        self.graph = graph
        self.orders: dict[tuple[int, ...], int] = {}

    def multipliers(self, multipliers: Sequence[int]) -> tuple[Fraction, ...]:
        """Return multipliers as a certificate states them."""
        limited = self.graph.limit_bytes is not None
        return tuple(Fraction(m, self.graph.scale) for m in multipliers) if limited else ()

    def order(self, order: Sequence[int]) -> int:
        """Return the number of an order."""
        return self.orders.setdefault(tuple(order), len(self.orders))

    def fixing(self, multipliers: Sequence[int], cutoff: Fraction, order: Sequence[int]) -> Fixing:
        """Return that labels are taken away."""
        prices = self.multipliers(multipliers)
        return Fixing(multipliers=prices, cutoff=cutoff, order=self.order(order))

    def leaf(self, point: Point) -> Leaf:
        """Return the leaf that proves the bound of a point."""
        prices = self.multipliers(point.multipliers)
        if point.moved is None:
            return Leaf(multipliers=prices, order=self.order(point.order))
        return self.moved(point.moved, prices)

    def moved(self, proof: MessageProof, prices: tuple[Fraction, ...] = ()) -> Leaf:
        """Return the leaf that proves a bound by messages."""
        sorted_pairs = sorted(range(len(proof.pairs)), key=proof.pairs.__getitem__)

        def listed(messages: Sequence[Message]) -> Messages:
            """Return messages in the order of their pairs."""
            sent = (messages[e] for e in sorted_pairs)
            return tuple((tuple(a.tolist()), tuple(b.tolist())) for a, b in sent)

        return Leaf(
            multipliers=prices,
            order=None if proof.order is None else self.order(proof.order),
            rounds=tuple(
                Round(
                    replaced=_replacements(ruled.replaced),
                    messages=listed(ruled.messages),
                    cutoff=Fraction(ruled.cutoff, self.graph.scale),
                )
                for ruled in proof.before
            ),
            messages=listed(proof.messages),
            replaced=_replacements(proof.replaced),
            cutoff=None if proof.cutoff is None else Fraction(proof.cutoff, self.graph.scale),
            replaced_then=_replacements(proof.replaced_then),
        )

    def eliminated(self, done: Elimination, crowded: int | None = None) -> Leaf:
        """Return the leaf of one elimination, or that memory is crowded."""
        order = [o for o, _ in done.steps]
        splits = tuple(
            Split(node=s.node, parts=tuple(s.parts), shifts=tuple(map(tuple, s.shifts.tolist())))
            for s in done.split
        )
        return Leaf(order=self.order(order), splits=splits, crowded=crowded)

    def certificate(
        self,
        tree: Sequence[Branch | Leaf],
        fixings: Sequence[Fixing] = (),
        most_cells: int = MOST_CELLS,
    ) -> OneFlowSbpCertificate:
        """Return the certificate."""
        return OneFlowSbpCertificate(
            scale=Fraction(self.graph.scale),
            orders=tuple(self.orders),
            fixings=tuple(fixings),
            tree=tuple(tree),
            most_cells=most_cells,
        )


def _replacements(replaced: Replaced) -> tuple[Replacement, ...]:
    return tuple(
        Replacement(node=o, labels=tuple(k for k, _ in some), by=tuple(by for _, by in some))
        for o, some in replaced
    )
