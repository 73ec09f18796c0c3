"""Counterfactual regret minimisation on the tree of histories."""

from __future__ import annotations

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.pieces.learning.regrets import SequenceRegrets, matched
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...subproblems.offline import largest
from ..instance import (
    AdversarialOnlinePolicyCertificate,
    AdversarialOnlinePolicyInstance,
    AdversarialOnlinePolicySolution,
    WeightedSequence,
)
from ..subproblems.exactly import exact_share, within_capacity
from ..subproblems.trees import full_tree

#: Histories of a tree that is still played. Tuned: `benchmarks/constants.py`.
MOST_HISTORIES = 20_000


@method(kind="heuristic", reference="Zinkevich et al. 2007; Tammelin 2014")
def cfr(
    instance: AdversarialOnlinePolicyInstance,
    limits: Limits,
    *,
    iterations: int = 2000,
) -> MethodOutcome:
    r"""Counterfactual regret minimisation on the tree of histories, the means.

    Return the mean policy of regret matching in every history, and the adversary's mean.

    The seller decides in every history h with u units sold whether the last buyer gets a unit; the
    adversary, who sees neither sales nor draws, in every history which level comes next or that the
    sequence ends. The payoff is ALG/OPT, or ALG - OPT. Regrets are cut at 0 and iterates weighted
    by their number (CFR+).

    Parameters
    ----------
    instance : AdversarialOnlinePolicyInstance
    limits : Limits
        `time_s` stops between two iterations.
    iterations : int, default 2000

    Raises
    ------
    ModelRefused
        If there are too many histories, or predictions.

    References
    ----------
    M. Zinkevich, M. Johanson, M. Bowling, C. Piccione, "Regret Minimization in Games with
    Incomplete Information", NIPS 2007. O. Tammelin, "Solving Large Imperfect Information Games
    Using CFR+", arXiv:1407.5042, 2014.
    """
    if iterations < 1:
        raise ModelRefused(f"iterations: {iterations}, expected at least 1")
    if instance.predictions:
        raise ModelRefused("predictions: given, but CFR cannot use them")
    clock, play = Clock(limits), _Play(instance)
    done = 0
    while done < iterations and not (done and clock.expired):
        done += 1
        play.iterate(done)
    return MethodOutcome(
        solution=AdversarialOnlinePolicySolution(
            sale_probability=within_capacity(instance, np.concatenate(play.sold_mean).tolist())
        ),
        certificate=play.certificate(),
        limit_hit=None if done == iterations else "time_s",
        notes={"iterations": done},
    )


class _Play:
    """Regrets and means of both players, an array for every length of histories."""

    def __init__(self, instance: AdversarialOnlinePolicyInstance):
        self.instance = instance
        self.J, self.k, self.N = len(instance.levels), instance.capacity_units, instance.horizon
        self.tree = full_tree(instance, MOST_HISTORIES)
        sizes = [self.J**t for t in range(1, self.N + 1)]
        optimum = np.array([float(x) for x in self.tree.optimum])
        self.optimum = np.split(optimum, np.cumsum(sizes)[:-1])
        levels = np.array([float(x) for x in instance.levels])
        self.value = [np.tile(levels, n // self.J) for n in sizes]
        #: Regrets of selling and of keeping, by units sold.
        self.seller = [np.zeros((2, n, self.k)) for n in sizes]
        self.adversary = SequenceRegrets(self.J, self.N)
        self.sold_mean = [np.zeros(n) for n in sizes]
        self.end_mean = [np.zeros(n) for n in sizes]

    def iterate(self, t: int) -> None:
        """Play once with the current chances, then update all regrets."""
        sells = [matched(r)[0] for r in self.seller]
        moves = self.adversary.moves()
        ends = self.adversary.ends(moves)
        welfare, sold = self._welfare(sells)
        self._update_seller(sells, ends)
        self.adversary.update(moves, self._payoff(welfare))
        # Linear weights: the mean after this iteration.
        share = 2.0 / (t + 1.0)
        for depth in range(self.N):
            self.sold_mean[depth] += share * (sold[depth] - self.sold_mean[depth])
            self.end_mean[depth] += share * (ends[depth] - self.end_mean[depth])

    def _welfare(self, sells: list[Floats]) -> tuple[list[Floats], list[Floats]]:
        """Return the expected welfare after each history, and the chance of a sale there."""
        units = np.zeros((1, self.k + 1))
        units[0, 0] = 1.0
        earned, welfare, sold = np.zeros(1), [], []
        for depth in range(self.N):
            units = np.repeat(units, self.J, axis=0)
            moving = units[:, : self.k] * sells[depth]
            chance = moving.sum(axis=1)
            units = units.copy()
            units[:, : self.k] -= moving
            units[:, 1:] += moving
            earned = np.repeat(earned, self.J) + self.value[depth] * chance
            welfare.append(earned)
            sold.append(chance)
        return welfare, sold

    def _update_seller(self, sells: list[Floats], ends: list[Floats]) -> None:
        """Add the counterfactual regrets of selling and keeping, from the last buyers back."""
        ratio = self.instance.payoff == "ratio"
        counted = [e / o if ratio else e for e, o in zip(ends, self.optimum, strict=True)]
        later = np.zeros((len(ends[-1]), self.k + 1))
        passing = np.zeros(len(ends[-1]))
        for depth in reversed(range(self.N)):
            passing = passing + counted[depth]
            sale = (self.value[depth] * passing)[:, None] + later[:, 1:]
            keep = later[:, : self.k]
            mixed = sells[depth] * sale + (1 - sells[depth]) * keep
            regrets = self.seller[depth]
            regrets[0] = np.maximum(regrets[0] + sale - mixed, 0.0)
            regrets[1] = np.maximum(regrets[1] + keep - mixed, 0.0)
            here = np.concatenate([mixed, later[:, self.k :]], axis=1)
            later = here.reshape(-1, self.J, self.k + 1).sum(axis=1)
            passing = passing.reshape(-1, self.J).sum(axis=1)

    def _payoff(self, welfare: list[Floats]) -> list[Floats]:
        """Return the payoff of each history."""
        both = zip(welfare, self.optimum, strict=True)
        if self.instance.payoff == "ratio":
            return [w / o for w, o in both]
        return [w - o for w, o in both]

    def certificate(self) -> AdversarialOnlinePolicyCertificate:
        """Return the adversary's mean; for the ratio, its chances over OPT are the weights."""
        ratio = self.instance.payoff == "ratio"
        weighted = []
        for history, chance in zip(self.tree.histories, np.concatenate(self.end_mean), strict=True):
            weight = exact_share(float(chance))
            if weight > 0:
                optimum = largest(self.instance.values(history), self.k)
                weight = weight / optimum if ratio else weight
                weighted.append(WeightedSequence(levels=history, weight=weight))
        return AdversarialOnlinePolicyCertificate(sequences=tuple(weighted))
