"""How far results could be by chance of the instances: intervals and signed-rank tests."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gadgetopt.numbers.arrays import Floats

#: The share of samples whose means lie in an interval.
CONFIDENCE = 0.95

#: Samples that are drawn for an interval.
SAMPLES = 2000


def mean_interval(values: Sequence[float], rng: np.random.Generator) -> tuple[float, float]:
    """Return the ends of the 95 % bootstrap interval of a mean.

    Samples of as many instances are drawn of them, with repetition; the interval holds the means of
    all but the lowest and the highest 2.5 % of the samples (Efron's percentile interval, which a
    growing function carries over to the function's values).

    Parameters
    ----------
    values : sequence of float
        One per instance.
    rng : numpy.random.Generator
        Draws the samples: the same seed gives the same interval.

    Returns
    -------
    tuple of float
        NaN for fewer than two values, which say nothing of chance; infinite ends where a value is.
    """
    if len(values) < 2:
        return math.nan, math.nan
    if not all(map(math.isfinite, values)):
        return math.inf, math.inf  # the mean itself is infinite
    # It takes half a second to load, and few tables need it.
    from scipy.stats import bootstrap

    def means(x: Floats, axis: int = -1) -> Floats:
        return np.asarray(np.mean(x, axis=axis))

    found = bootstrap(
        (np.asarray(values, dtype=float),),
        means,
        n_resamples=SAMPLES,
        batch=256,
        confidence_level=CONFIDENCE,
        method="percentile",
        random_state=rng,
    ).confidence_interval
    return float(found.low), float(found.high)


def signed_rank(differences: Sequence[float]) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test of paired differences.

    Differences of 0 count half for each side, as Demsar (2006) advises for comparisons of methods
    over data sets. NaN of no differences, 1 if all are 0.
    """
    if not differences:
        return math.nan
    if not any(differences):
        return 1.0
    from scipy.stats import wilcoxon

    return float(wilcoxon(differences, zero_method="zsplit").pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for being several, after Holm (1979).

    The chance of any false finding among them is then at most the level at which they are read,
    however they depend on each other. NaN is no test and stays.
    """
    tests = sorted((p, k) for k, p in enumerate(p_values) if not math.isnan(p))
    corrected = list(p_values)
    largest = 0.0
    for rank, (p, k) in enumerate(tests):
        largest = max(largest, min(1.0, (len(tests) - rank) * p))
        corrected[k] = largest
    return corrected
