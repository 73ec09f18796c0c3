r"""What the networks see, and the seller that a network is rounded to (reconstructed).

The seller's network sees, before the value of a request:

* per resource the part that is free now, and the parts that come back within 1, 2, 4 and 8 rounds;
* the part of the rounds that is over; per resource the part that is asked for, and for which part
  of the rounds;
* for every bundle and duration the highest value so far, over the largest of all;
* the offline optimum of the requests so far, over N times that value.

It answers with chances of M + 1 prices for the bundle, the values that there are and "none". The
request is sold to with the chance of the prices up to its value, so that a higher value is never
sold to less probably. The adversary's network sees the part of the rounds that is over, the last
request, how often each type has come, and the optimum; neither stock nor draws.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.pieces.learning.networks import logits, softmax

from ..instance import AdversarialBundlesInstance, AdversarialBundlesSolution
from .sellers import written_out
from .summaries import Summaries

#: Rounds within which units come back, as the seller sees it. By definition.
WITHIN = (1, 2, 4, 8)
#: Parts of a chance of a sale in the sellers that are certified. Tuned: `benchmarks/constants.py`.
PARTS = 24


class Sight:
    """What of a game the networks see, as arrays.

    Attributes
    ----------
    seller_inputs, adversary_inputs, num_prices : int
    price_of : int array, shape (types,)
        The number of the price that is a type's value.
    value : float array, shape (types,)
    summaries : Summaries
        Of the game: what the networks see of a history is in its summary.
    """

    def __init__(self, instance: AdversarialBundlesInstance) -> None:
        R, J, N = len(instance.capacity), len(instance.types), instance.horizon
        self.instance = instance
        self.summaries: Summaries = Summaries(instance)
        money = self.summaries.money
        self._optima: list[Floats] = [
            np.asarray(x, dtype=float) / money for x in self.summaries.optimum
        ]
        values = sorted({kind.value for kind in instance.types})
        self.num_prices: int = len(values)
        self.price_of: Ints = np.array([values.index(kind.value) for kind in instance.types])
        self.value: Floats = np.array([float(kind.value) for kind in instance.types])
        self._most = float(values[-1])
        # By the number of a highest value, as summaries have it; 0 for none.
        self._highest: Floats = np.array([0.0, *(float(v) / self._most for v in values)])
        capacity = np.array(instance.capacity, dtype=float)
        self._stocks: list[Floats] = []
        for of_round in instance.stocks.of_round[:-1]:
            held = np.array(of_round, dtype=float) / capacity  # by stock, later round, resource
            last = held.shape[1] - 1
            back = [held[:, 0] - held[:, min(within, last)] for within in WITHIN]
            self._stocks.append(np.concatenate([1 - held[:, 0], *back], axis=1))
        self._request: Floats = np.array(
            [
                [*(np.array(kind.demand) / capacity), instance.rounds_held(j) / N]
                for j, kind in enumerate(instance.types)
            ]
        )
        self.seller_inputs: int = (
            (1 + len(WITHIN)) * R + 1 + (R + 1) + len(instance.prices_alike) + 1
        )
        self.adversary_inputs: int = 2 * J + 2

    def seller(self, before: Ints, kind: Ints) -> Floats:
        """Return what the seller sees of requests of some kinds, by sequence, stock and input.

        Parameters
        ----------
        before : int array, shape (sequences, rounds so far)
        kind : int array, shape (sequences,)
            Types of the requests that are decided.
        """
        return self.seller_at(before.shape[1], self.summaries.of(before), kind)

    def seller_at(self, t: int, number: Ints, kind: Ints) -> Floats:
        """Return the same before round t for summaries of histories, by their numbers."""
        n = len(number)
        highest = self._highest[self.summaries.highest[t][number]]
        over = np.full((n, 1), t / self.instance.horizon)
        optimum = self._optima[t][number] / (self._most * self.instance.horizon)
        parts = [over, self._request[kind], highest, optimum[:, None]]
        of_sequence = np.concatenate(parts, axis=1)
        of_stock = self._stocks[t]
        S = len(of_stock)
        return np.concatenate(
            [
                np.broadcast_to(of_stock, (n, S, of_stock.shape[1])),
                np.broadcast_to(of_sequence[:, None], (n, S, of_sequence.shape[1])),
            ],
            axis=2,
        )

    def adversary(self, sequences: Ints, t: int) -> Floats:
        """Return what the adversary sees of sequences before round t."""
        J, N = len(self.value), self.instance.horizon
        seen = np.zeros((len(sequences), self.adversary_inputs))
        seen[:, 0] = t / N
        if t:
            before = sequences[:, :t]
            rows = np.arange(len(sequences))
            came = before[:, -1] >= 0
            seen[rows[came], 1 + before[came, -1]] = 1.0
            for column in before.T:
                seen[rows[column >= 0], 1 + J + column[column >= 0]] += 1.0 / N
            seen[:, -1] = self._optimum(before)
        return seen

    def optimum_of(self, sequences: Ints) -> Floats:
        """Return the offline optima of sequences that end with -1."""
        lengths = (sequences >= 0).sum(axis=1)
        best = np.zeros(len(sequences))
        for length in np.unique(lengths).tolist():
            rows = lengths == length
            best[rows] = self._best(sequences[rows, :length])
        return best

    def _optimum(self, before: Ints) -> Floats:
        """Return the optimum of what has come, as the networks see it; what ended is as nothing."""
        scale = self._most * self.instance.horizon
        return self._best(np.maximum(before, 0)) / scale

    def _best(self, sequences: Ints) -> Floats:
        return self._optima[sequences.shape[1]][self.summaries.of(sequences)]


def rounded_seller(sight: Sight, weights: Mapping[str, Floats]) -> AdversarialBundlesSolution:
    """Return the seller of a network, its chances rounded to whole parts of 1/`PARTS`."""
    return written_out(sight.instance, rounded_chances(sight, weights), PARTS)


def rounded_chances(sight: Sight, weights: Mapping[str, Floats]) -> list[Ints]:
    """Return a network's chances of sales in every round, by history before, type and stock."""
    number: Ints = np.zeros(1, dtype=np.int64)  # the summaries of all histories of a length
    parts = []
    for chances, after in zip(
        chances_of_summaries(sight, weights), sight.summaries.after, strict=True
    ):
        parts.append(chances[number])
        number = after[number].ravel()
    return parts


def chances_of_summaries(sight: Sight, weights: Mapping[str, Floats]) -> list[Ints]:
    """Return the same by summary of the history before; in parts of 1/`PARTS`, too."""
    instance, summaries = sight.instance, sight.summaries
    parts = []
    for t, of_round in enumerate(instance.stocks.of_round[:-1]):
        n = len(summaries.optimum[t])
        chances = np.zeros((n, len(instance.types), len(of_round)))
        for j in range(len(instance.types)):
            seen = sight.seller_at(t, np.arange(n), np.full(n, j))
            reached = softmax(logits(weights, seen)).cumsum(axis=2)
            chances[:, j] = reached[:, :, sight.price_of[j]]
        parts.append(np.rint(PARTS * chances).astype(np.int64))
    return parts
