"""Multinomial logistic regression over choices, of which several may be right.

A decision is between choices, each seen as a row of features. The loss is the mean of -log of the
probability of what is right, plus a small ridge; a step goes down its gradient, each weight scaled
by its own gradients so far.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats

#: Weight of the squared weights in the loss. Tuned: `benchmarks/constants.py`.
_RIDGE = 1e-4


@dataclass
class ChoiceRegression:
    """A linear score of choices.

    Attributes
    ----------
    weights : array, shape (features,)
    squares : array, shape (features,)
        Sums of the squares of all gradients.
    """

    weights: Floats
    squares: Floats

    def step(self, seen: Floats, allowed: Bools, right: Bools, learning_rate: float) -> float:
        """Go down the gradient once; return the loss before, without the ridge.

        Parameters
        ----------
        seen : array, shape (decisions, choices, features)
        allowed, right : array of bool, shape (decisions, choices)
            Of each decision at least one choice is right.
        learning_rate : float
        """
        logits = seen @ self.weights
        log_allowed, share_allowed = _softmax(logits, allowed)
        log_right, share_right = _softmax(logits, right)
        pull = ((share_allowed - share_right)[..., None] * seen).sum(axis=1)
        gradient = pull.mean(axis=0) + 2 * _RIDGE * self.weights
        self.squares = self.squares + gradient**2
        self.weights = self.weights - learning_rate * gradient / np.sqrt(self.squares + 1e-12)
        return float((log_allowed - log_right).mean())


def _softmax(logits: Floats, among: Bools) -> tuple[Floats, Floats]:
    """Return the logarithm of the sum of exponentials among some choices, and their shares."""
    masked = np.where(among, logits, -np.inf)
    largest = masked.max(axis=1, keepdims=True)
    grown = np.exp(masked - largest)
    total = grown.sum(axis=1, keepdims=True)
    return (np.log(total) + largest)[:, 0], grown / total
