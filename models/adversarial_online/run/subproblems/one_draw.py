r"""What a policy that draws once, before the first buyer, sells in expectation to each of them.

Units of one resource. A value has a *limit* :math:`w(v)`, the utilisation up to which it buys, or
the inverse of the price curve. Two policies draw from it, and no sampling is needed for either:

* One seed :math:`\xi`: unit u at the price :math:`\varphi((u + \xi)/k)`. The fractional utilisation
  :math:`y \leftarrow \max(y, \min(y + 1/k, w(v)))` grows with every buyer, and she gets a unit with
  probability k times its growth: u units are sold at y if and only if
  :math:`u = \lceil k y - \xi \rceil^+`.
* A static price p with :math:`P(p \le v) = w(v)`. A buyer is served if and only if p is at most
  her value and above the k-th largest value q before hers, so with probability
  :math:`(w(v) - w(q))^+`.

Limits are integers over one denominator.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused

from ...subproblems.curves import exponential_ratio, grid_limits
from ..instance import AdversarialOnlineRunInstance

#: Parts of a unit that irrational limits are rounded down to. Tuned: `benchmarks/constants.py`.
FINE = 2**30

#: Binary digits of the common denominator of a grid's limits, at most.
#: Tuned: `benchmarks/constants.py`.
_MOST_BITS = 4096


@dataclass(frozen=True)
class Reach:
    """Utilisation up to which the value of each request buys.

    Attributes
    ----------
    parts : int
        Of a unit.
    limit : list of int
        Of each request, in parts of all k units together: k times `parts` is everything.
    """

    parts: int
    limit: list[int]


@dataclass(frozen=True)
class Expected:
    """Expected sales.

    Attributes
    ----------
    accepted : list of int
        Requests that get a unit with positive probability.
    share : list of Fraction
        The probability of each.
    span : list of (int, int)
        Between which utilisations, in parts, each of them buys.
    """

    accepted: list[int]
    share: list[Fraction]
    span: list[tuple[int, int]]


def exponential_reach(instance: AdversarialOnlineRunInstance) -> Reach:
    r"""Return the limits :math:`(1 + \ln(v/L))/\alpha` of the exponential price."""
    k = instance.capacity[0]
    growth = np.log(np.asarray(instance.value) / float(instance.value_min))
    share = np.clip((1 + growth) / exponential_ratio(instance.spread), 0.0, 1.0)
    return Reach(FINE, np.floor(share * k * FINE).astype(np.int64).tolist())


def share_reach(instance: AdversarialOnlineRunInstance) -> Reach:
    """Return the limits that the shares (1) of the levels give, exactly.

    Raises
    ------
    ModelRefused
        If the instance has no levels, or their limits have too many digits.
    """
    if not instance.levels:
        raise ModelRefused("levels: none, expected the grid of values for the shares of (1)")
    k = instance.capacity[0]
    limits = grid_limits(instance.levels)
    parts = math.lcm(*((k * limit).denominator for limit in limits))
    if parts.bit_length() > _MOST_BITS:
        raise ModelRefused(
            f"levels: the common denominator of their shares has {parts.bit_length()} binary "
            f"digits, expected at most {_MOST_BITS}"
        )
    whole, scale = instance.whole_values
    of_value = {
        int(level * scale): int(k * limit * parts)
        for level, limit in zip(instance.levels, limits, strict=True)
        if (level * scale).denominator == 1
    }
    return Reach(parts, [of_value[v] for v in whole.tolist()])


def one_seed(reach: Reach) -> Expected:
    """Return the expected sales of tables drawn by one seed."""
    accepted, share, span = [], [], []
    y, step = 0, reach.parts
    for t, limit in enumerate(reach.limit):
        if limit > y:
            grown = min(y + step, limit)
            accepted.append(t)
            share.append(Fraction(grown - y, step))
            span.append((y, grown))
            y = grown
    return Expected(accepted, share, span)


def random_static(reach: Reach, k: int) -> Expected:
    """Return the expected sales of a static price drawn once."""
    accepted, share, span = [], [], []
    largest = [0] * k  # the k largest limits so far, as a heap
    for t, limit in enumerate(reach.limit):
        if limit > largest[0]:
            below = heapq.heapreplace(largest, limit)
            accepted.append(t)
            share.append(Fraction(limit - below, k * reach.parts))
            span.append((below, limit))
    return Expected(accepted, share, span)
