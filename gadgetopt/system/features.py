"""Columns by which results are explained: how dense and how difficult an instance is.

A system's `Problem.features` says what of an instance its field would look at beyond its size. This
module asks for them without letting a failure of a system end a batch, and holds the few
statistics that several systems share.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gadgetopt.system.declaration import Problem

logger = logging.getLogger(__name__)


def features_of(problem: Problem, instance: Any) -> dict[str, float]:
    """Return the features of an instance that are finite numbers.

    A system that declares none has none, nor has one whose function fails: a warning says so, since
    a batch of runs is worth more than a column.
    """
    if problem.features is None:
        return {}
    try:
        with np.errstate(all="ignore"):  # what is no finite number is left out below
            found = {name: float(value) for name, value in problem.features(instance).items()}
    except Exception as error:  # a system may be anybody's
        logger.warning("features of %s: %s: %s", problem.name, type(error).__name__, error)
        return {}
    return {name: value for name, value in found.items() if math.isfinite(value)}


def variation(values: Iterable[float]) -> float:
    """Return the coefficient of variation, deviation over mean: 0 for equal values or none."""
    x = np.fromiter(values, dtype=np.float64)
    mean = float(x.mean()) if x.size else 0.0
    return float(x.std()) / mean if mean else 0.0


def mean(values: Sequence[float]) -> float:
    """Return the mean, 0 of nothing."""
    return math.fsum(values) / len(values) if values else 0.0


def correlation(x: Sequence[float], y: Sequence[float]) -> float:
    """Return Pearson's correlation, 0 where either does not vary."""
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.size < 2:
        return 0.0
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if scale else 0.0


def largest_share(amounts: Iterable[float], capacity: Iterable[float]) -> float:
    """Return the largest part of a capacity that amounts take, over resources that there are.

    A resource of which there is none has no share: what asks for it does not fit, see `fits`.
    """
    pairs = zip(amounts, capacity, strict=True)
    return max((a / c for a, c in pairs if c > 0), default=0.0)


def fits(amounts: Iterable[float], capacity: Iterable[float]) -> bool:
    """Say whether no amount is above its capacity, up to the rounding of sums of decimals."""
    return all(a <= c + 1e-9 * abs(c) for a, c in zip(amounts, capacity, strict=True))
