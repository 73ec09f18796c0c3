"""Exact best rates of given tree pairs: an LP vertex as the solution of its full rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from gadgetopt.solvers.persistent import INFINITY, PersistentLp
from gadgetopt.system.result import Limits, Status

from ..instance import ForestPackingInstance, Stage
from ..packing import (
    Pair,
    best_plan,
    fit,
    read_rates,
    required_shares,
    total_rate,
)

#: A row is full if its slack is no more than this part of its capacity.
#: Tuned: `benchmarks/constants.py`.
FULL = 1e-8
#: Most pairs whose system is solved. Tuned: `benchmarks/constants.py`.
MOST_PAIRS = 80
#: Rates below this part of the largest are rounding errors of 0. Tuned: `benchmarks/constants.py`.
NEGLIGIBLE = 1e-11
#: Part of the rate that overloaded rows may cost before the pairs on them are slowed down.
#: Tuned: `benchmarks/constants.py`.
OVERLOAD = Fraction(1, 10**9)
#: Bits of the part of its rate that such a pair keeps. Tuned: `benchmarks/constants.py`.
PART_BITS = 60
#: A row of a capacity below this part of the rate is narrow: pairs on it carry next to nothing.
#: Tuned: `benchmarks/constants.py`.
NARROW = 1e-6


def best_rates(
    instance: ForestPackingInstance, pairs: Sequence[Pair], limits: Limits
) -> list[Pair]:
    """Return pairs with the rates of the largest sum, without those that get none.

    Parameters
    ----------
    instance : ForestPackingInstance
        Its stages do not take turns; the shares of its roots are free, or the pairs have one root.
    pairs : sequence of Pair
        Their rates are ignored, unless time runs out.
    limits : Limits
    """
    if not pairs:
        return []
    rows = instance.network.rows
    all_uses = [row_uses(instance, p) for p in pairs]
    # Together no faster than each alone, and at least as fast as the widest of them.
    scale = sum(float(min(rows[i].capacity / n for i, n in uses.items())) for uses in all_uses)
    # No row carries more than that times the uses by a pair; twice that never binds.
    most = 2 * scale * max(n for uses in all_uses for n in uses.values())
    capacity = np.minimum(instance.network.row_capacity_float, most) / scale
    lp = PersistentLp("max")
    zeros = np.zeros(len(rows))
    lp.add_rows(zeros - INFINITY, capacity, zeros, [], [])
    for uses in all_uses:
        lp.add_columns([1.0], [0.0], [INFINITY], [0], list(uses), [float(n) for n in uses.values()])
    if lp.solve(limits) is not Status.OPTIMAL:
        return best_plan(instance, [pairs])
    return read_exactly(instance, pairs, (lp.values * scale).tolist())


def read_exactly(
    instance: ForestPackingInstance, pairs: Sequence[Pair], rates: Sequence[float]
) -> list[Pair]:
    """Return the best plan of several readings of rates: a vertex, simple fractions, unchanged."""
    least = NEGLIGIBLE * max(rates, default=0.0)
    used = [replace(p, rate=Fraction(x)) for p, x in zip(pairs, rates, strict=True) if x > least]
    readings = read_rates([p.rate for p in used], instance.network.unit)
    vertex = exact_rates(instance, used)
    if vertex is not None:
        readings.append(vertex)
    plans = [
        [replace(p, rate=rate) for p, rate in zip(used, reading, strict=True)]
        for reading in readings
    ]
    return max(best_plan(instance, plans), fit_or_relieve(instance, plans[0]), key=total_rate)


def exact_rates(instance: ForestPackingInstance, pairs: Sequence[Pair]) -> list[Fraction] | None:
    """Return the rates for which the rows that are almost full are full, and shares are kept.

    At a vertex these are exactly the rates that floating point approximates.

    Parameters
    ----------
    instance : ForestPackingInstance
        Its stages do not take turns.
    pairs : sequence of Pair
        With approximate rates > 0.

    Returns
    -------
    list of Fraction or None
        None if the system does not have exactly one solution, or one that is not positive.
    """
    if not pairs or len(pairs) > MOST_PAIRS:
        return None
    network = instance.network
    uses = [row_uses(instance, p) for p in pairs]
    system = []
    for i, row in enumerate(network.rows):
        load = sum(n[i] * float(p.rate) for n, p in zip(uses, pairs, strict=True))
        if load >= float(row.capacity) * (1 - FULL):
            system.append([*(Fraction(n[i]) for n in uses), row.capacity])
    for r, w in (required_shares(instance) or {}).items():
        system.append([*((p.root == r) - w for p in pairs), Fraction(0)])
    rates = solve_exactly(system, len(pairs))
    return rates if rates is not None and min(rates) > 0 else None


def solve_exactly(system: list[list[Fraction]], unknowns: int) -> list[Fraction] | None:
    """Return the only solution of linear equations; None if there is none or several.

    Parameters
    ----------
    system : list of rows
        Coefficients and, last, the right-hand side.
    unknowns : int
    """
    rows = [list(row) for row in system]
    for k in range(unknowns):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        scale = rows[k][k]
        rows[k] = [x / scale for x in rows[k]]
        for i in range(len(rows)):
            factor = rows[i][k]
            if i != k and factor:
                rows[i] = [
                    x - factor * y if y else x for x, y in zip(rows[i], rows[k], strict=True)
                ]
    if any(row[-1] for row in rows[unknowns:]):
        return None
    return [row[-1] for row in rows[:unknowns]]


def fit_or_relieve(instance: ForestPackingInstance, pairs: Sequence[Pair]) -> list[Pair]:
    """Fit pairs; if rows are overloaded, also with only the pairs on these rows slowed down.

    A row whose capacity is near the solver's tolerance may be overloaded by a multiple of it. All
    rates would be divided by that, because of pairs that carry next to nothing.
    """
    fitted = fit(instance, pairs)
    if total_rate(fitted) >= total_rate(pairs) * (1 - OVERLOAD):
        return fitted
    # Multiples of a power of 2: sums stay small numbers.
    parts = [
        Fraction(math.floor(2**PART_BITS / max(over, 1.0)), 2**PART_BITS)
        for over in _overloads(instance, pairs)
    ]
    slowed = [replace(p, rate=p.rate * part) for p, part in zip(pairs, parts, strict=True)]
    return max(fitted, fit(instance, slowed), key=total_rate)


def _overloads(instance: ForestPackingInstance, pairs: Sequence[Pair]) -> list[float]:
    """Return of each pair the largest load over capacity of its rows.

    Stages that take turns have the part of the time that the fullest row needs which is not narrow.
    """
    rates = [float(p.rate) for p in pairs]
    capacity = instance.network.row_capacity_float
    wide = capacity >= NARROW * sum(rates)
    worst = [0.0] * len(pairs)
    for stages in [(s,) for s in instance.stages] if instance.sequential else [instance.stages]:
        all_uses = [row_uses(instance, p, stages) for p in pairs]
        load = np.zeros(len(capacity))
        for uses, x in zip(all_uses, rates, strict=True):
            for i, n in uses.items():
                load[i] += n * x
        over = load / capacity
        if instance.sequential:
            over /= float(over[wide].max(initial=0.0)) or 1.0
        for k, uses in enumerate(all_uses):
            worst[k] = max(worst[k], *over[list(uses)].tolist())
    return worst


def row_uses(
    instance: ForestPackingInstance, pair: Pair, stages: Sequence[Stage] = ("reduce", "broadcast")
) -> Counter[int]:
    """Return how often a pair uses each row, in some stages or in both."""
    network = instance.network
    uses: Counter[int] = Counter()
    for stage in stages:
        for route in pair.reduce if stage == "reduce" else pair.out_routes:
            for arc in pairwise(route):
                uses.update(network.rows_of[network.arc_index[arc]])
    return uses
