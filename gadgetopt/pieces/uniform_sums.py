r"""How likely a sum of independent uniform numbers is to be large.

For integers uniform on :math:`l, \dots, u` Markov's inequality on :math:`e^{tX}` gives
:math:`P(X_1 + \dots + X_n \ge a) \le e^{-ta} E[e^{tX}]^n` for every :math:`t \ge 0`. Any t proves a
bound; the best one is found by ternary search, as the logarithm is convex in t.
"""

from __future__ import annotations

import math

#: The search ends when t is known to this part of its range. Tuned: `benchmarks/constants.py`.
_STEPS = 200


def log10_probability(count: int, low: int, high: int, least: float) -> float:
    """Bound log10 of the probability that a sum of uniform integers is at least `least`.

    Parameters
    ----------
    count : int
        Numbers that are added.
    low, high : int
        Each is uniform on low, ..., high.
    least : float

    Returns
    -------
    float
        At most 0; -inf if the sum cannot be so large.
    """
    if least > count * high:
        return -math.inf

    def exponent(t: float) -> float:
        # From the largest number down, so that nothing overflows.
        small = math.fsum(math.exp(t * (x - high)) for x in range(low, high + 1))
        return count * (t * high + math.log(small / (high - low + 1))) - t * least

    left, right = 0.0, 1.0
    for _ in range(_STEPS):
        a, b = left + (right - left) / 3, right - (right - left) / 3
        left, right = (left, b) if exponent(a) < exponent(b) else (a, right)
    return min(0.0, exponent(left)) / math.log(10)
