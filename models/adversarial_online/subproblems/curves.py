r"""The price curves and tables of the theory, for values from L to U, :math:`\theta = U/L`.

* `exponential`: :math:`\varphi(y) = L` for :math:`y \le 1/\alpha`, then
  :math:`L e^{\alpha y - 1}`, with :math:`\alpha = 1 + \ln\theta`; optimal for infinitesimal units.
* `plain_exponential`: :math:`\varphi(y) = L \theta^y`, without the flat part.
* `finite_table`: the optimal deterministic table of k units.
* `grid_ratio`, `grid_limits`: the shares (1) of a grid, optimal among randomised policies.

The inverse of a curve says up to which utilisation a value buys, its *limit*. With one seed
:math:`\xi` a seller posts :math:`\varphi((u + \xi)/k)`; then the chance that a buyer gets a unit is
k times the growth of the fractional utilisation, :math:`y \leftarrow \max(y, \min(y + 1/k, w))`
with the limit w of her value. `one_seed_lottery` is that policy on a grid, as a lottery.

All of it is standard theory, re-derived (reconstructed).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise

from gadgetopt.numbers.tolerance import decimal_rational

from .prices import Lottery, PostedPrices, of_table

#: Denominator of limits of utilisation that are irrational; they are rounded down to it.
#: Tuned: `benchmarks/constants.py`.
FINE = 2**40

#: Significant digits of prices that are irrational. Tuned: `benchmarks/constants.py`.
DIGITS = 12


def exponential_ratio(spread: Fraction) -> float:
    r"""Return :math:`1 + \ln\theta`."""
    return 1.0 + math.log(spread)


def exponential(y: float, spread: Fraction) -> float:
    r"""Return :math:`\varphi(y) / L` of the exponential price."""
    return max(1.0, math.exp(exponential_ratio(spread) * y - 1.0))


def plain_exponential(y: float, spread: Fraction) -> float:
    r"""Return :math:`\theta^y`."""
    return float(spread) ** y


def curve_table(
    curve: Callable[[float, Fraction], float], k: int, low: Fraction, high: Fraction
) -> tuple[Fraction, ...]:
    r"""Return :math:`\varphi(u/k)`, u = 0, ..., k - 1, of a curve, as decimals from L to U."""
    spread = high / low
    return tuple(_decimal(curve(u / k, spread), low, high) for u in range(k))


def _decimal(multiple: float, low: Fraction, high: Fraction) -> Fraction:
    """Return a multiple of L as a decimal of twelve digits times L, from L to U."""
    return min(high, max(low, low * decimal_rational(float(f"{multiple:.{DIGITS}g}"))))


def finite_ratio(k: int, spread: Fraction) -> float:
    r"""Return the least ratio of a deterministic table of k units, by bisection.

    A ratio :math:`\alpha` is achieved by :math:`\varphi_i = \max\{L, \frac\alpha k \sum_{u<i}
    \varphi_u\}` if and only if :math:`\frac\alpha k \sum_{u<k} \varphi_u \ge U`. The first
    :math:`m = \lfloor k/\alpha \rfloor + 1` prices are L, and then the sum grows by the factor
    :math:`1 + \alpha/k` with every unit.
    """
    theta = float(spread)
    low, high = 1.0, theta
    for _ in range(100):
        middle = (low + high) / 2
        flat = min(k, math.floor(k / middle) + 1)
        total = math.log(flat) + (k - flat) * math.log1p(middle / k)
        if math.log(middle / k) + total >= math.log(theta):
            high = middle
        else:
            low = middle
    return high


def finite_table(k: int, low: Fraction, high: Fraction) -> tuple[Fraction, ...]:
    """Return the optimal deterministic table of k units, as decimals."""
    alpha = finite_ratio(k, high / low)
    total, table = 0.0, []
    for _ in range(k):
        multiple = max(1.0, alpha / k * total)
        total += multiple
        table.append(_decimal(multiple, low, high))
    return tuple(table)


def table_ratio(table: Sequence[Fraction], low: Fraction, high: Fraction) -> Fraction | None:
    r"""Return the supremum of OPT/ALG of a non-decreasing table, over values from L to U.

    .. math:: \max_{0 < i \le k,\ \varphi_i > L} \frac{k \varphi_i}{\sum_{u < i} \varphi_u},
              \qquad \varphi_k = U:

    i units are sold at their prices, then k buyers come just below the next price. None if the
    first price is above L: then a stream of L sells nothing.
    """
    if table[0] > low:
        return None
    k = len(table)
    sums = list(accumulate(max(low, price) for price in table))
    ratios = [
        k * min(high, after) / total
        for after, total in zip([*table[1:], high], sums, strict=True)
        if after > low
    ]
    return max([Fraction(1), *ratios])


def grid_ratio(levels: Sequence[Fraction]) -> Fraction:
    r"""Return :math:`\alpha^* = 1 + \sum_{j \ge 2} (1 - l_{j-1}/l_j)` of (1)."""
    return 1 + sum((1 - below / level for below, level in pairwise(levels)), Fraction(0))


def grid_limits(levels: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Return up to which utilisation each level buys under the shares (1); the last one is 1."""
    shares = [Fraction(1)]
    shares += [1 - below / level for below, level in pairwise(levels)]
    alpha = sum(shares)
    return tuple(total / alpha for total in accumulate(shares))


def exponential_limits(levels: Sequence[Fraction], spread: Fraction) -> tuple[Fraction, ...]:
    r"""Return :math:`\varphi^{-1}(l) = (1 + \ln(l/L))/\alpha` of values, with L the first."""
    alpha = exponential_ratio(spread)
    return tuple(
        min(Fraction(1), Fraction(math.floor((1 + math.log(x / levels[0])) / alpha * FINE), FINE))
        for x in levels
    )


def static_lottery(levels: Sequence[Fraction], limits: Sequence[Fraction], k: int) -> Lottery:
    """Return the random static price: level j for every unit, with the growth of its limit."""
    shares = [after - before for before, after in pairwise((Fraction(0), *limits))]
    return tuple(
        of_table([level] * k, share)
        for level, share in zip(levels, shares, strict=True)
        if share > 0
    )


def one_seed_lottery(levels: Sequence[Fraction], limits: Sequence[Fraction], k: int) -> Lottery:
    r"""Return the lottery over tables that one seed draws, of levels with their limits.

    Unit u is offered at the lowest level whose limit is no less than :math:`(u + \xi)/k`. That
    changes only where :math:`\xi` is the fractional part of k times a limit.
    """
    breaks = sorted({Fraction(0), Fraction(1), *(k * limit % 1 for limit in limits)})
    lottery = []
    for start, end in pairwise(breaks):
        middle = (start + end) / 2
        table = [
            next(level for level, w in zip(levels, limits, strict=True) if k * w >= u + middle)
            for u in range(k)
        ]
        lottery.append(of_table(table, end - start))
    return merged(lottery)


def merged(lottery: Sequence[PostedPrices]) -> Lottery:
    """Return a lottery in which equal prices stand once."""
    chance: dict[tuple[tuple[Fraction, ...], ...], Fraction] = {}
    for posted in lottery:
        chance[posted.prices] = chance.get(posted.prices, Fraction(0)) + posted.probability
    return tuple(PostedPrices(prices=p, probability=q) for p, q in chance.items())
