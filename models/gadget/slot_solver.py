"""The optimum of a slot on a two-tier cluster, by the cheapest proof that works (reconstructed).

1. Sizes by total capacity alone, B1; if rings of these sizes can be embedded they are optimal (P5).
2. The configuration program with bandwidths that sets of jobs can use, and its roundings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gadgetopt.numbers import CLOSED_GAP
from gadgetopt.result import Limits

from .config_lp import ConfigLp, config_lp
from .knapsack_bound import knapsack_bound
from .mapping_rounding import fill, violation_free
from .placement import Room, embed
from .slot_greedy import slot_greedy
from .slot_problem import Mapping, SlotProblem

#: Roundings of the configuration program.
ATTEMPTS = 30


@dataclass(frozen=True)
class SlotResult:
    """Rings of a slot and a bound on its optimum.

    Attributes
    ----------
    mappings : tuple of Mapping
    value : float
        Sum of their gains.
    bound : float
        Upper bound on the optimum of the slot.
    proof : str
        The step after which value and bound met, or the last one that ran.
    limit_hit : str or None
    """

    mappings: tuple[Mapping, ...]
    value: float
    bound: float
    proof: str
    limit_hit: str | None = None

    @property
    def closed(self) -> bool:
        """Whether the rings are optimal."""
        return self.bound - self.value <= CLOSED_GAP * max(1.0, abs(self.bound))


def solve_slot(
    problem: SlotProblem,
    limits: Limits,
    rng: np.random.Generator,
) -> SlotResult:
    """Solve a slot, or bound how far the rings are from its optimum.

    Raises
    ------
    ModelRefused
        If the network is a graph.
    """
    terms = problem.terms
    choice = knapsack_bound(problem)
    best = SlotResult((), 0.0, choice.bound, "sizes by capacity")
    if choice.sizes is not None:
        wanted = [(x.job, k) for x, k in zip(problem.jobs, choice.sizes, strict=True) if k]
        best = _better(problem, best, embed(Room(terms), wanted))
    if not best.closed:
        best = _better(problem, best, slot_greedy(problem))
    if not best.closed:
        best = replace(best, proof="configuration program")
        config = config_lp(problem, limits)
        bound = min(best.bound, config.bound)
        best = replace(best, bound=bound, limit_hit=config.limit_hit)
        best = _rounded(problem, best, config, rng)
    return best


def _rounded(
    problem: SlotProblem, best: SlotResult, config: ConfigLp, rng: np.random.Generator
) -> SlotResult:
    kept = violation_free(problem, config.mappings, ATTEMPTS, rng)
    return _better(problem, best, fill(problem, kept))


def _better(problem: SlotProblem, best: SlotResult, mappings: list[Mapping] | None) -> SlotResult:
    """Return the best rings so far."""
    if mappings is None:
        return best
    gains = {x.job.index: x.gain for x in problem.jobs}
    value = float(sum(gains[mapping.job][mapping.size] for mapping in mappings))
    return replace(best, mappings=tuple(mappings), value=value) if value > best.value else best
