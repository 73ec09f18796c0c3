"""The knapsack of jobs solved exactly."""

from __future__ import annotations

import contextlib

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.knapsack.core import cg_core
from gadgetopt.pieces.knapsack.dynamic import collinear, solve_collinear
from gadgetopt.pieces.knapsack.outcome import CoreResult
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.system.result import Limits


def exactly(knapsack: Knapsack, limits: Limits, rng: np.random.Generator) -> CoreResult:
    """Solve a knapsack exactly: dynamic programming if its rows reduce to one, else its core."""
    if knapsack.num_groups == knapsack.num_items and collinear(knapsack) is not None:
        with contextlib.suppress(ModelRefused):  # a row too long for a table
            return solve_collinear(knapsack)
    return cg_core(knapsack, limits, rng)
