"""Networks trained with torch on one core: the same numbers from the same seed, state as arrays.

Torch is in the extra `learn`. What a trained network computes is written with `@`, `+` and `clip`,
which arrays and tensors share, so that methods read a policy and use it without torch.

`initial_weights`, `logits` and `softmax` are a network of two hidden layers; `SequenceNetwork`
draws sequences with one, and learns which of them pay an opponent least; `AgainstSequences` trains
such an opponent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats, Ints

#: Units of the two hidden layers of `logits`. Tuned: `benchmarks/constants.py`.
HIDDEN = 64
#: Steps of a round, between two certificates. Tuned: `benchmarks/constants.py`.
STEPS = 10
#: Weight of the old mean in the mean of the iterates. Tuned: `benchmarks/constants.py`.
POLYAK = 0.99
#: Size of a step towards the better actions, and of Adam's. Tuned: `benchmarks/constants.py`.
ETA, RATE = 1.0, 2e-3
#: Pull of the player's and of the opponent's chances towards equal ones, without which they end up
#: at one action, then another. Tuned: `benchmarks/constants.py`.
PLAYER_PULL, SEQUENCES_PULL = 0.03, 0.1
#: Batches of sequences that the player remembers, and learns from in equal parts.
#: Tuned: `benchmarks/constants.py`.
MEMORY = 50
#: Payoffs between which former answers fade from attention, and how many are kept.
#: Tuned: `benchmarks/constants.py`.
SHARPNESS, MOST_ANSWERS = 0.02, 200

Arrays = Mapping[str, npt.NDArray[Any]]


def torch_on_one_core() -> Any:
    """Import torch, on one thread and with deterministic algorithms only.

    Raises
    ------
    ModelRefused
        If it is not installed.
    """
    try:
        import torch
    except ImportError:
        raise ModelRefused(
            "torch is not installed, which this training needs: pip install 'gadgetopt[learn]'"
        ) from None
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    return torch


class Adam:
    """Parameters as tensors by name, with Adam's step; its state is arrays.

    Parameters
    ----------
    arrays : mapping
        The parameters at the start.
    learning_rate : float
    """

    def __init__(self, arrays: Arrays, learning_rate: float):
        self._torch = torch_on_one_core()
        self.tensors: dict[str, Any] = {
            name: self._torch.tensor(np.asarray(a, dtype=np.float64), requires_grad=True)
            for name, a in arrays.items()
        }
        self._adam = self._torch.optim.Adam(list(self.tensors.values()), lr=learning_rate)

    def set_rate(self, learning_rate: float) -> None:
        """Change the learning rate of the steps to come."""
        for group in self._adam.param_groups:
            group["lr"] = learning_rate

    def step(self, loss: Any, largest_norm: float = 10.0) -> float:
        """Descend along a loss's gradient, of at most this norm; return the loss."""
        self._adam.zero_grad()
        loss.backward()
        self._torch.nn.utils.clip_grad_norm_(list(self.tensors.values()), largest_norm)
        self._adam.step()
        return float(loss.detach())

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the parameters."""
        return {name: t.detach().numpy().copy() for name, t in self.tensors.items()}

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return the parameters and Adam's moments."""
        kept = self.arrays()
        for name, t in self.tensors.items():
            for part, value in self._adam.state.get(t, {}).items():
                kept[f"{name}/{part}"] = value.detach().numpy().copy()
        return kept

    def restore(self, state: Arrays) -> None:
        """Take over what `state` returned."""
        torch = self._torch
        for name, t in self.tensors.items():
            with torch.no_grad():
                t.copy_(torch.from_numpy(state[name]))
            moments = {
                part: torch.from_numpy(np.array(state[f"{name}/{part}"]))
                for part in ("step", "exp_avg", "exp_avg_sq")
                if f"{name}/{part}" in state
            }
            if moments:
                self._adam.state[t] = moments


def initial_weights(rng: np.random.Generator, inputs: int, outputs: int) -> dict[str, Floats]:
    """Return weights of a network with two hidden layers; its first answers are nearly uniform."""
    sizes = [inputs, HIDDEN, HIDDEN, outputs]
    weights: dict[str, Floats] = {}
    for layer, (n, m) in enumerate(pairwise(sizes), start=1):
        spread = np.sqrt(2.0 / n) * (0.01 if layer == len(sizes) - 1 else 1.0)
        weights[f"w{layer}"] = spread * rng.standard_normal((n, m))
        weights[f"b{layer}"] = np.zeros(m)
    return weights


