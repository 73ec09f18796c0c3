r"""The best seller that draws nothing: whoever sees the draws plays against it.

With the state of the game before a request, the length t, the stock s, what is earned e, and the
all-knowing seller's best with every stock b, the largest share of OPT that can be kept is

.. math:: \rho(t, s, e, b) = \min_j \max_{\text{sell or not}}
          \min\{e'/OPT(b'),\ \rho(t + 1, s', e', b')\}

and 1 after N requests: first the request comes, then it is decided, both in the open.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..instance import AdversarialBundlesInstance
from ..subproblems.sellers import written_out
from ..subproblems.tree import ROOT, Tree, full_tree

#: Pairs of a history and a stock that are still looked at. Tuned: `benchmarks/constants.py`.
MOST_PAIRS = 25_000


@method(kind="heuristic", reference="this project, by backward induction")
def deterministic(instance: AdversarialBundlesInstance) -> MethodOutcome:
    """The best of the sellers that draw nothing, by dynamic programming.

    Return a seller whose ratio no other seller without a draw has below; it is also the value of
    the game against an adversary that sees the draws. A ratio that is infinite for all of them is
    that of a request that is never sold to, so there is none.

    Raises
    ------
    ModelRefused
        If there are too many histories.
    """
    play = _Play(instance, full_tree(instance, MOST_PAIRS))
    play.share(ROOT, 0, Fraction(0))
    J, stocks = len(instance.types), instance.stocks
    parts = [
        np.zeros((J**t, J, len(of_round)), dtype=np.int64)
        for t, of_round in enumerate(stocks.of_round[:-1])
    ]
    # What the seller does is written down along the histories that it may meet.
    at: dict[tuple[int, ...], tuple[int, Fraction]] = {(): (0, Fraction(0))}
    for h, history in enumerate(play.tree.history):
        s, earned = at[history[:-1]]
        n = 0
        for j in history[:-1]:
            n = n * J + j
        sold = play.sells(h, s, earned)
        parts[len(history) - 1][n, history[-1], s] = int(sold)
        kept, taken = play.tree.moves(h, s)
        at[history] = (taken, earned + play.tree.value(h)) if sold else (kept, earned)
    return MethodOutcome(
        solution=written_out(instance, parts, 1), notes={"states": len(play.known)}
    )


class _Play:
    """The recursion, with the states that are known."""

    def __init__(self, instance: AdversarialBundlesInstance, tree: Tree) -> None:
        self.instance, self.tree = instance, tree
        self.known: dict[tuple[object, ...], Fraction] = {}
        self._children: dict[int, list[int]] = {}
        for h, parent in enumerate(tree.parent):
            self._children.setdefault(parent, []).append(h)

    def share(self, h: int, s: int, earned: Fraction) -> Fraction:
        """Return the largest share of OPT that is kept on all histories that go on from h."""
        children = self._children.get(h, [])
        best = frozenset(self.tree.best[h].items()) if h != ROOT else None
        state = (len(self.tree.history[h]) if h != ROOT else 0, s, earned, best)
        if state not in self.known:
            shares = [max(self._decided(child, s, earned)) for child in children]
            self.known[state] = min(shares, default=Fraction(1))
        return self.known[state]

    def sells(self, h: int, s: int, earned: Fraction) -> bool:
        """Return True if the last request of h is sold to; a tie is."""
        unsold, sold = self._decided(h, s, earned)
        return sold >= unsold

    def _decided(self, h: int, s: int, earned: Fraction) -> tuple[Fraction, Fraction]:
        """Return the shares that are kept if the last request of h is not sold to, and if it is."""
        kept, sold = self.tree.moves(h, s)
        optimum, more = self.tree.optimum(h), earned + self.tree.value(h)
        unsold = min(earned / optimum, self.share(h, kept, earned))
        if sold < 0:
            return unsold, Fraction(-1)
        return unsold, min(more / optimum, self.share(h, sold, more))
