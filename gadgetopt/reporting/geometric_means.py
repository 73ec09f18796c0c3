"""Shifted geometric means, and how far they could be by chance of the instances.

A geometric mean weighs equal factors equally, and the shift keeps times near zero from deciding it;
with solvers' times it is the usual mean of the field (Achterberg 2007, appendix A.3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gadgetopt.reporting.chance import mean_interval

#: Seconds added to each time before the geometric mean, and taken off after it.
SHIFT_S = 1.0


def shifted_geometric_mean(times_s: Sequence[float], shift_s: float = SHIFT_S) -> float:
    """Return the geometric mean of `t + shift_s`, minus `shift_s`; NaN of no times."""
    if not times_s:
        return math.nan
    logs = math.fsum(math.log(t + shift_s) for t in times_s)
    return math.exp(logs / len(times_s)) - shift_s


def bootstrap_interval(
    times_s: Sequence[float], rng: np.random.Generator, shift_s: float = SHIFT_S
) -> tuple[float, float]:
    """Return the ends of the 95 % bootstrap interval of the shifted geometric mean.

    It is that of the mean of the logarithms (`gadgetopt.reporting.chance`).

    Parameters
    ----------
    times_s : sequence of float
        One per instance.
    rng : numpy.random.Generator
        Draws the samples: the same seed gives the same interval.
    shift_s : float

    Returns
    -------
    tuple of float
        NaN for fewer than two times, which say nothing of chance.
    """
    logs = [math.log(t + shift_s) for t in times_s]
    low, high = mean_interval(logs, rng)
    return math.exp(low) - shift_s, math.exp(high) - shift_s
