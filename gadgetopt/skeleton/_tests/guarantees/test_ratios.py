"""The theorem holds, and is tight but for little on its worst case."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gadgetopt.skeleton.system.algorithms.greedy import greedy_choice
from gadgetopt.skeleton.system.data.generate.presets import greedy_half
from gadgetopt.skeleton.system.instance import (
    SkeletonInstance,
)

Optimum = Callable[[SkeletonInstance], int]


def _value(instance: SkeletonInstance) -> int:
    return sum(instance.value[i] for i in greedy_choice(instance))


def test_greedy_has_at_least_half_of_the_optimum(
    drawn: list[SkeletonInstance],
    optimum: Optimum,
) -> None:
    for instance in drawn:
        assert optimum(instance) <= 2 * _value(instance), instance


def test_and_hardly_more_on_its_worst_case(optimum: Optimum) -> None:
    # Greedy takes the small item, worth 2 a kilogram, and one of 50; the optimum is both of 50.
    worst = greedy_half(np.random.default_rng(0), item_kg=50)
    assert (_value(worst), optimum(worst)) == (52, 100)
