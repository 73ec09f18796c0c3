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
from typing import Any

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.pieces.networks import Adam, torch_on_one_core
from gadgetopt.system.declaring import trainer

from ....subproblems.grids import geometric
from ...instance import AdversarialOnlinePolicyInstance
from ...sale_table import worst_of_table
from ...subproblems.networks import (
    ADVERSARY_INPUTS,
    SELLER_INPUTS,
    initial_weights,
    logits,
    softmax,
)
from ...subproblems.rounding import rounded_table

#: Parts of a unit in the tables that are certified. Tuned: `benchmarks/constants.py`.
PARTS_PER_UNIT = 24
#: Steps of a round, between two certificates. Tuned: `benchmarks/constants.py`.
STEPS = 10
#: Weight of the old mean in the mean of the iterates. Tuned: `benchmarks/constants.py`.
POLYAK = 0.99
#: Size of a step towards the better prices, and of Adam's. Tuned: `benchmarks/constants.py`.
ETA, RATE = 1.0, 2e-3
#: Pull of the chances towards equal ones, without which they end up at one price, then another.
#: Tuned: `benchmarks/constants.py`.
SELLER_PULL, ADVERSARY_PULL = 0.03, 0.1
#: Batches of the adversary that the seller remembers, and learns from in equal parts.
#: Tuned: `benchmarks/constants.py`.
MEMORY = 50
#: Payoffs between which former answers fade from attention, and how many are kept.
#: Tuned: `benchmarks/constants.py`.
SHARPNESS, MOST_ANSWERS = 0.02, 200


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
        Of `STEPS` steps each.
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


