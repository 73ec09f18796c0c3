"""What the networks see and say: written for arrays and tensors alike."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from gadgetopt.numbers.arrays import Floats

#: Units of the two hidden layers. Tuned: `benchmarks/constants.py`.
HIDDEN = 64
#: Inputs of the seller's and of the adversary's network. By definition.
SELLER_INPUTS, ADVERSARY_INPUTS = 2, 4


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
