"""Prices in doubles as the whole numbers of a certificate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.tolerance import simplest_rational
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import MethodOutcome

from ...relaxations import Pool
from ..certificate.check import (
    ASrptCertificate,
    PreemptivePrices,
    Prices,
    Proof,
)
from ..certificate.price_checks import INT64_SAFE

#: Largest denominator of prices that are read as simple fractions, and digits of all others.
#: Tuned: `benchmarks/constants.py`.
MOST_SIMPLE, MOST_BITS = 10**6, 40
#: Prices below this part of the largest are a solver's zeros. Tuned: `benchmarks/constants.py`.
NOTHING = 1e-9

Kind = TypeVar("Kind", Prices, PreemptivePrices)


def certified(proof: Proof, clock: Clock) -> MethodOutcome:
    """Return the outcome of a bound: its certificate, raised to the next value of an optimum."""
    return MethodOutcome(
        certificate=ASrptCertificate(proof=proof, attainable=True),
        limit_hit="time_s" if clock.expired else None,
        phases_s=clock.phases_s,
    )


def power_of_two(pool: Pool, last: float, dearest: float) -> int:
    """Return a denominator with which the check of prices stays within 64 bits.

    Parameters
    ----------
    pool : Pool
    last : float
        Last time with a price.
    dearest : float
        Integral of the largest price over time.
    """
    latest = max(last, float(pool.release.max())) + float(pool.duration.max())
    largest = latest * float(pool.weight.max())
    largest += pool.weight_scale * max(float(pool.gpus.max()), 64.0) * dearest
    spare = math.log2(INT64_SAFE / max(1.0, largest))
    return int(2 ** max(0, min(MOST_BITS, math.floor(spare) - 1)))


def step_proof(kind: type[Kind], pool: Pool, times: Floats, prices: Floats) -> Kind:
    """Return a certificate of prices of GPU-time.

    Prices that all are simple fractions, as optimal duals of small programs are, stay exact; others
    are rounded to a multiple of a power of two. Neighbouring intervals of one price are joined.
    """
    prices = np.where(prices > NOTHING * max(1e-300, float(prices.max(initial=0.0))), prices, 0.0)
    whole: list[int]
    whole, denominator = simple_fractions(prices)
    if not whole:
        denominator = power_of_two(pool, float(times[-1]), float(prices @ np.diff(times)))
        whole = [round(price * denominator) for price in prices.tolist()]
    ticks = [int(t) for t in times.tolist()]
    change: list[int] = [0, *(k for k in range(1, len(whole)) if whole[k] != whole[k - 1])]
    # The last interval goes if it has no price.
    end = change.pop() if whole[-1] == 0 and len(change) > 1 else len(whole)
    return kind(
        times=tuple(ticks[k] for k in [*change, end]),
        prices=tuple(whole[k] for k in change),
        denominator=denominator,
    )


def simple_fractions(prices: Floats) -> tuple[list[int], int]:
    """Return numerators and their denominator; no numerators if that is not simple."""
    numbers: Sequence[Fraction] = [simplest_rational(p) for p in np.round(prices, 10).tolist()]
    denominator = 1
    for number in set(numbers):
        denominator = math.lcm(denominator, number.denominator)
        if denominator > MOST_SIMPLE:
            return [], 1
    return [int(number * denominator) for number in numbers], denominator
