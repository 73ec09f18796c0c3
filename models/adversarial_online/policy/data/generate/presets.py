"""Presets: geometric and random grids, and predicted sequences."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from gadgetopt.errors import InputError
from gadgetopt.system.declaring import generator

if TYPE_CHECKING:
    import numpy as np

    from ...instance import AdversarialOnlinePolicyInstance


@generator()
def quickstart(
    rng: np.random.Generator,
    *,
    units: int = 2,
    levels: int = 3,
    horizon: int = 5,
    spread: int = 4,
) -> AdversarialOnlinePolicyInstance:
    """Two units, a geometric grid of three values.

    Return a game so short that truncation helps the seller. Nothing is drawn.
    """
    return _instance(units, _geometric(levels, spread), horizon)


@generator()
def paper(
    rng: np.random.Generator,
    *,
    units: int = 5,
    levels: int = 7,
    horizon: int = 25,
    spread: int = 10,
) -> AdversarialOnlinePolicyInstance:
    """Geometric grids as the notes study them (reconstructed settings).

    The study has spreads of 2, 4, 10, 20 and 50, 1, 2, 5, 10 and 100 units, horizons of once, twice
    and five times the units, and 5 to 20 levels (reconstructed). Nothing is drawn.
    """
    return _instance(units, _geometric(levels, spread), horizon)


@generator()
def random_grid(
    rng: np.random.Generator,
    *,
    units: int = 2,
    levels: int = 3,
    horizon: int = 4,
    payoff: Literal["ratio", "regret"] = "ratio",
) -> AdversarialOnlinePolicyInstance:
    """Whole values drawn from 1 to 20, as ratio or as regret."""
    if not 1 <= levels <= 20:
        raise InputError(f"levels: {levels}, expected 1 to 20")
    drawn = sorted(rng.choice(20, size=levels, replace=False).tolist())
    return _instance(units, [Fraction(x + 1) for x in drawn], horizon, payoff=payoff)


@generator()
def predicted(
    rng: np.random.Generator,
    *,
    units: int = 1,
    levels: int = 3,
    horizon: int = 4,
    spread: int = 4,
    consistency_percent: int = 80,
) -> AdversarialOnlinePolicyInstance:
    """A predicted sequence on which a share of OPT is to be kept.

    Return a game with one predicted sequence of random levels.
    """
    sequence = tuple(map(int, rng.integers(0, levels, size=horizon)))
    return _instance(
        units,
        _geometric(levels, spread),
        horizon,
        predictions=(sequence,),
        consistency=Fraction(consistency_percent, 100),
    )


def _geometric(levels: int, spread: int) -> list[Fraction]:
    from ....subproblems.grids import geometric

    return geometric(levels, spread)


def _instance(
    units: int, grid: list[Fraction], horizon: int, **more: object
) -> AdversarialOnlinePolicyInstance:
    from ...instance import AdversarialOnlinePolicyInstance

    return AdversarialOnlinePolicyInstance(
        levels=tuple(grid),
        capacity_units=units,
        horizon=horizon,
        **more,  # type: ignore[arg-type]
    )
