"""Counterfactual regret minimisation, the tabular way to the game's equilibrium."""

from __future__ import annotations

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.pieces.learning.regrets import SequenceRegrets, matched
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..evaluate import num_probabilities, optima
from ..instance import (
    AdversarialBundlesCertificate,
    AdversarialBundlesInstance,
    AdversarialBundlesSolution,
    WeightedSequence,
)
from ..subproblems.rounding import near
from ..subproblems.sellers import followed, written_out

#: Pairs of histories and stocks of a game that is still played. Tuned: `benchmarks/constants.py`.
MOST_PAIRS = 100_000
#: Parts of a chance of a sale in the mean seller that is handed back. By definition.
_PARTS = 2**16


@method(kind="heuristic", reference="Zinkevich et al. 2007; Tammelin 2014")
def cfr(
    instance: AdversarialBundlesInstance, limits: Limits, *, iterations: int = 2000
) -> MethodOutcome:
    r"""Counterfactual regret minimisation over all histories and stocks, the means.

    Return the mean seller of regret matching, and the adversary's mean as a lottery.

    The seller decides at every history h with every stock s whether the last request is sold to;
    the adversary, who sees neither stock nor draws, after every history which type comes next or
    that the sequence ends. The payoff is ALG/OPT. Regrets are exact: in every iteration all actions
    of one player are valued against the other's chances, then those of the other. Regrets are cut
    at 0, and the iterates are weighted by their number (CFR+). Nothing is drawn, so that the same
    game has the same result.

    Parameters
    ----------
    instance : AdversarialBundlesInstance
    limits : Limits
        `time_s` stops between two iterations.
    iterations : int, default 2000

    Raises
    ------
    ModelRefused
        If there are too many histories, or no iterations.

    References
    ----------
    M. Zinkevich, M. Johanson, M. Bowling, C. Piccione, "Regret Minimization in Games with
    Incomplete Information", NIPS 2007. O. Tammelin, "Solving Large Imperfect Information Games
    Using CFR+", arXiv:1407.5042, 2014.
    """
    if iterations < 1:
        raise ModelRefused(f"iterations: {iterations}, expected at least 1")
    if num_probabilities(instance) > MOST_PAIRS:
        raise ModelRefused(f"horizon: more than {MOST_PAIRS} histories with their stocks")
    clock, play = Clock(limits), _Play(instance)
    done = 0
    while done < iterations and not (done and clock.expired):
        done += 1
        play.iterate(done)
    return MethodOutcome(
        solution=play.seller(),
        certificate=play.certificate(),
        limit_hit=None if done == iterations else "time_s",
        notes={"iterations": done},
    )


