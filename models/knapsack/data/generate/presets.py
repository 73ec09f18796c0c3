"""Random instances: Chu and Beasley's knapsacks, uncorrelated ones, and multiple-choice."""

from __future__ import annotations

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.numbers.arrays import Ints
from gadgetopt.system.declaring import generator

from ...instance import Item, KnapsackInstance

#: Largest weight in Chu and Beasley's problems.
_LARGEST_WEIGHT = 1000

#: Weights of Khan's problems lie in 0 to 9; capacities are 5 for every group.
_LARGEST_KHAN_WEIGHT, _KHAN_ROOM = 9, 5


@generator()
def quickstart(rng: np.random.Generator, *, items: int = 20, rows: int = 3) -> KnapsackInstance:
    """A small knapsack like those of `paper`.

    Return a small knapsack like those of `paper`, which every exact method solves at once.
    """
    return paper(rng, items=items, rows=rows, tightness=0.5)


@generator()
def paper(
    rng: np.random.Generator, *, items: int = 100, rows: int = 5, tightness: float = 0.25
) -> KnapsackInstance:
    r"""Chu and Beasley's: profits follow the weights.

    Weights are whole numbers drawn from 1 to 1000, capacities are :math:`\alpha` times the sum of
    their row, and profits follow the weights: :math:`p_j = \sum_i a_{ij} / m + 500 q_j` with
    :math:`q_j` uniform in (0, 1), rounded down.

    Parameters
    ----------
    rng : numpy.random.Generator
    items, rows : int
        n in {100, 250, 500} and m in {5, 10, 30} in their experiment.
    tightness : float
        :math:`\alpha`, between 0 and 1; 0.25, 0.5 and 0.75 in their experiment.
    """
    weights = rng.integers(1, _LARGEST_WEIGHT + 1, size=(items, rows))
    profits = weights.sum(axis=1) / rows + 500 * rng.uniform(size=items)
    return _single(profits.astype(np.int64), weights, tightness)


@generator()
def uncorrelated(
    rng: np.random.Generator, *, items: int = 100, rows: int = 5, tightness: float = 0.5
) -> KnapsackInstance:
    """Profits that do not depend on the weights.

    Return a knapsack whose profits, from 1 to 1000 like the weights, do not depend on them.
    """
    weights = rng.integers(1, _LARGEST_WEIGHT + 1, size=(items, rows))
    profits = rng.integers(1, _LARGEST_WEIGHT + 1, size=items)
    return _single(profits, weights, tightness)


@generator()
def multiple_choice(
    rng: np.random.Generator, *, groups: int = 15, items: int = 10, rows: int = 10
) -> KnapsackInstance:
    """Like Khan's: exactly one item of each group.

    Return a multiple-choice knapsack like Khan's: exactly one item of each group.

    Weights are drawn from 0 to 9, and every capacity is 5 for each group, as in his files. A profit
    is the price of the weights, at row prices drawn from (0, 1), plus up to a tenth of the largest
    such price (reconstructed). A choice drawn at random fits: capacities are raised where they are
    too small for it (reconstructed).

    Parameters
    ----------
    rng : numpy.random.Generator
    groups, items, rows : int
        n, l and m; `items` are those of each group.
    """
    weights = rng.integers(0, _LARGEST_KHAN_WEIGHT + 1, size=(groups, items, rows))
    price = rng.uniform(size=rows)
    extra = rng.uniform(high=0.1 * _LARGEST_KHAN_WEIGHT * price.sum(), size=(groups, items))
    profits = np.ceil(weights @ price + extra).astype(np.int64)
    drawn = weights[np.arange(groups), rng.integers(items, size=groups)].sum(axis=0)
    capacities = np.maximum(_KHAN_ROOM * groups, drawn)
    return KnapsackInstance(
        capacities=tuple(capacities.tolist()),
        groups=tuple(
            tuple(
                Item(profit=p, weights=tuple(a))
                for p, a in zip(profits[i].tolist(), weights[i].tolist(), strict=True)
            )
            for i in range(groups)
        ),
        exactly_one=True,
    )


def _single(profits: Ints, weights: Ints, tightness: float) -> KnapsackInstance:
    """Return the knapsack of single items whose capacities are a part of the sums of their rows."""
    if not 0 < tightness < 1:
        raise InputError(f"tightness: {tightness:g}, expected a number between 0 and 1")
    capacities = np.floor(tightness * weights.sum(axis=0)).astype(np.int64)
    return KnapsackInstance(
        capacities=tuple(capacities.tolist()),
        groups=tuple(
            (Item(profit=p, weights=tuple(a)),)
            for p, a in zip(profits.tolist(), weights.tolist(), strict=True)
        ),
    )
