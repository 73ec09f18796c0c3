"""Admission of jobs, each with its pair of workers and servers: the outer knapsack.

The paper uses Algorithm 3 and does not say how its baselines admit jobs. Here every policy offers
the same choice: exactly, by Algorithm 3, or greedily.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Ints
from gadgetopt.pieces.knapsack.core import cg_core
from gadgetopt.pieces.knapsack.dynamic import collinear, solve_collinear
from gadgetopt.pieces.knapsack.frieze_clarke import frieze_clarke
from gadgetopt.pieces.knapsack.heuristics.local_search import by_density
from gadgetopt.pieces.knapsack.outcome import CoreResult
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome

from ..formulations.columns import chosen_columns
from ..instance import Job, SmdInstance
from ..subproblems.inner import Pair

Outer = Literal["exact", "frieze_clarke", "greedy_density"]


def choose_pairs(
    instance: SmdInstance, limits: Limits, policy: Callable[[int, Job], Pair | None]
) -> tuple[list[Pair | None], bool]:
    """Return the pair that a policy gives each job; None for jobs after the time limit.

    A policy that runs out of time raises `TimeoutError`.

    Returns
    -------
    pairs : list of Pair or None
    complete : bool
        True if all jobs were served in time.
    """
    clock = Clock(limits)
    pairs: list[Pair | None] = []
    for i, job in enumerate(instance.jobs):
        try:
            if clock.expired:
                raise TimeoutError
            pairs.append(policy(i, job))
        except TimeoutError:
            return pairs + [None] * (len(instance.jobs) - i), False
    return pairs, True


def admit(
    instance: SmdInstance,
    pairs: Sequence[Pair | None],
    limits: Limits,
    rng: np.random.Generator,
    *,
    outer: Outer,
    k: int,
    complete: bool,
) -> MethodOutcome:
    """Admit jobs, each with its pair, and return the decision.

    Parameters
    ----------
    pairs : sequence of Pair or None
        None: the job cannot be admitted.
    outer : "exact", "frieze_clarke" or "greedy_density"
        Best of all; Algorithm 3; by utility over the largest share of a capacity (reconstructed).
    k, complete
        Parameters of Algorithm 3: size of the sets enumerated, and True to add jobs that still fit
        (reconstructed).
    """
    clock = Clock(limits)
    columns = chosen_columns(instance, pairs)
    found = _choose(columns.knapsack, clock.limits(), rng, outer, k, complete)
    if not columns.fits(instance, found.chosen):
        found = _choose(columns.rounded_up(instance), clock.limits(), rng, outer, k, complete)
    notes: dict[str, Any] = {"jobs_without_pair": sum(pair is None for pair in pairs)}
    notes |= {f"outer_{key}": value for key, value in found.notes.items()}
    return MethodOutcome(
        solution=columns.solution(instance, found.chosen),
        claimed_objective=columns.knapsack.value(found.chosen),
        limit_hit=found.limit_hit,
        notes=notes,
    )


class _Choice(NamedTuple):
    chosen: Ints
    limit_hit: str | None
    notes: dict[str, Any]


def _choose(
    knapsack: Knapsack,
    limits: Limits,
    rng: np.random.Generator,
    outer: Outer,
    k: int,
    complete: bool,
) -> _Choice:
    if outer == "greedy_density" or not knapsack.num_items:
        return _Choice(by_density(knapsack), None, {})
    if outer == "exact":
        found = exactly(knapsack, limits, rng)
    else:
        found = frieze_clarke(knapsack, k, complete=complete, limits=limits)
    chosen = np.empty(0, dtype=np.int64) if found.chosen is None else found.chosen
    return _Choice(chosen, found.limit_hit, found.notes)


def serve(
    instance: SmdInstance,
    limits: Limits,
    rng: np.random.Generator,
    policy: Callable[[int, Job], Pair | None],
    *,
    outer: Outer,
    k: int,
    complete: bool,
) -> MethodOutcome:
    """Give every job the pair of a policy, then admit; see `choose_pairs` and `admit`."""
    clock = Clock(limits)
    with clock.phase("inner"):
        pairs, in_time = choose_pairs(instance, limits, policy)
    with clock.phase("outer"):
        outcome = admit(instance, pairs, clock.limits(), rng, outer=outer, k=k, complete=complete)
    outcome.phases_s = clock.phases_s
    if not in_time:
        outcome.limit_hit = "time_s"
    return outcome


def exactly(knapsack: Knapsack, limits: Limits, rng: np.random.Generator) -> CoreResult:
    """Solve a knapsack exactly: dynamic programming if its rows reduce to one, else its core."""
    if knapsack.num_groups == knapsack.num_items and collinear(knapsack) is not None:
        with contextlib.suppress(ModelRefused):  # a row too long for a table
            return solve_collinear(knapsack)
    return cg_core(knapsack, limits, rng)


def enumerated_sets(instance: SmdInstance, k: int, eps_outer: float | None) -> int:
    """Return k, the size of the sets that Algorithm 3 enumerates, from epsilon_2 where given.

    Raises
    ------
    ModelRefused
        If epsilon_2 is not between 0 and 1.
    """
    if eps_outer is None:
        return k
    if not isinstance(eps_outer, int | float) or not 0 < eps_outer < 1:
        raise ModelRefused(f"eps_outer: {eps_outer!r}, expected a number between 0 and 1")
    # A small number off, so that 0.2 of four resources is 16 and not 17.
    sets = math.ceil(len(instance.resources) * (1 - eps_outer) / eps_outer - 1e-12)
    return min(len(instance.jobs), sets)
