"""The best response of a seller to a lottery over sequences, by dynamic programming, exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.exact import common_denominator


@dataclass
class Trie:
    """Histories that some sequences pass through, each once; parents stand before children.

    Attributes
    ----------
    parent : list of int
        -1 for histories of one value.
    level : list of int
        Of the last buyer.
    """

    parent: list[int] = field(default_factory=list)
    level: list[int] = field(default_factory=list)
    _number: dict[tuple[int, int], int] = field(default_factory=dict)

    def add(self, sequence: Iterable[int]) -> list[int]:
        """Add a sequence and return the numbers of its histories, from the shortest."""
        here, path = -1, []
        for j in sequence:
            here = self.child(here, j)
            path.append(here)
        return path

    def child(self, history: int, level: int) -> int:
        """Add the history that has one more buyer, and return its number; -1 is the beginning."""
        number = self._number.setdefault((history, level), len(self.parent))
        if number == len(self.parent):
            self.parent.append(history)
            self.level.append(level)
        return number

    def __len__(self) -> int:
        return len(self.parent)


def best_response(
    levels: Sequence[Fraction], k: int, weighted: Sequence[tuple[Sequence[int], Fraction]]
) -> Fraction:
    r"""Return the most that a seller of k units earns from weighted sequences, in all.

    .. math:: \max_\pi \sum_i \lambda_i\, ALG_\pi(h_i)

    The seller knows the weights, sees one buyer after the other, and does not know when they stop.
    To sell at history h is worth the value there times the weight of all sequences that begin with
    h; no draw is of use, so the dynamic program over histories and units sold is exact.
    """
    trie = Trie()
    scale = common_denominator(weight for _, weight in weighted)
    money = common_denominator(levels)
    amounts = [int(level * money) for level in levels]
    ending: dict[int, int] = {}
    for sequence, weight in weighted:
        path = trie.add(sequence)
        if path:
            ending[path[-1]] = ending.get(path[-1], 0) + int(weight * scale)
    count = len(trie)
    passing = [ending.get(h, 0) for h in range(count)]
    for h in reversed(range(count)):
        if trie.parent[h] >= 0:
            passing[trie.parent[h]] += passing[h]
    # Later[h][u]: earned after h with u units sold, in Python's integers.
    later = [np.zeros(k + 1, dtype=object) for _ in range(count + 1)]
    for h in reversed(range(count)):
        best = later[h].copy()
        sold = later[h][1:] + passing[h] * amounts[trie.level[h]]
        np.maximum(best[:-1], sold, out=best[:-1])
        later[trie.parent[h]] += best  # the last entry stands for the beginning
        later[h] = best
    return Fraction(int(later[-1][0]), scale * money)