def logits(weights: Mapping[str, Any], seen: Any) -> Any:
    """Return the network's last layer before the softmax; arrays or tensors."""
    first = (seen @ weights["w1"] + weights["b1"]).clip(0)
    second = (first @ weights["w2"] + weights["b2"]).clip(0)
    return second @ weights["w3"] + weights["b3"]


def softmax(x: Floats) -> Floats:
    """Return the softmax of the last axis."""
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True))


class SequenceNetwork:
    """A network that draws sequences of symbols, and learns which of them pay an opponent least.

    A sequence is a row of symbols from 0, filled up with -1 behind its end; it has at least one.

    Parameters
    ----------
    weights : mapping
        Of `logits`, with an output for every symbol and one for the end.
    learning_rate : float
    length : int
        Of the longest sequences.
    prefix : callable
        What is seen of sequences before a round, shape (sequences, inputs).
    """

    def __init__(
        self,
        weights: Mapping[str, Floats],
        learning_rate: float,
        length: int,
        prefix: Callable[[Ints, int], Floats],
    ) -> None:
        self.adam: Adam = Adam(weights, learning_rate)
        self._torch = torch_on_one_core()
        self._symbols, self._length, self._prefix = len(weights["b3"]) - 1, length, prefix

    def drawn(self, count: int, rng: np.random.Generator) -> Ints:
        """Return sequences, shape (count, length)."""
        none = np.full((count, self._length), -1, dtype=np.int64)
        return self._played_on(none, 0, rng)

    def step(
        self,
        sequences: Ints,
        payoff: Callable[[Ints], Floats],
        rng: np.random.Generator,
        *,
        eta: float,
        pull: float,
    ) -> None:
        """Move the chances of all symbols and of the end, in one round of a quarter of sequences.

        Chances go towards those of a replicator step of size `eta` against what the opponent is
        paid, played on with common random numbers, and are pulled towards equal ones by `pull`.
        """
        torch, J, N = self._torch, self._symbols, self._length
        count = max(2, len(sequences) // 4)
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
        paid = payoff(played).reshape(count, J + 1)
        inputs = np.stack([self._prefix(chosen[i : i + 1], int(at[i]))[0] for i in range(count)])
        old = softmax(logits(self.adam.arrays(), inputs))
        ends_nothing = at == 0
        paid[ends_nothing, J] = paid[ends_nothing, :J].max(axis=1)
        better = softmax((1 - pull) * np.log(old + 1e-12) - eta * paid)
        said = torch.log_softmax(logits(self.adam.tensors, torch.from_numpy(inputs)), dim=1)
        self.adam.step(-(torch.from_numpy(better) * said).sum(dim=1).mean())

    def _played_on(self, sequences: Ints, at: Any, rng: np.random.Generator) -> Ints:
        """Play on from round `at` of each sequence."""
        weights = self.adam.arrays()
        sequences = sequences.copy()
        uniforms = rng.random(sequences.shape)
        J = self._symbols
        open_ = np.ones(len(sequences), dtype=bool)
        for t in range(self._length):
            given = t < np.broadcast_to(at, (len(sequences),))
            chances = softmax(logits(weights, self._prefix(sequences, t)))
            if t == 0:
                chances[:, J] = 0.0  # a sequence has at least one symbol
            cumulated = chances.cumsum(axis=1)
            chosen = (uniforms[:, t, None] * cumulated[:, -1:] > cumulated).sum(axis=1)
            drawn = np.where(open_ & (chosen < J), chosen, -1)
            sequences[:, t] = np.where(given, sequences[:, t], drawn)
            open_ &= sequences[:, t] >= 0
        return sequences

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


class AgainstSequences(ABC):
    """A player trained against a network that draws sequences; the best of its means is kept.

    The player learns from sequences of the other network, which it remembers for a while, and from
    those that were worst for it after earlier rounds, most from those that still are. After every
    round the mean of its iterates is certified.

    Parameters
    ----------
    player : mapping
        Weights of the player's network.
    sequences : SequenceNetwork
    length : int
        Of the longest sequences.
    batch : int
        Sequences of a step.
    rounds : int
        Of `STEPS` steps each.
    answered : float
        Weight of former worst sequences; 0 for none.
    every_action : bool
        Whether the player is updated for every action, or for the one that was drawn.
    """

    def __init__(
        self,
        player: Mapping[str, Floats],
        sequences: SequenceNetwork,
        length: int,
        *,
        batch: int,
        rounds: int,
        answered: float,
        every_action: bool,
    ) -> None:
        self.rounds: int = rounds
        self._batch, self._answered, self._every_action = batch, answered, every_action
        self._torch = torch_on_one_core()
        self._player, self._sequences = Adam(player, RATE), sequences
        self._mean = self._player.arrays()
        self._best = {name: a.copy() for name, a in self._mean.items()}
        self._best_ratio: Fraction | None = None
        # Former worst sequences, one a row, filled up with -1.
        self._answers: Ints = np.full((0, length), -1, dtype=np.int64)
        self._past: Ints = self._answers

    @abstractmethod
    def _step(self, sequences: Ints) -> float:
        """Update the player for every action; return the mean payoff."""

    @abstractmethod
    def _drawn_step(self, sequences: Ints, rng: np.random.Generator) -> float:
        """Update the player for the actions that are drawn; return the mean payoff."""

    @abstractmethod
    def _payoff(self, sequences: Ints) -> Floats:
        """Return what the player is paid on sequences."""

    @abstractmethod
    def _certified(self, weights: Mapping[str, Floats]) -> tuple[tuple[int, ...], Fraction | None]:
        """Return a worst sequence of a player, and its ratio there; None if infinite."""

    def round(self, k: int, rng: np.random.Generator) -> Mapping[str, float]:
        """Do some steps of both networks, then certify the mean of the player's."""
        payoff = 0.0
        for _ in range(STEPS):
            sequences = self._sequences.drawn(self._batch, rng)
            self._past = np.concatenate([self._past, sequences])[-MEMORY * self._batch :]
            remembered = self._past[rng.integers(len(self._past), size=self._batch)]
            if self._answered:
                remembered = np.concatenate([remembered, self._answers])
            if self._every_action:
                payoff = self._step(remembered)
            else:
                payoff = self._drawn_step(remembered, rng)
            self._sequences.step(sequences, self._payoff, rng, eta=ETA, pull=SEQUENCES_PULL)
            for name, a in self._player.arrays().items():
                self._mean[name] = POLYAK * self._mean[name] + (1 - POLYAK) * a
        worst, ratio = self._certified(self._mean)
        row = np.full((1, self._answers.shape[1]), -1, dtype=np.int64)
        row[0, : len(worst)] = worst
        if not (self._answers == row).all(axis=1).any():
            self._answers = np.concatenate([self._answers, row])[-MOST_ANSWERS:]
        told = {"payoff": payoff}
        if ratio is not None:
            told["certified_ratio"] = float(ratio)
            if self._best_ratio is None or ratio < self._best_ratio:
                self._best_ratio = ratio
                self._best = {name: a.copy() for name, a in self._mean.items()}
        if self._best_ratio is not None:
            told["best_ratio"] = float(self._best_ratio)
        return told

    def state(self) -> dict[str, Any]:
        """Return both networks with Adam's moments, the mean, the best, and the answers."""
        kept: dict[str, Any] = {
            "answers": self._answers,
            "past": self._past,
            "best_ratio": np.array("" if self._best_ratio is None else str(self._best_ratio)),
        }
        parts = {
            "player": self._player.state(),
            "sequences": self._sequences.adam.state(),
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

        self._player.restore(of("player"))
        self._sequences.adam.restore(of("sequences"))
        self._mean, self._best = of("mean"), of("best")
        ratio = str(state["best_ratio"])
        self._best_ratio = Fraction(ratio) if ratio else None
        self._answers, self._past = np.array(state["answers"]), np.array(state["past"])

    def _attention(self, payoff: Floats) -> Floats:
        """Return the weights of a batch and of the former answers; the worst answers count most."""
        known = len(payoff) - self._batch
        fresh = np.full(self._batch, (1.0 - self._answered * (known > 0)) / self._batch)
        if not known:
            return fresh
        faded = softmax(-payoff[self._batch :] / SHARPNESS)
        return np.concatenate([fresh, self._answered * faded])
