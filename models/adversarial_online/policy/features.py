"""Features: how wide and fine the grid is, and how long the game."""

from __future__ import annotations

from itertools import pairwise

from .instance import AdversarialOnlinePolicyInstance


def features(instance: AdversarialOnlinePolicyInstance) -> dict[str, float]:
    """Return spread, fineness and length of a game.

    - `spread`: the largest level over the smallest; greedy's ratio.
    - `largest_step`: the largest ratio of neighbouring levels.
    - `rounds_per_unit`: the horizon over the units; from the number of levels on, (1) is the
      optimum, and at 1 every buyer gets a unit.
    - `consistency`: the share of OPT wanted on predictions, 0 without.
    """
    levels = [float(level) for level in instance.levels]
    steps = [high / low for low, high in pairwise(levels)]
    return {
        "spread": levels[-1] / levels[0],
        "largest_step": max(steps, default=1.0),
        "rounds_per_unit": instance.horizon / instance.capacity_units,
        "consistency": float(instance.consistency or 0),
    }
