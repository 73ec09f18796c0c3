r"""No rates are better than a number: the proof by stairs, in whole numbers.

Let c be the fewest commits of a worker. A decision with :math:`\max_i \tau_i(n_i) \le \theta` has
at least the smallest :math:`n_i \ge c` with :math:`\tau_i(n_i) \le \theta`, so its S is at most
that of these, :math:`\bar S_c(\theta)`. Of all decisions with thresholds between two values,

.. math:: \theta' \le \max_i \tau_i(n_i) \le \theta, \qquad \text{the objective is at least}\quad
    f(\bar S_c(\theta), \theta'),

as the objective f falls with S and rises with the threshold. Going down from the largest threshold,
each stair reaches as far as that bound is no less than the number; below the thresholds that the
window and the cap allow there is no decision. Where a stair does not even reach its own threshold,
nothing is proved.

Steps are counted in units of :math:`2^{-s}`, :math:`\tau` rounded down and S up, so that what is
proved holds exactly: for small instances with integers of any size, for large ones with 64 bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from gadgetopt.numbers.tolerance import decimal_rational

from ...instance import (
    AdspRatesInstance,
    ErrorBound,
    TimeToAccuracy,
)

#: Entries of the table of local steps up to which integers of any size are used, and their bits.
#: Tuned: `benchmarks/constants.py`.
MOST_EXACT, EXACT_BITS = 20_000, 256

#: Fewest bits after the point with which 64-bit integers prove anything useful.
#: Tuned: `benchmarks/constants.py`.
_LEAST_BITS = 12

#: Stairs after which a check gives up. Tuned: `benchmarks/constants.py`.
MOST_STAIRS = 2_000_000


@dataclass(frozen=True)
class Numbers:
    """Steps in units of 2^-bits: rounded down and up, as arrays of shape (m,)."""

    bits: int
    period_low: Any
    period_high: Any
    commit_low: Any
    commit_high: Any


def is_proved(instance: AdspRatesInstance, bound: Fraction) -> bool:
    """Return True if stairs prove that no decision is better than a bound.

    Raises
    ------
    ValueError
        If the workers are too different for 64 bits, or the stairs too many.
    """
    if bound <= 0:
        return True
    numbers = rounded(instance)
    reach = _Reach(instance, bound, numbers.bits)
    stairs = 0
    for thresholds, steps in _windows(instance, numbers):
        falling = -thresholds
        j = 0
        while j < len(thresholds):
            lowest = reach.lowest(int(steps[j]))
            if lowest is None or lowest <= int(thresholds[-1]):
                break
            if lowest > int(thresholds[j]):
                return False
            j = int(np.searchsorted(falling, -lowest, side="right"))
            stairs += 1
            if stairs > MOST_STAIRS:
                raise ValueError(f"bound: proving it takes more than {MOST_STAIRS} stairs")
    return True


def rounded(instance: AdspRatesInstance) -> Numbers:
    """Return the steps of a period and of a commit in whole units."""
    pairs = [(worker.step_time_s, worker.comm_time_s) for worker in instance.workers]
    period = decimal_rational(instance.check_period_s)
    exact = {x: decimal_rational(x) for x in {x for pair in pairs for x in pair}}
    bits: int = EXACT_BITS
    dtype: Any = object
    if len(pairs) * instance.max_commits > MOST_EXACT:
        total = sum(_quotient(1, period, exact[t])[1] + 1 for t, _ in pairs)
        bits, dtype = 61 - total.bit_length(), np.int64
        if bits < _LEAST_BITS:
            raise ValueError(f"workers: {total} steps in a period are too many for 64 bits")
    one = 1 << bits
    whole = {
        (t, comm): (
            *_quotient(one, period, exact[t]),
            *_quotient(one, exact[comm], exact[t]),
        )
        for t, comm in set(pairs)
    }
    rows = [whole[pair] for pair in pairs]
    columns = [np.array(column, dtype=dtype) for column in zip(*rows, strict=True)]
    return Numbers(bits, *columns)


def _quotient(one: int, x: Fraction, y: Fraction) -> tuple[int, int]:
    """Return `one` times x / y, rounded down and up."""
    numerator, denominator = one * x.numerator * y.denominator, x.denominator * y.numerator
    return numerator // denominator, -(-numerator // denominator)


def _windows(instance: AdspRatesInstance, numbers: Numbers) -> Iterator[tuple[Any, Any]]:
    """Yield thresholds, falling, and the most steps of all workers at each, window by window."""
    m, most = len(instance.workers), np.array(instance.most_commits)
    width = int(most.max())
    commits = np.arange(1, width + 1).astype(numbers.period_low.dtype)
    local = numbers.period_low[:, None] // commits[None, :] - numbers.commit_high[:, None]
    rows, columns = np.nonzero(np.arange(1, width + 1)[None, :] <= most[:, None])
    values = local[rows, columns]
    order = np.argsort(-values, kind="stable")
    falling, rows, columns = -values[order], rows[order], columns[order]
    full = numbers.period_high.sum()
    for c in range(1, instance.last_window_start + 1):
        last = np.minimum(most, c + instance.window)
        lowest = local[np.arange(m), last - 1].max()
        above = int(np.searchsorted(falling, -lowest, side="left"))
        chosen = np.nonzero(columns[:above] >= c - 1)[0][: instance.cap - m * c + 1]
        thresholds = -falling[chosen]
        lost = numbers.commit_low[rows[chosen]]
        if len(chosen) <= instance.cap - m * c:
            thresholds = np.append(thresholds, lowest)
        else:
            lost = lost[:-1]
        first = full - c * numbers.commit_low.sum()
        yield thresholds, first - np.concatenate(([0], np.cumsum(lost)))


class _Reach:
    """How low a threshold may be at given steps for the objective to be no less than a bound."""

    def __init__(self, instance: AdspRatesInstance, bound: Fraction, bits: int):
        model = instance.model
        assert isinstance(model, ErrorBound | TimeToAccuracy), "the momentum cap has no thresholds"
        self.bound, self.one = bound, 1 << bits
        self.a = decimal_rational(model.a) * len(instance.workers) * self.one
        self.b = decimal_rational(model.b)
        self.budget = (
            decimal_rational(model.error_budget) if isinstance(model, TimeToAccuracy) else None
        )

    def lowest(self, steps: int) -> int | None:
        """Return the lowest threshold in whole units; None if there is no lowest."""
        if steps <= 0:
            return None
        if self.budget is None:
            missing = self.bound - self.a / steps
        else:
            missing = self.budget - self.a / (steps * self.bound)
        if missing <= 0:
            return None
        if self.b == 0:
            return 1 << 62 if self.one < 1 << 62 else self.one << 4096
        return math.ceil((1 + missing / self.b) * self.one)
