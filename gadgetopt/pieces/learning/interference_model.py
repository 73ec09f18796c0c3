"""Regression of slowdowns from who else is on a server (reconstructed).

A sample is a victim's type, how many neighbours of each type it has, and its relative slowdown.
`ridge` fits the additive law, a table; `Perceptron` a network with one hidden layer, which also
fits laws that saturate. The error is given on samples that were left out of the fit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.pieces.learning.networks import Adam, torch_on_one_core

#: Weight of the squared entries of a table in its fit. Tuned: `benchmarks/constants.py`.
RIDGE = 1e-3
#: Parts into which samples are split to measure the error. Tuned: `benchmarks/constants.py`.
FOLDS = 5
#: Units of the hidden layer, and steps of its training. Tuned: `benchmarks/constants.py`.
HIDDEN, STEPS = 32, 600


@dataclass(frozen=True)
class Samples:
    """Measured slowdowns.

    Attributes
    ----------
    victim : array of int, shape (samples,)
    neighbours : array of int, shape (samples, types)
    slowdown : array, shape (samples,)
    """

    victim: Ints
    neighbours: Ints
    slowdown: Floats

    def __len__(self) -> int:
        return len(self.victim)

    def of(self, chosen: Any) -> Samples:
        """Return some of the samples."""
        return Samples(self.victim[chosen], self.neighbours[chosen], self.slowdown[chosen])


#: `(victims, neighbours) -> slowdowns`.
Model = Callable[[Ints, Ints], Floats]


def drawn(
    rng: np.random.Generator, law: Model, types: int, number: int, most: int, noise: float
) -> Samples:
    """Return samples of a law with up to `most` neighbours, with normal noise, none negative."""
    victim = rng.integers(types, size=number)
    count = rng.integers(1, most + 1, size=number)
    neighbours = np.stack([rng.multinomial(n, np.full(types, 1 / types)) for n in count])
    clean = law(victim, neighbours)
    slowdown = np.maximum(0.0, clean + noise * rng.normal(size=number))
    return Samples(victim, neighbours.astype(np.int64), slowdown)


def additive(table: Floats) -> Model:
    """Return the law of a table: the sum of the entries of the neighbours."""
    return lambda victim, neighbours: np.einsum("nk,nk->n", table[victim], neighbours)


def saturating(table: Floats, half: float) -> Model:
    """Return a law that begins like the table's and ends at `half`."""
    linear = additive(table)

    def law(victim: Ints, neighbours: Ints) -> Floats:
        total = linear(victim, neighbours)
        bent: Floats = total / (1 + total / half)
        return bent

    return law


def ridge(samples: Samples) -> Floats:
    """Return the table, not negative, that fits best; unknown pairs are 0.

    Returns
    -------
    array, shape (types, types)
        The row is the victim.
    """
    types = samples.neighbours.shape[1]
    table = np.zeros((types, types))
    for k in range(types):
        own = samples.victim == k
        counts = samples.neighbours[own].astype(np.float64)
        gram = counts.T @ counts + RIDGE * np.eye(types)
        table[k] = np.maximum(0.0, np.linalg.solve(gram, counts.T @ samples.slowdown[own]))
    return table


class Perceptron:
    """A network with one hidden layer on the victim, one-hot, and the counts of its neighbours."""

    def __init__(self, samples: Samples, seed: int = 0):
        torch = torch_on_one_core()
        types = samples.neighbours.shape[1]
        rng = np.random.default_rng(seed)
        adam = Adam(
            {
                "hidden": rng.normal(size=(2 * types, HIDDEN)) / np.sqrt(2 * types),
                "bias": np.zeros(HIDDEN),
                "out": rng.normal(size=(HIDDEN, 1)) / np.sqrt(HIDDEN),
                "end": np.zeros(1),
            },
            1e-2,
        )
        seen = torch.from_numpy(_seen(samples.victim, samples.neighbours))
        wanted = torch.from_numpy(samples.slowdown)
        for step in range(STEPS):
            adam.set_rate(1e-2 * (1 - step / STEPS))
            adam.step(((_forward(adam.tensors, seen) - wanted) ** 2).mean())
        self.weights: dict[str, Floats] = adam.arrays()

    def __call__(self, victim: Ints, neighbours: Ints) -> Floats:
        """Return predicted slowdowns, not negative."""
        found: Floats = np.maximum(0.0, _forward(self.weights, _seen(victim, neighbours)))
        return found


def _seen(victim: Ints, neighbours: Ints) -> Floats:
    types = neighbours.shape[1]
    return np.concatenate([np.eye(types)[victim], neighbours], axis=1)


def _forward(w: Any, seen: Any) -> Any:
    return ((seen @ w["hidden"] + w["bias"]).clip(0) @ w["out"] + w["end"])[..., 0]


def left_out_error(
    samples: Samples, fit: Callable[[Samples], Model], rng: np.random.Generator
) -> float:
    """Return the root mean square error on samples left out, each once in five fits."""
    part = rng.permutation(len(samples)) % min(FOLDS, len(samples))
    errors = []
    for k in range(min(FOLDS, len(samples))):
        model = fit(samples.of(part != k))
        rest = samples.of(part == k)
        errors.append(model(rest.victim, rest.neighbours) - rest.slowdown)
    return float(np.sqrt(np.mean(np.concatenate(errors) ** 2)))
