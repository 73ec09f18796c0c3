"""Presets: independent values, drifting and bursting ones, worst streams, bundles.

The settings of the paper are not known; these are ours (reconstructed). Values have three decimals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gadgetopt.errors import InputError
from gadgetopt.system.declaring import generator

if TYPE_CHECKING:
    import numpy as np

    from gadgetopt.numbers.arrays import Floats

    from ...instance import AdversarialOnlineRunInstance


@generator()
def quickstart(
    rng: np.random.Generator, *, requests: int = 24, units: int = 6, spread: float = 10.0
) -> AdversarialOnlineRunInstance:
    """A few buyers whose values drift upward."""
    return upward_drift(rng, requests=requests, units=units, spread=spread, noise=0.35)


@generator()
def paper(
    rng: np.random.Generator,
    *,
    requests: int = 500,
    units: int = 100,
    spread: float = 10.0,
    levels: int = 9,
) -> AdversarialOnlineRunInstance:
    """Independent values on a geometric grid; the paper's settings are not known.

    Return independent values on a geometric grid that the seller knows (reconstructed).
    """
    grid = _grid(spread, levels)
    values = [grid[j] for j in rng.integers(0, levels, size=requests).tolist()]
    return _instance(units, values, grid[0], grid[-1], levels=tuple(grid))


@generator()
def iid(
    rng: np.random.Generator,
    *,
    requests: int = 500,
    units: int = 100,
    spread: float = 10.0,
    law: str = "uniform",
) -> AdversarialOnlineRunInstance:
    """Independent values: uniform, lognormal or Pareto, clipped.

    Return independent values from 1 to `spread`: uniform, lognormal or Pareto, clipped.
    """
    if law == "uniform":
        values = rng.uniform(1, spread, size=requests)
    elif law == "lognormal":
        values = rng.lognormal(0.5, 0.75, size=requests)
    elif law == "pareto":
        values = 1 + rng.pareto(1.5, size=requests)
    else:
        raise InputError(f"law: {law!r}, expected 'uniform', 'lognormal' or 'pareto'")
    return _clipped(units, values, spread)


@generator()
def upward_drift(
    rng: np.random.Generator,
    *,
    requests: int = 500,
    units: int = 100,
    spread: float = 10.0,
    noise: float = 0.2,
) -> AdversarialOnlineRunInstance:
    """Values that grow over the stream, with noise.

    Return values that grow geometrically from 1 to `spread`, times lognormal noise.
    """
    import numpy as np

    drift = spread ** np.linspace(0, 1, requests)
    return _clipped(units, drift * rng.lognormal(0, noise, size=requests), spread)


@generator()
def burst_low_then_high(
    rng: np.random.Generator,
    *,
    requests: int = 500,
    units: int = 100,
    spread: float = 10.0,
    burst_share: float = 0.25,
) -> AdversarialOnlineRunInstance:
    """Low values first, then a burst of high ones.

    Return values near 1, and for the last part of the stream values near `spread`.
    """
    if not 0 <= burst_share <= 1:
        raise InputError(f"burst_share: {burst_share}, expected from 0 to 1")
    burst = round(burst_share * requests)
    values = 1 + 0.2 * (spread - 1) * rng.random(requests)
    values[requests - burst :] = spread - 0.2 * (spread - 1) * rng.random(burst)
    return _clipped(units, values, spread)


@generator(summary="k buyers of each level of a geometric grid, from the lowest")
def adversarial_chain(
    rng: np.random.Generator, *, units: int = 10, spread: float = 4.0, levels: int = 5
) -> AdversarialOnlineRunInstance:
    """Return `units` buyers of each level of a geometric grid, from the lowest.

    The stream that is tight for (1), if the seller does not know where it stops. Nothing is drawn.
    """
    grid = _grid(spread, levels)
    return _instance(
        units,
        [level for level in grid for _ in range(units)],
        grid[0],
        grid[-1],
        levels=tuple(grid),
    )


@generator()
def worst_for_finite_k(
    rng: np.random.Generator, *, units: int = 8, spread: float = 4.0
) -> AdversarialOnlineRunInstance:
    """The worst stream for the optimal table of k units.

    Return the worst stream for the optimal table of k units: its prices, then k times U.

    The table sells all units at their prices, and its ratio is the least possible one. Nothing is
    drawn.
    """
    from fractions import Fraction

    from ....subproblems.curves import finite_table

    low, high = Fraction(1), Fraction(str(spread))
    table = finite_table(units, low, high)
    return _instance(units, [*map(float, table), *[spread] * units], low, high)


@generator()
def bid_trace(
    rng: np.random.Generator,
    *,
    requests: int = 200,
    units: int = 30,
    resources: int = 3,
    types: int = 6,
    spread: float = 10.0,
) -> AdversarialOnlineRunInstance:
    """Bundles of several resources, with values for each unit.

    Return bundles of up to three units of each resource; a unit is worth 1 to `spread`.
    """
    import numpy as np

    kinds = rng.integers(0, 4, size=(types, resources))
    kinds[np.arange(types), rng.integers(0, resources, size=types)] += 1
    demand = kinds[rng.integers(0, types, size=requests)]
    unit_value = _rounded(rng.uniform(1, spread, size=requests), spread)
    value = np.round(demand.sum(axis=1) * unit_value, 3)
    from ...instance import AdversarialOnlineRunInstance

    return AdversarialOnlineRunInstance(
        capacity=(units,) * resources,
        value=tuple(value.tolist()),
        demand=tuple(map(tuple, demand.tolist())),
        value_min=1,  # type: ignore[arg-type]
        value_max=spread,  # type: ignore[arg-type]
    )


def _grid(spread: float, levels: int) -> list[float]:
    """Return levels from 1 to `spread` with equal ratios, of three decimals."""
    if levels < 2:
        raise InputError(f"levels: {levels}, expected at least 2")
    grid = [round(spread ** (j / (levels - 1)), 3) for j in range(levels)]
    if len(set(grid)) < levels:
        raise InputError(f"levels: {levels}, expected fewer for a spread of {spread}")
    return grid


def _rounded(values: Floats, spread: float) -> Floats:
    import numpy as np

    if spread < 1:
        raise InputError(f"spread: {spread}, expected at least 1")
    return np.clip(np.round(values, 3), 1, spread)


def _clipped(units: int, values: Floats, spread: float) -> AdversarialOnlineRunInstance:
    return _instance(units, _rounded(values, spread).tolist(), 1, spread)


def _instance(
    units: int, values: list[float], low: Any, high: Any, **more: Any
) -> AdversarialOnlineRunInstance:
    from ...instance import AdversarialOnlineRunInstance

    return AdversarialOnlineRunInstance(
        capacity=(units,), value=tuple(values), value_min=low, value_max=high, **more
    )
