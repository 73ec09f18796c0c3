"""Presets: prices of the theory on geometric grids, random tables, several resources."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from gadgetopt.errors import InputError
from gadgetopt.system.declaring import generator

if TYPE_CHECKING:
    import numpy as np

    from ...instance import AdversarialOnlineSequenceInstance


@generator()
def quickstart(
    rng: np.random.Generator, *, units: int = 3, levels: int = 5, horizon: int = 8
) -> AdversarialOnlineSequenceInstance:
    """Random non-decreasing prices of three units, five values.

    Return random non-decreasing prices, the first of which everybody pays.
    """
    return random_table(rng, units=units, levels=levels, horizon=horizon, monotone=True)


@generator()
def paper(
    rng: np.random.Generator,
    *,
    units: int = 8,
    levels: int = 9,
    horizon: int = 20,
    spread: int = 4,
) -> AdversarialOnlineSequenceInstance:
    """The exponential price, geometric values (reconstructed settings).

    Return the exponential price on a geometric grid of values from 1 to `spread`.

    The paper's own settings are not known; these are the notes' (reconstructed). Nothing is drawn.
    """
    from ....subproblems.curves import (
        curve_table,
        exponential,
    )
    from ....subproblems.grids import geometric
    from ....subproblems.prices import of_table

    grid = geometric(levels, spread)
    table = curve_table(exponential, units, grid[0], grid[-1])
    return _instance(units, grid, horizon, (of_table(table),))


@generator()
def random_table(
    rng: np.random.Generator,
    *,
    units: int = 4,
    levels: int = 6,
    horizon: int = 10,
    monotone: bool = False,
) -> AdversarialOnlineSequenceInstance:
    """Prices drawn from the values, in any order or non-decreasing.

    Return prices drawn from the values; the first is the least, so that the ratio is finite.
    """
    from ....subproblems.prices import of_table

    if levels < 1 or levels > 100:
        raise InputError(f"levels: {levels}, expected 1 to 100")
    values = sorted(rng.choice(100, size=levels, replace=False) + 1)
    drawn = rng.choice(values, size=max(0, units - 1)).tolist()
    table = [int(values[0]), *map(int, sorted(drawn) if monotone else drawn)]
    grid = [Fraction(int(v)) for v in values]
    return _instance(units, grid, horizon, (of_table(table),))


@generator()
def one_seed(
    rng: np.random.Generator,
    *,
    units: int = 3,
    levels: int = 6,
    horizon: int = 12,
    spread: int = 4,
) -> AdversarialOnlineSequenceInstance:
    """The exponential price with one random seed: a lottery over tables."""
    from ....subproblems.curves import (
        exponential_limits,
        one_seed_lottery,
    )
    from ....subproblems.grids import geometric

    grid = geometric(levels, spread)
    limits = exponential_limits(grid, grid[-1] / grid[0])
    return _instance(units, grid, horizon, one_seed_lottery(grid, limits, units))


@generator()
def resources(
    rng: np.random.Generator,
    *,
    resources: int = 2,
    units: int = 2,
    types: int = 4,
    horizon: int = 5,
) -> AdversarialOnlineSequenceInstance:
    """Several resources with rising prices, bundles of random demands.

    Return rising prices of several resources; no bundle is refused when nothing is sold.
    """
    from ....subproblems.prices import PostedPrices
    from ...instance import (
        AdversarialOnlineSequenceInstance,
        RequestType,
    )

    kinds: dict[tuple[int, tuple[int, ...]], RequestType] = {}
    while len(kinds) < types:
        demand = tuple(map(int, rng.integers(0, units + 1, size=resources)))
        if any(demand):
            value = sum(demand) * int(rng.integers(1, 6))
            kinds[value, demand] = RequestType(value=Fraction(value), demand=demand)
    table = tuple(Fraction(1 + 2 * u, 2) for u in range(units))
    prices = tuple(table for _ in range(resources))
    return AdversarialOnlineSequenceInstance(
        capacity=(units,) * resources,
        types=tuple(kinds.values()),
        horizon=horizon,
        policy=(PostedPrices(prices=prices),),
    )


def _instance(
    units: int, grid: list[Fraction], horizon: int, policy: tuple[object, ...]
) -> AdversarialOnlineSequenceInstance:
    from ...instance import (
        AdversarialOnlineSequenceInstance,
        RequestType,
    )

    return AdversarialOnlineSequenceInstance(
        capacity=(units,),
        types=tuple(RequestType(value=level) for level in grid),
        horizon=horizon,
        policy=policy,  # type: ignore[arg-type]
    )