class SellerAndAdversary:
    """The two networks, the mean of the seller's and the best of its certified tables."""

    answered: float
    batch: int
    game: AdversarialOnlinePolicyInstance
    every_action: bool
    rounds: int

    def __init__(
        self,
        seed: int,
        game: AdversarialOnlinePolicyInstance,
        batch: int,
        rounds: int,
        answered: float,
        every_action: bool = True,
    ):
        self.game, self.batch, self.rounds, self.answered = game, batch, rounds, answered
        self.every_action = every_action
        self._torch = torch_on_one_core()
        self._values = np.array([float(x) for x in game.levels])
        J = len(self._values)
        rng = np.random.default_rng(seed)
        self._seller = Adam(initial_weights(rng, SELLER_INPUTS, J + 1), RATE)
        self._adversary = Adam(initial_weights(rng, ADVERSARY_INPUTS, J + 1), RATE)
        self._mean = self._seller.arrays()
        self._best = {name: a.copy() for name, a in self._mean.items()}
        self._best_ratio = np.inf
        # Former worst sequences, one a row, filled up with -1.
        self._answers: Ints = np.full((0, game.horizon), -1, dtype=np.int64)
        self._past: Ints = self._answers

    def round(self, k: int, rng: np.random.Generator) -> Mapping[str, float]:
        """Do some steps of both networks, then certify the mean of the seller's."""
        payoff = 0.0
        for _ in range(STEPS):
            sequences = self._drawn(rng)
            self._past = np.concatenate([self._past, sequences])[-MEMORY * self.batch :]
            remembered = self._past[rng.integers(len(self._past), size=self.batch)]
            if self.answered:
                remembered = np.concatenate([remembered, self._answers])
            if self.every_action:
                payoff = self._seller_step(remembered)
            else:
                payoff = self._drawn_seller_step(remembered, rng)
            self._adversary_step(sequences, rng)
            for name, a in self._seller.arrays().items():
                self._mean[name] = POLYAK * self._mean[name] + (1 - POLYAK) * a
        worst = worst_of_table(self.game, rounded_table(self.game, self._mean, PARTS_PER_UNIT))
        ratio = np.inf
        if worst.welfare:
            ratio = float(worst.offline_welfare / worst.welfare)
        row = np.full((1, self.game.horizon), -1, dtype=np.int64)
        row[0, : len(worst.sequence)] = worst.sequence
        if not (self._answers == row).all(axis=1).any():
            self._answers = np.concatenate([self._answers, row])[-MOST_ANSWERS:]
        if ratio < self._best_ratio:
            self._best_ratio = ratio
            self._best = {name: a.copy() for name, a in self._mean.items()}
        certified = {"certified_ratio": ratio} if np.isfinite(ratio) else {}
        return {"payoff": payoff, "best_ratio": min(self._best_ratio, 1e9), **certified}

    def state(self) -> dict[str, Any]:
        """Return both networks with Adam's moments, the mean, the best, and the answers."""
        kept: dict[str, Any] = {
            "answers": self._answers,
            "past": self._past,
            "best_ratio": np.array(self._best_ratio),
        }
        parts = {
            "seller": self._seller.state(),
            "adversary": self._adversary.state(),
            "mean": self._mean,
            "best": self._best,
        }
        for part, arrays in parts.items():
            kept |= {f"{part}:{name}": a for name, a in arrays.items()}
        return kept

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `state` returned."""

        def of(part: str) -> dict[str, Any]:
            names = [name for name in state if name.startswith(f"{part}:")]
            return {name.removeprefix(f"{part}:"): np.array(state[name]) for name in names}

        self._seller.restore(of("seller"))
        self._adversary.restore(of("adversary"))
        self._mean, self._best = of("mean"), of("best")
        self._best_ratio = float(state["best_ratio"])
        self._answers, self._past = np.array(state["answers"]), np.array(state["past"])

    def policy(self) -> dict[str, Any]:
        """Return the best seller's weights and the game it was trained for."""
        game = {
            "levels": np.array([[x.numerator, x.denominator] for x in self.game.levels]),
            "capacity_units": np.array(self.game.capacity_units),
            "parts_per_unit": np.array(PARTS_PER_UNIT),
        }
        return {**self._best, **game}

    # -- sequences -------------------------------------------------------------

    def _drawn(self, rng: np.random.Generator) -> Ints:
        """Return a batch of the adversary's sequences, shape (batch, N)."""
        none = np.full((self.batch, self.game.horizon), -1, dtype=np.int64)
        return self._played_on(none, 0, rng)

    def _attention(self, payoff: Floats) -> Floats:
        """Return the weights of a batch and of the former answers; the worst answers count most."""
        known = len(payoff) - self.batch
        fresh = np.full(self.batch, (1.0 - self.answered * (known > 0)) / self.batch)
        if not known:
            return fresh
        return np.concatenate([fresh, self.answered * softmax(-payoff[self.batch :] / SHARPNESS)])

    def _played_on(self, sequences: Ints, at: Any, rng: np.random.Generator) -> Ints:
        """Let the adversary play on from round `at` of each sequence; -1 is the end."""
        weights = self._adversary.arrays()
        sequences = sequences.copy()
        uniforms = rng.random(sequences.shape)
        J = len(self._values)
        open_ = np.ones(len(sequences), dtype=bool)
        for t in range(self.game.horizon):
            given = t < np.broadcast_to(at, (len(sequences),))
            chances = softmax(logits(weights, self._prefix(sequences, t)))
            if t == 0:
                chances[:, J] = 0.0  # a sequence has at least one buyer
            cumulated = chances.cumsum(axis=1)
            chosen = (uniforms[:, t, None] * cumulated[:, -1:] > cumulated).sum(axis=1)
            drawn = np.where(open_ & (chosen < J), chosen, -1)
            sequences[:, t] = np.where(given, sequences[:, t], drawn)
            open_ &= sequences[:, t] >= 0
        return sequences

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

    def _seller_step(self, sequences: Ints) -> float:
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
            prices = torch.softmax(logits(self._seller.tensors, inputs), dim=1)
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
        better = torch.softmax((1 - SELLER_PULL) * torch.log(old + 1e-12) + ETA * gain, dim=1)
        said = torch.log_softmax(logits(self._seller.tensors, torch.cat(seen)[rows]), dim=1)
        weights = weight.repeat(len(chances))[rows]
        self._seller.step(-((better * said).sum(dim=1) * weights).sum())
        return float((payoff.detach() * weight).sum())

    def _drawn_seller_step(self, sequences: Ints, rng: np.random.Generator) -> float:
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
            chances = torch.log_softmax(logits(self._seller.tensors, inputs), dim=1)
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
        self._seller.step(-(said * torch.from_numpy((payoff - mean) * weight)).sum())
        return mean

    def _payoff(self, sequences: Ints) -> Floats:
        """Return ALG/OPT of the seller's network on sequences, in arrays."""
        weights = self._seller.arrays()
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

    # -- the adversary ---------------------------------------------------------

    def _adversary_step(self, sequences: Ints, rng: np.random.Generator) -> None:
        """Move the chances of all levels and of the end, in one round of each sequence."""
        torch, J, N = self._torch, len(self._values), self.game.horizon
        count = max(2, self.batch // 4)
        chosen = sequences[rng.integers(len(sequences), size=count)]
        lengths = (chosen >= 0).sum(axis=1)
        # Up to the length itself, where the end is decided, if there is a round left.
        at = np.minimum(rng.integers(0, lengths + 1), N - 1)
        branches = np.repeat(chosen, J + 1, axis=0)
        places = np.repeat(at, J + 1)
        branches[np.arange(N)[None, :] >= places[:, None]] = -1
        action = np.tile(np.arange(J + 1), count)
        branches[np.arange(len(branches)), places] = np.where(action < J, action, -1)
        played = self._common(branches, places + 1, count, rng)
        empty = played[:, 0] < 0
        played[empty, 0] = 0
        payoff = self._payoff(played).reshape(count, J + 1)
        inputs = np.stack([self._prefix(chosen[i : i + 1], int(at[i]))[0] for i in range(count)])
        old = softmax(logits(self._adversary.arrays(), inputs))
        ends_nothing = at == 0
        payoff[ends_nothing, J] = payoff[ends_nothing, :J].max(axis=1)
        better = softmax((1 - ADVERSARY_PULL) * np.log(old + 1e-12) - ETA * payoff)
        said = torch.log_softmax(logits(self._adversary.tensors, torch.from_numpy(inputs)), dim=1)
        self._adversary.step(-(torch.from_numpy(better) * said).sum(dim=1).mean())

    def _common(self, branches: Ints, at: Ints, count: int, rng: np.random.Generator) -> Ints:
        """Play on from all actions of a round with common random numbers."""
        state = rng.bit_generator.state
        parts = []
        actions = len(branches) // count
        for a in range(actions):
            rng.bit_generator.state = state
            chosen = slice(a, None, actions)
            parts.append(self._played_on_if_open(branches[chosen], at[chosen], rng))
        played = np.empty_like(branches)
        for a, part in enumerate(parts):
            played[a::actions] = part
        return played

    def _played_on_if_open(self, sequences: Ints, at: Ints, rng: np.random.Generator) -> Ints:
        """Play on unless the sequence ended in the round before `at`."""
        ended = sequences[np.arange(len(sequences)), at - 1] < 0
        played = self._played_on(sequences, at, rng)
        return np.where(ended[:, None], sequences, played)
