"""Presets: a bundle against its parts, random bundles, machines that come back, and units."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from gadgetopt.errors import InputError
from gadgetopt.system.declaring import generator

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from ...instance import AdversarialBundlesInstance


@generator()
def quickstart(
    rng: np.random.Generator, *, horizon: int = 5, units: int = 2
) -> AdversarialBundlesInstance:
    """Two units of two resources, one of each, both, and a larger bundle.

    Return the game whose trained seller comes with the system: values 1, 1, 3 and 4 for (1, 0),
    (0, 1), (1, 1) and (2, 1). Nothing is drawn.
    """
    types = [(1, (1, 0), None), (1, (0, 1), None), (3, (1, 1), None), (4, (2, 1), None)]
    return _instance((max(units, 2), units), types, horizon)


@generator()
def paper(
    rng: np.random.Generator,
    *,
    resources: int = 2,
    units: int = 2,
    types: int = 4,
    horizon: int = 5,
    spread: int = 10,
    longest: int = 3,
) -> AdversarialBundlesInstance:
    """Several resources, bundles and durations (reconstructed settings).

    Return a game whose bundles have 0 to `units` units of every resource, at least one in all, and
    last 1 to `longest` rounds, or for good (half of them); a unit and round is worth a whole number
    from 1 to `spread`.
    """
    return _drawn(rng, resources, units, types, horizon, spread, longest)


@generator()
def kept_for_good(
    rng: np.random.Generator,
    *,
    resources: int = 2,
    units: int = 2,
    types: int = 3,
    horizon: int = 4,
    spread: int = 6,
) -> AdversarialBundlesInstance:
    """Bundles that nobody gives back."""
    return _drawn(rng, resources, units, types, horizon, spread, 0)


@generator()
def bundle_and_parts(
    rng: np.random.Generator, *, resources: int = 2, horizon: int = 3, worth: int = 4
) -> AdversarialBundlesInstance:
    """A unit of every resource, each wanted alone, or all together for more.

    Return a game in which one early sale of a part blocks the bundle. Nothing is drawn.
    """
    if resources < 1:
        raise InputError(f"resources: {resources}, expected at least 1")
    alone = [tuple(int(r == i) for i in range(resources)) for r in range(resources)]
    together = (1,) * resources
    types = [*((1, demand, None) for demand in alone), (worth, together, None)]
    return _instance((1,) * resources, types, horizon)


@generator()
def units(
    rng: np.random.Generator, *, horizon: int = 6, units: int = 2, levels: int = 5, spread: int = 4
) -> AdversarialBundlesInstance:
    """Units of one resource, kept for good, wanted one at a time.

    Return a game of values from 1 to `spread` in a geometric row, the inner ones to four decimals:
    that of adversarial_online's training study. Nothing is drawn.
    """
    if min(horizon, units, levels) < 1 or (levels > 1) != (spread > 1):
        raise InputError(
            f"horizon, units, levels: expected at least 1, and several levels (here {levels}) up "
            f"to a spread above 1 (here {spread}), or one up to 1"
        )
    decimals = [round(10**4 * spread ** (j / max(1, levels - 1))) for j in range(levels)]
    types = [(Fraction(value, 10**4), (1,), None) for value in decimals]
    return _instance((units,), types, horizon)


def _drawn(
    rng: np.random.Generator,
    resources: int,
    units: int,
    types: int,
    horizon: int,
    spread: int,
    longest: int,
) -> AdversarialBundlesInstance:
    if min(resources, units, types, horizon, spread) < 1 or longest < 0:
        raise InputError(
            "resources, units, types, horizon, spread: expected at least 1, longest at least 0"
        )
    drawn: list[tuple[int, tuple[int, ...], int | None]] = []
    for _ in range(types):
        demand = [0]
        while not any(demand):
            demand = rng.integers(0, units + 1, size=resources).tolist()
        duration = None
        if longest and rng.random() < 0.5:
            duration = int(rng.integers(1, longest + 1))
        rounds = min(duration or horizon, horizon)
        worth = int(rng.integers(1, spread + 1))
        drawn.append((worth * sum(demand) * rounds, tuple(demand), duration))
    return _instance((units,) * resources, drawn, horizon)


def _instance(
    capacity: tuple[int, ...],
    types: Sequence[tuple[int | Fraction, tuple[int, ...], int | None]],
    horizon: int,
) -> AdversarialBundlesInstance:
    from ...instance import AdversarialBundlesInstance, RequestType

    return AdversarialBundlesInstance(
        capacity=capacity,
        types=tuple(
            RequestType(value=Fraction(value), demand=demand, duration=duration)
            for value, demand, duration in types
        ),
        horizon=horizon,
    )
