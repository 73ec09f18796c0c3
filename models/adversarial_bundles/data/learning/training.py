r"""The networks and their training: a seller and an adversary (reconstructed).

`subproblems.networks` says what they see and answer.

* Update for every action. The payoff is ALG/OPT. For every round of a sequence, every stock that
  draws may have led to and every price p, the payoff's derivative Q(p) by the chance of p, the
  networks playing on, comes out of one pass backwards from the last round: no draw is sampled. The
  seller's chances go towards :math:`\pi e^{\eta(Q - V)}`, :math:`V = \sum \pi Q`, by cross-entropy,
  each stock weighted by its probability. The adversary does so with -Q for one round a sequence and
  every type, by continuations with common random numbers.
* To hold against it, the update for the prices that were drawn: the logarithm of their chances is
  weighted by :math:`ALG/OPT - b`, b being the mean of the batch (the score-function estimate).
* The seller also learns from the sequences that were worst for it, exactly, after earlier rounds
  (ours; not with `answered=0`, which is the paper's way alone).
* Chances are pulled towards equal ones a little, and the seller remembers the adversary's last
  batches (ours).
* The seller that is kept is the mean of the iterates with the best certified ratio. In games of too
  many histories that is the bound above it that is proved (`proving.bounds.interval`).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.pieces.learning.networks import (
    ETA,
    PLAYER_PULL,
    RATE,
    AgainstSequences,
    SequenceNetwork,
    initial_weights,
    logits,
)
from gadgetopt.system.declaring import trainer

from ...algorithms.learned import game_arrays
from ...evaluate import num_probabilities
from ...instance import AdversarialBundlesInstance
from ...proving.bounds.interval import SummarySeller, worst_interval
from ...subproblems.networks import PARTS, Sight, chances_of_summaries, rounded_chances
from ...subproblems.sellers import worst_of_chances
from ..generate import presets

#: Probability of a stock below which what it earns is not divided by it. By definition.
_RARE = 1e-3

#: Generators whose games are trained for. By definition.
GAMES = {
    "quickstart": presets.quickstart,
    "units": presets.units,
    "paper": presets.paper,
    "kept_for_good": presets.kept_for_good,
}


@trainer(
    name="networks",
    methods=("learned",),
    presets={
        "small": {"horizon": 3, "rounds": 20},
        "quickstart": {},
        "paper_way": {"answered": 0.0},
        "units": {"game": "units", "horizon": 6, "rounds": 200},
        "given_back": {"game": "paper", "game_seed": 1, "rounds": 200},
        "longer": {"horizon": 9, "rounds": 200},
    },
)
def start(
    seed: int,
    *,
    game: Literal["quickstart", "units", "paper", "kept_for_good"] = "quickstart",
    game_seed: int = 0,
    horizon: int = 5,
    units: int = 2,
    batch: int = 96,
    rounds: int = 60,
    answered: float = 0.5,
    every_action: bool = True,
) -> SellerAndAdversary:
    """A seller's and an adversary's network for bundles, updated for every action.

    Return the training of a generator's game.

    Parameters
    ----------
    seed : int
        Of the initial weights.
    game : "quickstart", "units", "paper" or "kept_for_good"
        The generator that draws the game.
    game_seed : int
        From which it draws.
    horizon, units : int
        Its parameters.
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
        If torch is not installed, or histories of the game have too many summaries.
    """
    if min(units, horizon, rounds) < 1 or batch < 2 or not 0 <= answered < 1:
        raise InputError(
            "units, horizon, rounds: expected at least 1, batch at least 2, "
            "answered from 0 to below 1"
        )
    played = GAMES[game](np.random.default_rng(game_seed), horizon=horizon, units=units)
    return SellerAndAdversary(seed, played, batch, rounds, answered, every_action)


class SellerAndAdversary(AgainstSequences):
    """The two networks, the mean of the seller's and the best of its certified sellers."""

    game: AdversarialBundlesInstance

    def __init__(
        self,
        seed: int,
        game: AdversarialBundlesInstance,
        batch: int,
        rounds: int,
        answered: float,
        every_action: bool = True,
    ) -> None:
        self.game = game
        try:
            num_probabilities(game)
            self._few = True
        except ModelRefused:
            self._few = False
        sight = self._sight = Sight(game)
        rng = np.random.default_rng(seed)
        seller = initial_weights(rng, sight.seller_inputs, sight.num_prices + 1)
        adversary = initial_weights(rng, sight.adversary_inputs, len(game.types) + 1)
        super().__init__(
            seller,
            SequenceNetwork(adversary, RATE, game.horizon, sight.adversary),
            game.horizon,
            batch=batch,
            rounds=rounds,
            answered=answered,
            every_action=every_action,
        )
        self._moves = [self._moves_of(t) for t in range(game.horizon)]

    def policy(self) -> dict[str, Any]:
        """Return the best seller's weights, its game, and the ratio that was certified.

        The ratio is written above rather than below, with a denominator that doubles hold.
        """
        ratio = self._best_ratio or Fraction(10**9)
        scale = 10**6
        certified = np.array([-(-ratio.numerator * scale // ratio.denominator), scale], dtype=float)
        return {**self._best, **game_arrays(self.game), "certified_ratio": certified}

    def _certified(self, weights: Mapping[str, Floats]) -> tuple[tuple[int, ...], Fraction | None]:
        if self._few:
            return worst_of_chances(self.game, rounded_chances(self._sight, weights), PARTS)
        seller = SummarySeller(chances_of_summaries(self._sight, weights), PARTS)
        found = worst_interval(self.game, self._sight.summaries, seller)
        return found.sequence, found.upper

    # -- the seller ------------------------------------------------------------

    def _moves_of(self, t: int) -> tuple[Any, Any, Any]:
        """Return, as tensors, what fits, by type and stock, and where stocks lead to.

        Where they lead to if nothing is sold: by stock and stock of the next round; if it is: by
        type, too.
        """
        stocks, J = self.game.stocks, len(self.game.types)
        S, after = len(stocks.of_round[t]), len(stocks.of_round[t + 1])
        kept, sold = np.zeros((S, after)), np.zeros((J, S, after))
        for s in range(S):
            kept[s, stocks.kept[t][s]] = 1.0
            for j, n in enumerate(stocks.sold[t][s]):
                if n >= 0:
                    sold[j, s, n] = 1.0
        torch = self._torch
        return torch.from_numpy(sold.sum(axis=2)), torch.from_numpy(kept), torch.from_numpy(sold)

    def _played(self, sequences: Ints) -> tuple[Any, list[tuple[Any, Any, Any, Any]]]:
        """Return ALG/OPT of sequences, and what was decided in every round.

        That is what was seen and the chances of prices, whose gradients are kept, a row a decision;
        how probable the decision is, by sequence and stock; and where it is one.
        """
        torch, sight = self._torch, self._sight
        held = torch.ones((len(sequences), 1), dtype=torch.float64)
        earned = torch.zeros(len(sequences), dtype=torch.float64)
        rounds = []
        for t in range(self.game.horizon):
            comes = sequences[:, t] >= 0
            if not comes.any():
                break
            kind = np.maximum(sequences[:, t], 0)
            fits, kept, after = self._moves[t]
            decides = held.detach() * fits[kind] * torch.from_numpy(comes.astype(float))[:, None]
            rows = decides > 0  # where a bundle does not fit, or nobody comes, nothing is decided
            seen = sight.seller(np.maximum(sequences[:, :t], 0), kind)[rows.numpy()]
            prices = torch.softmax(logits(self._player.tensors, torch.from_numpy(seen)), dim=1)
            if prices.requires_grad:
                prices.retain_grad()
            place = np.broadcast_to(sight.price_of[kind][:, None], rows.shape)[rows.numpy()]
            reached = prices.cumsum(dim=1).gather(1, torch.from_numpy(place)[:, None])[:, 0]
            sale = torch.zeros_like(held).masked_scatter(rows, held[rows] * reached)
            rounds.append((torch.from_numpy(seen), prices, decides, rows))
            earned = earned + torch.from_numpy(sight.value[kind]) * sale.sum(dim=1)
            held = (held - sale) @ kept + torch.einsum("ns,nsx->nx", sale, after[kind])
        return earned / torch.from_numpy(sight.optimum_of(sequences)), rounds

    def _step(self, sequences: Ints) -> float:
        """Move the chances of all prices, with every stock, in every round of every sequence."""
        torch = self._torch
        payoff, rounds = self._played(sequences)
        payoff.sum().backward(inputs=[prices for _, prices, _, _ in rounds])
        weight = torch.from_numpy(self._attention(payoff.detach().numpy()))
        loss = torch.zeros((), dtype=torch.float64)
        for seen, prices, decides, rows in rounds:
            held = decides[rows]
            # What a price earns where the stock is held: the derivative counts how often it is.
            gain = prices.grad / held.clamp(min=_RARE)[:, None]
            old = torch.log(prices.detach() + 1e-12)
            better = torch.softmax((1 - PLAYER_PULL) * old + ETA * gain, dim=1)
            said = torch.log_softmax(logits(self._player.tensors, seen), dim=1)
            counts = (decides * weight[:, None])[rows]
            loss = loss - ((better * said).sum(dim=1) * counts).sum()
        self._player.step(loss)
        return float((payoff.detach() * weight).sum())

    def _drawn_step(self, sequences: Ints, rng: np.random.Generator) -> float:
        """Move the chances of the prices that are drawn, by what the sequence pays."""
        torch, sight, stocks = self._torch, self._sight, self.game.stocks
        n = len(sequences)
        held, earned = np.zeros(n, dtype=np.int64), np.zeros(n)
        said = torch.zeros(n, dtype=torch.float64)
        rows = np.arange(n)
        for t in range(self.game.horizon):
            comes = sequences[:, t] >= 0
            if not comes.any():
                break
            kind = np.maximum(sequences[:, t], 0)
            seen = sight.seller(np.maximum(sequences[:, :t], 0), kind)[rows, held]
            chances = torch.log_softmax(logits(self._player.tensors, torch.from_numpy(seen)), dim=1)
            cumulated = chances.detach().exp().numpy().cumsum(axis=1)
            drawn = (rng.random((n, 1)) * cumulated[:, -1:] > cumulated).sum(axis=1)
            after = np.array(stocks.sold[t])[held, kind]
            # Where the bundle does not fit, or nobody comes, the price decides nothing.
            decides = comes & (after >= 0)
            price = torch.from_numpy(np.minimum(drawn, sight.num_prices))
            chosen = chances.gather(1, price[:, None])[:, 0]
            said = said + torch.from_numpy(decides.astype(float)) * chosen
            sells = decides & (drawn <= sight.price_of[kind])
            held = np.where(sells, after, np.array(stocks.kept[t])[held])
            earned = earned + sight.value[kind] * sells
        payoff = earned / sight.optimum_of(sequences)
        weight = self._attention(payoff)
        mean = float((payoff * weight).sum())
        self._player.step(-(said * torch.from_numpy((payoff - mean) * weight)).sum())
        return mean

    def _payoff(self, sequences: Ints) -> Floats:
        """Return ALG/OPT of the seller's network on sequences."""
        with self._torch.no_grad():
            payoff, _ = self._played(sequences)
        return np.asarray(payoff.numpy())
