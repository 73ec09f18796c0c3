"""The proof that a search of branch-and-price leaves behind: its tree, with prices at the leaves.

Every node keeps the prices, and the charges of conflicts, that gave its bound; a node that was not
yet looked at has those of the node above it, so that a search that is stopped has a proof of its
bound, too. The text is that of `price_tree.py`, which checks it without any of this. Charges of
conflicts that take too long to prove are left out, and the proof may be of a weaker bound then.
(Reconstructed.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.proofs.files import packed
from gadgetopt.search.clock import Clock

from ...instance import PdOrsInstance
from ...terms import Terms
from ..bounds.branching_constraints import BranchingConstraint
from ..certificate.check import (
    PdOrsCertificate,
    certificate_of,
)
from ..certificate.slot_refutation import (
    SlotItem,
    TooManySteps,
    is_refuted,
)
from .branching import (
    Node,
    Split,
)
from .slot_packing import Item

#: Binary digits of the largest price of a leaf. Tuned: `benchmarks/constants.py`.
DIGITS = 52
#: Seconds, and the part of the time, that proofs of conflicts may take.
#: Tuned: `benchmarks/constants.py`.
FIRST_PROOFS_S, PROOFS_PART = 0.5, 0.2

Conflict = tuple[SlotItem, ...]


@dataclass(frozen=True)
class LeafPrices:
    """Prices by slot, class and resource, and charges of the first cuts."""

    price: Floats
    charges: Floats


@dataclass
class PriceProof:
    """The tree of a search, by numbers of nodes; the root is 0.

    Attributes
    ----------
    terms : Terms
    cuts : sequence of tuple of BranchingConstraint
        Those of the master, which grow.
    """

    terms: Terms
    cuts: Sequence[tuple[BranchingConstraint, ...]]
    _proved: set[Conflict] = field(default_factory=set)
    _proving_s: float = 0.0
    _splits: dict[int, tuple[str, int, int]] = field(default_factory=dict)
    _prices: dict[int, LeafPrices] = field(default_factory=dict)
    _nodes: int = 1

    def conflict(self, items: Iterable[Item], elapsed_s: float) -> None:
        """Prove a conflict of a search that has run for some time, unless proofs took too long."""
        if self._proving_s > FIRST_PROOFS_S + PROOFS_PART * elapsed_s:
            return
        clock = Clock()
        conflict = tuple(SlotItem(item.job, item.workers, item.inside) for item in items)
        with suppress(TooManySteps):
            if is_refuted(self.terms, conflict):
                self._proved.add(conflict)
        self._proving_s += clock.elapsed_s

    def price(self, node: Node, price: Floats, charges: Floats) -> None:
        """Take the prices at which a node has its bound."""
        self._prices[node.number] = LeafPrices(price, charges)

    def split(self, node: Node, split: Split) -> tuple[Node, Node]:
        """Return the sides of a split of a node with their numbers."""
        left, right = (replace(side, number=self._nodes + k) for k, side in enumerate(split.sides))
        self._nodes += 2
        words = " ".join(map(str, split.words))
        self._splits[node.number] = (words, left.number, right.number)
        if node.number in self._prices:
            known = self._prices.pop(node.number)
            self._prices[left.number] = self._prices[right.number] = known
        return left, right

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return len(self._splits) + 1

    def certificate(self, instance: PdOrsInstance, root: Floats) -> PdOrsCertificate:
        """Return the certificate.

        Parameters
        ----------
        root : array, shape (slots, classes, resources)
            Prices that prove a bound by themselves.
        """
        plain = certificate_of(instance, root[:, instance.terms.classes])
        if not self._splits and not any(p.charges.any() for p in self._prices.values()):
            return plain
        rows = tuple(instance.terms.classes.tolist())
        whole = certificate_of(instance, root)
        by_class = [[of_slot[r] for r in whole.row] for of_slot in whole.prices]
        return PdOrsCertificate(
            row=rows,
            prices=tuple(map(tuple, by_class)),
            tree=packed(self._lines()),
        )

    def _lines(self) -> Iterator[str]:
        conflicts, number = self._charged()
        yield from (_words("conflict", conflict) for conflict in conflicts)
        stack = [0]
        while stack:
            at = stack.pop()
            if at in self._splits:
                words, left, right = self._splits[at]
                yield words
                stack += [right, left]
            else:
                yield self._leaf(self._prices.get(at), number)

    def _charged(self) -> tuple[list[Conflict], dict[int, int]]:
        """Return the proved conflicts that leaves charge, and the number of that of each cut."""
        charged = {
            k for prices in self._prices.values() for k in np.flatnonzero(prices.charges).tolist()
        }
        known: dict[Conflict, int] = {}
        number: dict[int, int] = {}
        for k in sorted(charged):
            conflict = tuple(SlotItem(x.job, x.workers, x.internal) for x in self.cuts[k])
            if conflict in self._proved:
                number[k] = known.setdefault(conflict, len(known))
        return list(known), number

    def _leaf(self, prices: LeafPrices | None, number: dict[int, int]) -> str:
        if prices is None:
            return "l 0"
        flat = prices.price.ravel()
        most = max(float(flat.max(initial=0.0)), float(prices.charges.max(initial=0.0)))
        k = min(max(0, DIGITS - int(np.frexp(most)[1])), 400) if most > 0 else 0

        def whole(x: float) -> int:
            return round(np.ldexp(x, k))

        words = [f"l {k}"]
        words += [f"{q} {whole(flat[q])}" for q in np.flatnonzero(flat > 0).tolist()]
        charges = [c for c in np.flatnonzero(prices.charges).tolist() if c in number]
        if charges:
            words.append("|")
        words += [f"{number[c]} {self.cuts[c][0].slot} {whole(prices.charges[c])}" for c in charges]
        return " ".join(words)


def _words(kind: str, items: Conflict) -> str:
    return " ".join([kind, *(f"{x.job} {x.workers} {int(x.inside)}" for x in items)])