class _Play:
    """Regrets and means of both players, an array for every number of requests so far."""

    def __init__(self, instance: AdversarialBundlesInstance) -> None:
        self.instance = instance
        J, N, stocks = len(instance.types), instance.horizon, instance.stocks
        self.J, self.N = J, N
        self.value: Floats = np.array([float(kind.value) for kind in instance.types])
        whole, self.money = optima(instance)
        self.whole = whole
        self.optimum: list[Floats] = [np.asarray(x, dtype=float) / self.money for x in whole]
        self.kept = [np.array(row) for row in stocks.kept]
        self.sold = [np.array(rows).T for rows in stocks.sold]  # by type and stock, -1: never
        shapes = [(J**t, J, len(stocks.of_round[t])) for t in range(N)]
        self.of_seller = [np.zeros((2, *shape)) for shape in shapes]  # of selling, of keeping
        self.adversary = SequenceRegrets(J, N)
        self.sale_mean = [np.zeros(shape) for shape in shapes]
        self.end_mean = [np.zeros(J ** (t + 1)) for t in range(N)]

    def iterate(self, t: int) -> None:
        """Update the seller against the adversary's chances, then the adversary."""
        moves = self.adversary.moves()
        ends = self.adversary.ends(moves)
        self._update_seller(ends)
        sales = list(followed(self.instance, self._chances()))
        self.adversary.update(moves, self._payoff(sales))
        # The mean after this iteration, whose weight is its number: of probabilities of sales, in
        # which every mixture of sellers is linear, rather than of chances.
        share = 2.0 / (t + 1.0)
        for depth in range(self.N):
            self.sale_mean[depth] += share * (sales[depth] - self.sale_mean[depth])
            self.end_mean[depth] += share * (ends[depth] - self.end_mean[depth])

    def seller(self) -> AdversarialBundlesSolution:
        """Return the mean seller, the chances of sales rounded to parts of 1/`_PARTS`."""
        held: Floats = np.ones((1, 1))
        parts = []
        for depth, sale in enumerate(self.sale_mean):
            before = np.broadcast_to(held[:, None], sale.shape)
            chance = np.divide(sale, before, out=np.zeros_like(sale), where=before > 0)
            parts.append(np.rint(_PARTS * np.clip(chance, 0, 1)).astype(np.int64))
            after = np.zeros((*sale.shape[:2], len(self.instance.stocks.of_round[depth + 1])))
            for s, kept in enumerate(self.kept[depth].tolist()):
                after[:, :, kept] += before[:, :, s] - sale[:, :, s]
                for j, n in enumerate(self.sold[depth][:, s].tolist()):
                    if n >= 0:
                        after[:, j, n] += sale[:, j, s]
            held = after.reshape(-1, after.shape[2])
        return written_out(self.instance, parts, _PARTS)

    def certificate(self) -> AdversarialBundlesCertificate:
        """Return the adversary's mean: its chances over OPT are the weights of sequences."""
        weighted = []
        for depth, chances in enumerate(self.end_mean):
            optimum = self.whole[depth]
            for n in np.flatnonzero(chances).tolist():
                weight = near(float(chances[n])) * self.money / int(optimum[n])
                if weight > 0:
                    weighted.append(WeightedSequence(types=self._types(depth, n), weight=weight))
        return AdversarialBundlesCertificate(sequences=tuple(weighted))

    def _chances(self) -> list[Floats]:
        """Return the seller's chances of sales."""
        return [matched(regrets)[0] for regrets in self.of_seller]

    def _update_seller(self, ends: list[Floats]) -> None:
        """Add the counterfactual regrets of selling and keeping, from the last requests back."""
        chances, types = self._chances(), np.arange(self.J)[:, None]
        later: Floats = np.zeros((self.J**self.N, 1))  # by history and the stock after it
        passing: Floats = np.zeros(self.J**self.N)
        for depth in reversed(range(self.N)):
            # Of a sequence through this history, money counts by its share of OPT at the end.
            passing = passing + ends[depth] / self.optimum[depth]
            after = later.reshape(-1, self.J, later.shape[1])
            worth = self.value * passing.reshape(-1, self.J)
            keep = after[:, :, self.kept[depth]]
            sale = worth[:, :, None] + after[:, types, self.sold[depth]]
            sale = np.where(self.sold[depth] >= 0, sale, keep)  # never: nothing is decided
            mixed = chances[depth] * sale + (1 - chances[depth]) * keep
            sells, keeps = self.of_seller[depth]
            np.maximum(sells + sale - mixed, 0.0, out=sells)
            np.maximum(keeps + keep - mixed, 0.0, out=keeps)
            later = mixed.sum(axis=1)
            passing = passing.reshape(-1, self.J).sum(axis=1)

    def _payoff(self, sales: list[Floats]) -> list[Floats]:
        """Return ALG/OPT of each history."""
        payoff, earned = [], np.zeros(1)
        for sold, optimum in zip(sales, self.optimum, strict=True):
            earned = (earned[:, None] + sold.sum(axis=2) * self.value).ravel()
            payoff.append(earned / optimum)
        return payoff

    def _types(self, depth: int, n: int) -> tuple[int, ...]:
        """Return the types of the n-th history of depth + 1 requests."""
        types = []
        for _ in range(depth + 1):
            n, j = divmod(n, self.J)
            types.append(j)
        return tuple(reversed(types))
