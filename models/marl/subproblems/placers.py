"""A placer by the name of its rule."""

from __future__ import annotations

import numpy as np

from .jct_rule import JctPlacer
from .occupancy import Occupancy
from .rules import GroupPlacer, Placer, RandomPlacer, Rule


def placer_of(rule: Rule, occupancy: Occupancy, rng: np.random.Generator) -> Placer:
    """Return a rule at work on an occupancy."""
    if rule == "greedy_jct":
        return JctPlacer(occupancy)
    if rule == "random":
        return RandomPlacer(occupancy, rng)
    return GroupPlacer(occupancy, rule)
