"""Presets: the paper's random instances, small ones of the same kind, greedy's worst case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gadgetopt.errors import InputError
from gadgetopt.system.declaring import generator

from ...instance import SkeletonInstance

if TYPE_CHECKING:
    import numpy as np


@generator()
def quickstart(rng: np.random.Generator, *, items: int = 12) -> SkeletonInstance:
    """A few items, closed at once."""
    return paper(rng, items=items)


@generator()
def paper(rng: np.random.Generator, *, items: int = 30) -> SkeletonInstance:
    """Weights and values from 1 to 100, and room for half of the weight."""
    if items < 1:
        raise InputError(f"items: {items}, expected at least 1")
    weight_kg = rng.integers(1, 101, size=items).tolist()
    return SkeletonInstance(
        capacity_kg=sum(weight_kg) // 2,
        weight_kg=tuple(weight_kg),
        value=tuple(rng.integers(1, 101, size=items).tolist()),
    )


@generator()
def greedy_half(rng: np.random.Generator, *, item_kg: int = 50) -> SkeletonInstance:
    """Greedy's worst case: half of the optimum, if items are heavy.

    Greedy takes the small item, and one of the two large ones, which both fit without it. Nothing
    is drawn.
    """
    if item_kg < 2:
        raise InputError(f"item_kg: {item_kg}, expected at least 2")
    return SkeletonInstance(
        capacity_kg=2 * item_kg,
        weight_kg=(1, item_kg, item_kg),
        value=(2, item_kg, item_kg),
    )
