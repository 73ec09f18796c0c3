"""Admission of jobs, each with its pair of workers and servers: the outer knapsack, Algorithm 3."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Ints
from gadgetopt.pieces.knapsack.frieze_clarke import frieze_clarke
from gadgetopt.pieces.knapsack.outcome import CoreResult
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import Job, SmdInstance
from ..subproblems.columns import chosen_columns
from ..subproblems.inner import Pair


class Choice(NamedTuple):
    """Items chosen of a knapsack, the limit that was hit, and notes."""

    chosen: Ints
    limit_hit: str | None
    notes: dict[str, Any]

    @classmethod
    def of(cls, found: CoreResult | None) -> Choice:
        """Return what a solver of knapsacks chose; nothing if it found nothing."""
        nothing = np.empty(0, dtype=np.int64)
        if found is None:
            return cls(nothing, None, {})
        chosen = nothing if found.chosen is None else found.chosen
        return cls(chosen, found.limit_hit, found.notes)


#: Chooses jobs: items of a knapsack within the limits.
Choose = Callable[[Knapsack, Limits], Choice]


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
    instance: SmdInstance, pairs: Sequence[Pair | None], limits: Limits, choose: Choose
) -> MethodOutcome:
    """Admit jobs, each with its pair, and return the decision.

    Parameters
    ----------
    pairs : sequence of Pair or None
        None: the job cannot be admitted.
    choose : callable
        Which jobs, such as `by_algorithm_3`.
    """
    clock = Clock(limits)
    columns = chosen_columns(instance, pairs)
    found = _chosen(columns.knapsack, clock.limits(), choose)
    if not columns.fits(instance, found.chosen):
        found = _chosen(columns.rounded_up(instance), clock.limits(), choose)
    notes: dict[str, Any] = {"jobs_without_pair": sum(pair is None for pair in pairs)}
    notes |= {f"outer_{key}": value for key, value in found.notes.items()}
    return MethodOutcome(
        solution=columns.solution(instance, found.chosen),
        claimed_objective=columns.knapsack.value(found.chosen),
        limit_hit=found.limit_hit,
        notes=notes,
    )


def _chosen(knapsack: Knapsack, limits: Limits, choose: Choose) -> Choice:
    return choose(knapsack, limits) if knapsack.num_items else Choice.of(None)


def by_algorithm_3(k: int, *, complete: bool = False) -> Choose:
    """Return Algorithm 3 with sets of at most k jobs.

    Parameters
    ----------
    complete : bool
        True to add jobs that still fit (reconstructed).
    """

    def choose(knapsack: Knapsack, limits: Limits) -> Choice:
        return Choice.of(frieze_clarke(knapsack, k, complete=complete, limits=limits))

    return choose


def admit_jobs(
    instance: SmdInstance,
    limits: Limits,
    policy: Callable[[int, Job], Pair | None],
    choose: Choose,
) -> MethodOutcome:
    """Give every job the pair of a policy, then admit; see `choose_pairs` and `admit`."""
    clock = Clock(limits)
    with clock.phase("inner"):
        pairs, in_time = choose_pairs(instance, limits, policy)
    with clock.phase("outer"):
        outcome = admit(instance, pairs, clock.limits(), choose)
    outcome.phases_s = clock.phases_s
    if not in_time:
        outcome.limit_hit = "time_s"
    return outcome


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
