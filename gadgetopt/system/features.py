"""Features of instances: numbers that describe their density and difficulty.

A system's `Problem.features` computes them. This module calls it such that a failure never ends a
batch, and has the few statistics that several systems share.
"""

from __future__ import annotations

import inspect
import logging
import math
from collections.abc import Iterable, Sequence
from typing import Any

from gadgetopt.system.declaration import Problem
from gadgetopt.system.references import resolved

# numpy is imported where numbers are computed: stores and pages read this module for its names.

logger: logging.Logger = logging.getLogger(__name__)


def features_of(problem: Problem, instance: Any) -> dict[str, float]:
    """Return those features of an instance that are finite numbers.

    There are none if the system declares none, or if its function fails, which gives a warning: a
    failed column must not end a batch of runs.
    """
    if problem.features is None:
        return {}
    import numpy as np

    try:
        with np.errstate(all="ignore"):  # other values are left out below
            found = {name: float(value) for name, value in problem.features(instance).items()}
    except Exception as error:  # a third party's function may raise anything
        logger.warning("features of %s: %s: %s", problem.name, type(error).__name__, error)
        return {}
    return {name: value for name, value in found.items() if math.isfinite(value)}


def described(problem: Problem) -> dict[str, str]:
    """Return what each feature of a system means, from the docstring of its function.

    Names that share a meaning are one key, separated by commas.
    """
    if problem.features is None:
        return {}
    listed = (inspect.getdoc(resolved(problem.features)) or "").partition("\n- ")[2]
    entries = (" ".join(line.split()).partition(": ") for line in listed.split("\n- ") if line)
    return {names.replace("`", ""): meaning for names, _, meaning in entries}


def variation(values: Iterable[float]) -> float:
    """Return the coefficient of variation (deviation over mean); 0 for equal or no values."""
    import numpy as np

    x = np.fromiter(values, dtype=np.float64)
    mean = float(x.mean()) if x.size else 0.0
    return float(x.std()) / mean if mean else 0.0


def mean(values: Sequence[float]) -> float:
    """Return the mean; 0 for no values."""
    return math.fsum(values) / len(values) if values else 0.0


def correlation(x: Sequence[float], y: Sequence[float]) -> float:
    """Return Pearson's correlation; 0 if either does not vary."""
    import numpy as np

    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.size < 2:
        return 0.0
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if scale else 0.0


def largest_share(amounts: Iterable[float], capacity: Iterable[float]) -> float:
    """Return the largest share of a capacity that the amounts take, over all present resources.

    A resource of capacity 0 has no share: a demand for it does not fit, see `fits`.
    """
    pairs = zip(amounts, capacity, strict=True)
    return max((a / c for a, c in pairs if c > 0), default=0.0)


def fits(amounts: Iterable[float], capacity: Iterable[float]) -> bool:
    """Return True if no amount exceeds its capacity, up to rounding of sums of decimals."""
    return all(a <= c + 1e-9 * abs(c) for a, c in zip(amounts, capacity, strict=True))
