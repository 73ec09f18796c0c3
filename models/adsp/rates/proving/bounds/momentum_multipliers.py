"""Good multipliers of the momentum cap and of the commit cap, by bisection in doubles.

Any multipliers prove a bound; these make it large (`certificate.momentum_labels`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints

from ...instance import AdspRatesInstance
from ...tables import Tables, momentum_limit, momentum_terms

#: Largest multiplier of a certificate. By definition.
LARGEST = 1e18


@dataclass
class Multipliers:
    """Of the momentum cap and of the commit cap, and the Lagrangian bound in doubles."""

    momentum: float
    cap: float
    bound: float
    commits: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def both(self) -> tuple[float, float]:
        """The two, no larger than a certificate takes them."""
        return min(self.momentum, LARGEST), min(self.cap, LARGEST)


def multipliers(instance: AdspRatesInstance, start: int) -> Multipliers | None:
    """Return good multipliers of a window; None if no decision in it meets the momentum cap.

    By bisection: the momentum's for a given price of commits, and the price if the cap binds.
    """
    tables, q = Tables.of(instance), momentum_limit(instance)
    commits = np.arange(start, start + instance.window + 1)
    allowed = commits[None, :] <= tables.most[:, None]
    cost = np.where(allowed, tables.commit_steps[:, None] * commits, np.inf)
    terms = momentum_terms(instance)[:, None] / commits[None, :]
    last = np.minimum(tables.most, start + instance.window) - start
    rows = np.arange(len(last))
    if math.isfinite(q) and terms[rows, last].sum() > q * (1 + 1e-9):
        return None

    def at(momentum: float, price: float) -> tuple[Floats, Ints]:
        values = cost + momentum * terms + price * commits
        best = values.argmin(axis=1)
        return values[rows, best], best

    def tightest(price: float) -> Multipliers:
        def result(momentum: float) -> Multipliers:
            values, best = at(momentum, price)
            rest = (momentum * q if momentum else 0.0) + (price * instance.cap if price else 0.0)
            return Multipliers(momentum, price, float(values.sum() - rest), commits[best])

        def meets(momentum: float) -> bool:
            return float(terms[rows, at(momentum, price)[1]].sum()) <= q

        low, high = bisected(meets)
        return max((result(low), result(high)), key=lambda found: found.bound)

    def fits(price: float) -> bool:
        return int(tightest(price).commits.sum()) <= instance.cap

    plain = tightest(0.0)
    if int(plain.commits.sum()) <= instance.cap:
        return plain
    low, high = bisected(fits, steps=30)
    return max((plain, tightest(low), tightest(high)), key=lambda found: found.bound)


def bisected(holds: Callable[[float], bool], steps: int = 60) -> tuple[float, float]:
    """Return two near multipliers, the larger one such that a limit holds if one up to 1e18 is."""
    if holds(0.0):
        return 0.0, 0.0
    low, high = 0.0, 1e-12
    while not holds(high) and high < LARGEST:
        low, high = high, high * 16
    for _ in range(steps):
        middle = (low + high) / 2
        if holds(middle):
            high = middle
        else:
            low = middle
        if high - low <= 1e-13 * high:
            break
    return low, high
