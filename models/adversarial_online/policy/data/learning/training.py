r"""The networks and their training: a seller and an adversary (reconstructed).

* The seller's network sees the share of the units that is left and the largest value so far, and
  answers with chances of M = J + 1 posted prices, the levels and "none". A buyer of value v gets a
  unit with the chance of the prices up to v, over the draw of one seed, so the units sold are a
  function of the sequence. Time, mean value and sum sold, which the notes have too, are left out:
  so the policy is a table whose worst sequence a dynamic program finds.
* The adversary's network sees the share of the rounds that is over, and largest, mean and k-th
  largest value, and answers with chances of the J levels and of the end.
* Update for every action. The payoff is ALG/OPT. For every round of a sequence and every price p
  the payoff's derivative Q(p) by the chance of p, the networks playing on, comes out of one pass
  backwards from the last round; the seller's chances go towards :math:`\pi e^{\eta(Q - V)}`,
  :math:`V = \sum \pi Q`, by cross-entropy. The adversary does so with -Q for one round a sequence
  and every level, by rollouts with common random numbers.
* To hold against it, the update for the prices that were drawn: the seller posts them one by one to
  whole units, and the logarithm of their chances is weighted by :math:`ALG/OPT - b`, b being the
  mean of the batch (the score-function estimate, reconstructed).
* The adversary's network alone lags behind: the seller also learns from the sequences that the
  dynamic program found worst for it after earlier rounds, most from those that still are (ours).
* Chances are pulled towards equal ones a little, and the seller remembers the adversary's last
  batches; else both chase each other from one pure choice to the next (ours).
* The seller that is kept is the mean of the iterates (polyak) with the best certified ratio.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.pieces.learning.networks import (
    ETA,
    PLAYER_PULL,
    RATE,
    AgainstSequences,
    SequenceNetwork,
    initial_weights,
    logits,
    softmax,
)
from gadgetopt.system.declaring import trainer

from ....subproblems.grids import geometric
from ...instance import AdversarialOnlinePolicyInstance
from ...sale_table import worst_of_table
from ...subproblems.networks import ADVERSARY_INPUTS, SELLER_INPUTS
from ...subproblems.rounding import rounded_table

#: Parts of a unit in the tables that are certified. Tuned: `benchmarks/constants.py`.
PARTS_PER_UNIT = 24


@trainer(
    name="networks",
    methods=("learned",),
    presets={
        "small": {"rounds": 100},
        "five_units": {"units": 5, "horizon": 15},
        "quickstart": {"levels": 3, "horizon": 5, "rounds": 60},
    },
)
def start(
    seed: int,
    *,
    units: int = 2,
    levels: int = 5,
    horizon: int = 6,
    spread: int = 4,
    batch: int = 96,
    rounds: int = 200,
    answered: float = 0.5,
    every_action: bool = True,
) -> SellerAndAdversary:
    """A seller's and an adversary's network, updated for every action.

    Return the training of one game, a geometric grid from 1 to `spread`.

    Parameters
    ----------
    seed : int
        Of the initial weights.
    units, levels, horizon, spread : int
        The game.
    batch : int
        Sequences of a step.
    rounds : int
        Of ten steps each.
    answered : float
        Weight of former certified worst sequences of the seller in what it learns from, which the
        paper's adversary has to find by itself; 0 for none.
    every_action : bool
        Whether the seller is updated for every price of a round, as in the paper, or for the one
        that was drawn.

    Raises
    ------
    InputError
        If a parameter is out of range.
    ModelRefused
        If torch is not installed.
    """
    if min(units, horizon, rounds) < 1 or levels < 2 or batch < 2 or not 0 <= answered < 1:
        raise InputError(
            "units, horizon, rounds: expected at least 1, levels and batch at least 2, "
            "answered from 0 to below 1"
        )
    game = AdversarialOnlinePolicyInstance(
        levels=tuple(geometric(levels, spread)), capacity_units=units, horizon=horizon
    )
    return SellerAndAdversary(seed, game, batch, rounds, answered, every_action)


class SellerAndAdversary(AgainstSequences):
    """The two networks, the mean of the seller's and the best of its certified tables."""

    game: AdversarialOnlinePolicyInstance

    def __init__(
        self,
        seed: int,
        game: AdversarialOnlinePolicyInstance,
        batch: int,
        rounds: int,
        answered: float,
        every_action: bool = True,
    ):
        self.game = game
        self._values = np.array([float(x) for x in game.levels])
        J = len(self._values)
        rng = np.random.default_rng(seed)
        seller = initial_weights(rng, SELLER_INPUTS, J + 1)
        adversary = initial_weights(rng, ADVERSARY_INPUTS, J + 1)
        super().__init__(
            seller,
            SequenceNetwork(adversary, RATE, game.horizon, self._prefix),
            game.horizon,
            batch=batch,
            rounds=rounds,
            answered=answered,
            every_action=every_action,
        )

    def policy(self) -> dict[str, Any]:
        """Return the best seller's weights and the game it was trained for."""
        game = {
            "levels": np.array([[x.numerator, x.denominator] for x in self.game.levels]),
            "capacity_units": np.array(self.game.capacity_units),
            "parts_per_unit": np.array(PARTS_PER_UNIT),
        }
        return {**self._best, **game}

    # -- sequences -------------------------------------------------------------

    def _certified(self, weights: Mapping[str, Floats]) -> tuple[tuple[int, ...], Fraction | None]:
        worst = worst_of_table(self.game, rounded_table(self.game, weights, PARTS_PER_UNIT))
        ratio = worst.offline_welfare / worst.welfare if worst.welfare else None
        return worst.sequence, ratio

    def _prefix(self, sequences: Ints, t: int) -> Floats:
        """Return what the adversary sees before round t, shape (sequences, inputs)."""
        seen = np.zeros((len(sequences), ADVERSARY_INPUTS))
        seen[:, 0] = t / self.game.horizon
        if t:
            values = np.where(sequences[:, :t] >= 0, self._values[sequences[:, :t]], 0.0)
            values = np.sort(values / self._values[-1], axis=1)
            seen[:, 1], seen[:, 2] = values[:, -1], values.mean(axis=1)
            if t >= self.game.capacity_units:
                seen[:, 3] = values[:, -self.game.capacity_units]
        return seen

    def _optimum(self, sequences: Ints) -> Floats:
        values = np.where(sequences >= 0, self._values[sequences], 0.0)
        return np.asarray(np.sort(values, axis=1)[:, -self.game.capacity_units :].sum(axis=1))

    # -- the seller ------------------------------------------------------------

    def _step(self, sequences: Ints) -> float:
        """Move the chances of all prices, in every round of every sequence; return the payoff."""
        torch = self._torch
        units = float(self.game.capacity_units)
        optimum = torch.from_numpy(self._optimum(sequences))
        sold = torch.zeros(len(sequences), dtype=torch.float64)
        earned = torch.zeros(len(sequences), dtype=torch.float64)
        highest = np.zeros(len(sequences))
        seen, chances, alive = [], [], []
        for t in range(self.game.horizon):
            comes = sequences[:, t] >= 0
            if not comes.any():
                break
            level = np.maximum(sequences[:, t], 0)
            inputs = torch.stack([1 - sold / units, torch.from_numpy(highest)], dim=1)
            prices = torch.softmax(logits(self._player.tensors, inputs), dim=1)
            prices.retain_grad()
            reached = prices.cumsum(dim=1).gather(1, torch.from_numpy(level)[:, None])[:, 0]
            share = torch.minimum(reached, units - sold) * torch.from_numpy(comes.astype(float))
            value = torch.from_numpy(self._values[level])
            sold, earned = sold + share, earned + value * share
            seen.append(inputs.detach())
            chances.append(prices)
            alive.append(torch.from_numpy(comes))
            highest = np.where(
                comes, np.maximum(highest, value.numpy() / self._values[-1]), highest
            )
        payoff = earned / optimum
        payoff.sum().backward(inputs=chances)
        weight = torch.from_numpy(self._attention(payoff.detach().numpy()))
        rows = torch.cat(alive)
        old = torch.cat([p.detach() for p in chances])[rows]
        gain = torch.cat([p.grad for p in chances])[rows] * units
        better = torch.softmax((1 - PLAYER_PULL) * torch.log(old + 1e-12) + ETA * gain, dim=1)
        said = torch.log_softmax(logits(self._player.tensors, torch.cat(seen)[rows]), dim=1)
        weights = weight.repeat(len(chances))[rows]
        self._player.step(-((better * said).sum(dim=1) * weights).sum())
        return float((payoff.detach() * weight).sum())

    def _drawn_step(self, sequences: Ints, rng: np.random.Generator) -> float:
        """Move the chances of the prices that are drawn, by what the sequence pays."""
        torch = self._torch
        units, J = self.game.capacity_units, len(self._values)
        left = np.full(len(sequences), units)
        earned, highest = np.zeros(len(sequences)), np.zeros(len(sequences))
        said = torch.zeros(len(sequences), dtype=torch.float64)
        for t in range(self.game.horizon):
            comes = sequences[:, t] >= 0
            if not comes.any():
                break
            level = np.maximum(sequences[:, t], 0)
            inputs = torch.from_numpy(np.stack([left / units, highest], axis=1))
            chances = torch.log_softmax(logits(self._player.tensors, inputs), dim=1)
            cumulated = chances.detach().exp().numpy().cumsum(axis=1)
            drawn = (rng.random((len(level), 1)) * cumulated[:, -1:] > cumulated).sum(axis=1)
            # With no unit left, or no buyer, the price decides nothing.
            decides = torch.from_numpy((comes & (left > 0)).astype(float))
            price = torch.from_numpy(np.minimum(drawn, J))
            said = said + decides * chances.gather(1, price[:, None])[:, 0]
            sells = comes & (left > 0) & (drawn <= level)
            left = left - sells
            earned = earned + self._values[level] * sells
            now = np.maximum(highest, self._values[level] / self._values[-1])
            highest = np.where(comes, now, highest)
        payoff = earned / self._optimum(sequences)
        weight = self._attention(payoff)
        mean = float((payoff * weight).sum())
        self._player.step(-(said * torch.from_numpy((payoff - mean) * weight)).sum())
        return mean

    def _payoff(self, sequences: Ints) -> Floats:
        """Return ALG/OPT of the seller's network on sequences, in arrays."""
        weights = self._player.arrays()
        units = float(self.game.capacity_units)
        sold, earned = np.zeros(len(sequences)), np.zeros(len(sequences))
        highest = np.zeros(len(sequences))
        for t in range(self.game.horizon):
            comes = sequences[:, t] >= 0
            if not comes.any():
                break
            level = np.maximum(sequences[:, t], 0)
            prices = softmax(logits(weights, np.stack([1 - sold / units, highest], axis=1)))
            reached = prices.cumsum(axis=1)[np.arange(len(level)), level]
            share = np.minimum(reached, units - sold) * comes
            sold, earned = sold + share, earned + self._values[level] * share
            now = np.maximum(highest, self._values[level] / self._values[-1])
            highest = np.where(comes, now, highest)
        return np.asarray(earned / self._optimum(sequences))
