"""Histories that some sequences pass through, with their stocks and offline optima."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from gadgetopt.errors import ModelRefused

from ..instance import AdversarialBundlesInstance

#: The number of the beginning, before any request. By definition.
ROOT = -1


class Tree:
    """Histories, each once and after its beginning; they are numbered from 0.

    Attributes
    ----------
    history : list of tuple of int
        The types of its requests.
    parent : list of int
        The history without the last request; `ROOT` for those of one request.
    best : list of dict of int to Fraction
        By every stock that may be held after the history: the most that it leaves earned. Their
        maximum is OPT.
    """

    def __init__(self, instance: AdversarialBundlesInstance) -> None:
        self.instance = instance
        self.history: list[tuple[int, ...]] = []
        self.parent: list[int] = []
        self.best: list[dict[int, Fraction]] = []
        self._number: dict[tuple[int, ...], int] = {(): ROOT}

    def __len__(self) -> int:
        return len(self.history)

    def add(self, sequence: Sequence[int]) -> list[int]:
        """Add a sequence with its prefixes, and return their numbers, from the shortest."""
        return [self._one(tuple(sequence[: t + 1])) for t in range(len(sequence))]

    def before(self, h: int) -> dict[int, Fraction]:
        """Return what may be held, and earned, when the last request of h comes."""
        parent = self.parent[h]
        return {0: Fraction(0)} if parent == ROOT else self.best[parent]

    def moves(self, h: int, s: int) -> tuple[int, int]:
        """Return the stocks after h if its last request finds s: unsold, and sold (-1: never)."""
        stocks, t = self.instance.stocks, len(self.history[h]) - 1
        return stocks.kept[t][s], stocks.sold[t][s][self.history[h][-1]]

    def optimum(self, h: int) -> Fraction:
        """Return the offline optimum of a history."""
        return max(self.best[h].values())

    def value(self, h: int) -> Fraction:
        """Return the value of the last request of a history."""
        return self.instance.types[self.history[h][-1]].value

    def _one(self, history: tuple[int, ...]) -> int:
        known = self._number.get(history)
        if known is not None:
            return known
        h = self._number[history] = len(self.history)
        self.history.append(history)
        self.parent.append(self._number[history[:-1]])
        best: dict[int, Fraction] = {}
        for s, earned in self.before(h).items():
            kept, sold = self.moves(h, s)
            best[kept] = max(best.get(kept, earned), earned)
            if sold >= 0:
                best[sold] = max(best.get(sold, Fraction(0)), earned + self.value(h))
        self.best.append(best)
        return h


def full_tree(instance: AdversarialBundlesInstance, most: int) -> Tree:
    """Return all histories, the short ones first, in lexicographic order.

    Raises
    ------
    ModelRefused
        If they have more than `most` stocks.
    """
    tree = Tree(instance)
    longest: Iterable[tuple[int, ...]] = [()]
    pairs = 0
    for _ in range(instance.horizon):
        longer = [(*history, j) for history in longest for j in range(len(instance.types))]
        for history in longer:
            pairs += len(tree.best[tree.add(history)[-1]])
            if pairs > most:
                raise ModelRefused(
                    f"horizon: more than {most} histories with their stocks of "
                    f"{instance.horizon} requests of {len(instance.types)} types"
                )
        longest = longer
    return tree
