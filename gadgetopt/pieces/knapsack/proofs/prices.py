"""Prices with which the check of `exhaustion` leaves few choices: what the compiled search used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.pieces.knapsack.enumeration import Levels, enumerate_levels
from gadgetopt.pieces.knapsack.proofs import exhaustion
from gadgetopt.pieces.knapsack.proofs.exhaustion import Core, Option, Prices, core
from gadgetopt.search.clock import Clock

#: Nodes that a search for prices may visit. The check then visits about as many choices.
#: Tuned: `benchmarks/constants.py`.
MOST_NODES = 20_000_000
#: Steps of the check in a second, on a slow machine. Tuned: `benchmarks/constants.py`.
STEPS_PER_S = 3e8
#: Sums up to this leave doubles room for exact products with further prices. By definition.
LARGEST_EXACT_SUM = 2**47


def prices_of_proof(
    groups: Sequence[Sequence[Option]],
    capacity: Sequence[int],
    prices: Prices,
    at_least: int,
    clock: Clock,
) -> Prices | None:
    """Return prices with which all choices of at least some profit are soon ruled out.

    Parameters
    ----------
    groups, capacity, at_least
        As for `exhaustion.largest_profit`.
    prices : Prices
        The main ones.
    clock : Clock

    Returns
    -------
    Prices or None
        None if some choice brings as much, if time or nodes are used up, or if numbers have too
        many digits for doubles.
    """
    found = core(groups, capacity, prices, at_least)
    if found is None or found.gap < 0 or not found.levels:
        return prices
    main = np.array(prices.main, dtype=np.float64)
    levels = _levels(found, prices.scale)
    if main @ levels.reach + levels.profit_reach > LARGEST_EXACT_SUM:
        return None
    worths = zip(levels.profit, levels.weight, strict=True)
    most = main @ levels.capacity + sum(float((p - w @ main).max()) for p, w in worths)
    # Groups that are decided bring the rest of the profit.
    need = float(most - found.gap)
    searched = enumerate_levels(levels, main, need, float(prices.scale), clock, MOST_NODES)
    if not searched.finished or searched.options is not None:
        return None
    further = [
        (left, tuple(int(x) for x in vector))
        for left, vectors in sorted(searched.further.items(), reverse=True)
        for vector in vectors.tolist()
    ]
    return Prices(prices.scale, prices.main, tuple(further))


def most_steps(clock: Clock) -> int:
    """Return how many steps the check may take in the time left."""
    return int(min(exhaustion.MOST_STEPS, STEPS_PER_S * clock.left_s))


def _levels(found: Core, scale: int) -> Levels:
    profit = [level.profit.astype(np.float64) * scale for level in found.levels]
    weight = [level.weight.astype(np.float64) for level in found.levels]
    left = np.array(found.left, dtype=np.float64)
    reach: Floats = np.abs(left) + sum(w.max(axis=0) for w in weight)
    profit_reach = sum(float(np.abs(p).max()) for p in profit) + scale
    return Levels(profit, weight, left, reach, profit_reach, float(scale))
