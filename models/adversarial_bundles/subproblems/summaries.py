r"""What of a history still matters: histories in which the same is left are one summary.

A summary has the most that an all-knowing seller has earned with every stock, whose maximum is OPT,
and for every bundle and duration the highest value so far. What comes later changes it by itself
alone, so the summaries of a round are found from those of the round before. Games of far more
histories than can be enumerated often have few: if bundles are kept for good, the order of the
requests does not matter to it.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.exact import common_denominator

from ..instance import AdversarialBundlesInstance

#: Summaries of one round with their stocks. Tuned: `benchmarks/constants.py`.
MOST_SUMMARIES = 500_000

#: Sums up to this are exact in 64-bit integers. By definition.
_MOST_IN_64_BITS = 2**62


class Summaries:
    """The summaries of every round, from the beginning to after all N requests, by number.

    Attributes
    ----------
    optimum : list of int array
        OPT, in units of 1/`money`.
    highest : list of int array, shape (summaries, bundles)
        Number of the highest value so far among all values of the game, from 1; 0 for none.
    after : list of int array, shape (summaries, types)
        The summary of the next round if a type comes.
    money : int

    Raises
    ------
    ModelRefused
        If they are too many, or values too large.
    """

    def __init__(self, instance: AdversarialBundlesInstance) -> None:
        J, stocks = len(instance.types), instance.stocks
        self.money: int = common_denominator(kind.value for kind in instance.types)
        self.value: list[int] = [int(kind.value * self.money) for kind in instance.types]
        if max(self.value) * instance.horizon > _MOST_IN_64_BITS:
            raise ModelRefused("types: values too large to be followed in 64-bit integers")
        ranked = sorted(set(self.value))
        rank = [ranked.index(v) + 1 for v in self.value]
        bundle = {j: c for c, alike in enumerate(instance.prices_alike) for j in alike}
        best: Ints = np.zeros((1, 1), dtype=np.int64)
        highest: Ints = np.zeros((1, len(instance.prices_alike)), dtype=np.int64)
        self.optimum: list[Ints] = [best.max(axis=1)]
        self.highest: list[Ints] = [highest]
        self.after: list[Ints] = []
        for t in range(instance.horizon):
            n, S = len(best), len(stocks.of_round[t + 1])
            if n * S > MOST_SUMMARIES:
                raise ModelRefused(
                    f"horizon: histories of {t + 1} requests have more than {MOST_SUMMARIES} "
                    "summaries with their stocks"
                )
            table = np.full((n, J, S), -1, dtype=np.int64)  # -1: no sales lead to the stock
            seen = np.repeat(highest[:, None], J, axis=1)
            for s in range(best.shape[1]):
                kept = table[:, :, stocks.kept[t][s]]
                np.maximum(kept, best[:, None, s], out=kept)
            for j in range(J):
                for s, row in enumerate(stocks.sold[t]):
                    if row[j] >= 0:
                        reached = np.where(best[:, s] < 0, -1, best[:, s] + self.value[j])
                        table[:, j, row[j]] = np.maximum(table[:, j, row[j]], reached)
                seen[:, j, bundle[j]] = np.maximum(seen[:, j, bundle[j]], rank[j])
            rows = np.concatenate([table, seen], axis=2).reshape(n * J, -1)
            found, number = np.unique(rows, axis=0, return_inverse=True)
            best, highest = found[:, :S], found[:, S:]
            self.after.append(number.reshape(n, J))
            self.optimum.append(best.max(axis=1))
            self.highest.append(highest)

    def __len__(self) -> int:
        return sum(map(len, self.optimum))

    def of(self, sequences: Ints) -> Ints:
        """Return the summaries of histories of one length, shape (histories, requests)."""
        number = np.zeros(len(sequences), dtype=np.int64)
        for t, column in enumerate(sequences.T):
            number = self.after[t][number, column]
        return number
