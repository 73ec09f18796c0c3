"""How baselines admit jobs, which the paper does not say: exactly, by Algorithm 3, or greedily."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gadgetopt.pieces.knapsack.heuristics.local_search import by_density
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.system.result import Limits

from ..algorithms.outer import Choice, Choose, by_algorithm_3
from ..subproblems.exact_knapsack import exactly

Outer = Literal["exact", "frieze_clarke", "greedy_density"]


def admission(outer: Outer, k: int, *, complete: bool, rng: np.random.Generator) -> Choose:
    """Return how jobs are chosen.

    Parameters
    ----------
    outer : "exact", "frieze_clarke" or "greedy_density"
        Best of all; Algorithm 3; by utility over the largest share of a capacity.
    k, complete
        Parameters of Algorithm 3: size of the sets enumerated, and True to add jobs that still fit.
    """
    if outer == "frieze_clarke":
        return by_algorithm_3(k, complete=complete)
    return densest if outer == "greedy_density" else exactly_chosen(rng)


def exactly_chosen(rng: np.random.Generator) -> Choose:
    """Return the exact choice; the generator gives solvers their seeds."""

    def choose(knapsack: Knapsack, limits: Limits) -> Choice:
        return Choice.of(exactly(knapsack, limits, rng))

    return choose


def densest(knapsack: Knapsack, limits: Limits) -> Choice:
    """Choose by utility over the largest share of a capacity (reconstructed)."""
    return Choice(by_density(knapsack), None, {})
