"""A rule of ours: each task where the completion times of all placed jobs grow least."""

from __future__ import annotations

import numpy as np

from gadgetopt.system.result import Limits, MethodOutcome

from ...subproblems.orders import Order
from ..baselines.rules import by_rule
from ..instance import PlacementInstance


def greedy_jct(
    instance: PlacementInstance, limits: Limits, rng: np.random.Generator, *, order: Order = "fifo"
) -> MethodOutcome:
    """Place each task where the completion times of all placed jobs grow least."""
    return by_rule(instance, limits, rng, "greedy_jct", order)
