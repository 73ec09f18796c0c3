"""Shifted geometric means, and how far they could be by chance of the instances.

A geometric mean weighs equal factors equally, and the shift keeps times near zero from deciding it;
with solvers' times it is the usual mean of the field (Achterberg 2007, appendix A.3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gadgetopt.numbers.arrays import Floats

#: Seconds added to each time before the geometric mean, and taken off after it.
SHIFT_S = 1.0

#: The share of samples whose means lie in the interval.
CONFIDENCE = 0.95

#: Samples that are drawn for an interval.
SAMPLES = 2000


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

    Samples of as many instances are drawn of them, with repetition; the interval holds the means of
    all but the lowest and the highest 2.5 % of the samples. (The percentile interval: that of the
    times is then that of their logarithms, too.)

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
    if len(times_s) < 2:
        return math.nan, math.nan
    # It takes half a second to load, and few tables need it.
    from scipy.stats import bootstrap

    def means(logs: Floats, axis: int = -1) -> Floats:
        return np.asarray(np.exp(np.mean(logs, axis=axis)) - shift_s)

    found = bootstrap(
        (np.log(np.asarray(times_s, dtype=float) + shift_s),),
        means,
        n_resamples=SAMPLES,
        batch=256,
        confidence_level=CONFIDENCE,
        method="percentile",
        random_state=rng,
    ).confidence_interval
    return float(found.low), float(found.high)
