"""SMD: Algorithm 1 and 2 for every job, Algorithm 3 for their admission.

M. Yu, C. Wu, B. Ji, J. Liu, "A Sum-of-Ratios Multi-Dimensional-Knapsack Decomposition for DNN
Resource Scheduling", INFOCOM 2021. The parts are in `grid_search.py` (Algorithm 1), `rounding.py`
(Algorithm 2) and `gadgetopt.pieces.knapsack.frieze_clarke` (Algorithm 3). TR(n) is equation (n) of
the technical report, arXiv 2105.13855.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import Job, SmdInstance, SmdSolution
from ..subproblems.inner import Pair, best_pair
from .grid_search import Grid, Objective, Route, grid_search
from .outer import Outer, enumerated_sets, serve
from .rounding import Fallback, Zero, best_corner, floor_pair, rounded
from .theorem_values import what_theorems_say

HowRounded = Literal["random", "floor", "corners"]

#: Up to so many jobs, the notes compare the utilities found with the best ones.
MOST_COMPARED = 10_000


@dataclass
class InnerCounts:
    """Counts over all jobs: the paper's linear programs, roundings that did not fit."""

    programs: int = 0
    failed_attempts: int = 0
    jobs_rounded_down: int = 0
    jobs_without_point: int = 0


def smd(
    instance: SmdInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    eps_inner: float = 0.01,
    grid: Grid = "repaired",
    inner_objective: Objective = "upper",
    route: Route = "fast",
    rounding: HowRounded = "random",
    shrink: float = 1.0,
    delta: float | None = None,
    attempts: int = 20,
    zero: Zero = "clip",
    fallback: Fallback = "floor",
    outer: Outer = "frieze_clarke",
    k: int = 2,
    eps_outer: float | None = None,
    complete: bool = False,
) -> MethodOutcome:
    r"""Return the decision of SMD: a grid search, a rounding, and a knapsack.

    With reservations charged and the other parameters' defaults it is the same result as `plain`,
    tested, unless a job has several grid points of the least Psi.

    With reservations charged, the repaired grid, every job rounded in the end, and Algorithm 3 or
    an exact knapsack (ratio 1 instead of :math:`(k + R)/k`),

    .. math::
        \frac{OPT}{ALG} \le \frac{k + R}{k} \max_i
            \frac{\mu_i(\tau_i^*)}{\mu_i(\kappa (1 + \epsilon_1) \tau_i^*)},
        \qquad \kappa = 4 / M \text{ or } 2,

    instance by instance (reconstructed; see `guarantees` for the paper's theorems, which promise
    nothing finite here). Takes O(sum of the grids' values) per job, and for Algorithm 3 the linear
    programs that its bound does not spare. Every job has its own random generator, so that its
    rounding does not depend on the others.

    Parameters
    ----------
    eps_inner : float, default 0.01
        epsilon_1 of Algorithm 1; the paper's.
    grid : "repaired" or "as_printed", default "repaired"
        The printed grid may miss the optimum, or every point.
    inner_objective : "upper" or "actual", default "upper"
        Compare grid points by Psi, as printed, or by their time (reconstructed).
    route : "fast" or "lp", default "fast"
        The exact equivalent of the linear programs (reconstructed), or the linear programs.
    rounding : "random", "floor" or "corners", default "random"
        Algorithm 2, or one of its deterministic variants (reconstructed).
    shrink : float, default 1
        M; 1 in the paper's runs.
    delta : float, optional
        Where given, M is M_delta, TR(28).
    attempts : int, default 20
        F; the paper gives none.
    zero : "clip" or "reject", default "clip"
        A number rounded to 0 becomes 1, or the attempt fails.
    fallback : "floor" or "none", default "floor"
        A job whose roundings all fail is rounded down, or gets nothing, as in the paper.
    outer : "frieze_clarke", "exact" or "greedy_density", default "frieze_clarke"
        How jobs are admitted.
    k : int, default 2
        Size of the sets that Algorithm 3 enumerates.
    eps_outer : float, optional
        epsilon_2; if given, k follows from it. The paper's 0.01 means all 2^I sets.
    complete : bool, default False
        True to add jobs that still fit (reconstructed).

    Raises
    ------
    ModelRefused
        If an epsilon means too many linear programs or sets; the message has the count.
    """
    k = enumerated_sets(instance, k, eps_outer)
    if rounding not in ("random", "floor", "corners"):
        raise ValueError(f"rounding: {rounding!r} is not 'random', 'floor' or 'corners'")
    seed = int(rng.integers(2**63))
    counts = InnerCounts()
    clock = Clock(limits)

    def policy(i: int, job: Job) -> Pair | None:
        found = grid_search(
            job, eps_inner, grid=grid, objective=inner_objective, route=route, clock=clock
        )
        if found is None:
            counts.jobs_without_point += 1
            return None
        counts.programs += found.grid_points
        if rounding == "floor":
            return floor_pair(job, found.point)
        if rounding == "corners":
            return best_corner(job, found.point)
        result = rounded(
            job,
            found.point,
            np.random.default_rng([seed, i]),
            shrink=shrink,
            delta=delta,
            attempts=attempts,
            zero=zero,
            fallback=fallback,
        )
        counts.failed_attempts += result.failed_attempts
        counts.jobs_rounded_down += result.fell_back
        return result.pair

    outcome = serve(instance, limits, rng, policy, outer=outer, k=k, complete=complete)
    outcome.notes |= {
        "linear_programs_of_algorithm_1": counts.programs,
        "failed_attempts": counts.failed_attempts,
        "jobs_rounded_down": counts.jobs_rounded_down,
        "jobs_without_grid_point": counts.jobs_without_point,
    }
    if outcome.solution is not None and len(instance.jobs) <= MOST_COMPARED:
        assert isinstance(outcome.solution, SmdSolution)
        outcome.notes["worst_utility_ratio_of_admitted"] = worst_utility_ratio(
            instance, outcome.solution
        )
        outcome.notes |= what_theorems_say(
            instance,
            {
                "eps_inner": eps_inner,
                "grid": grid,
                "rounding": rounding,
                "shrink": shrink,
                "delta": delta,
                "attempts": attempts,
                "outer": outer,
                "k": k,
                "eps_outer": None,
            },
        )
    return outcome


def algorithm_3(
    instance: SmdInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    k: int = 2,
    eps_outer: float | None = None,
    complete: bool = False,
) -> MethodOutcome:
    r"""Return the decision of Algorithm 3 when every job has its best pair.

    With reservations charged, :math:`OPT / ALG \le (k + R) / k` (Theorem 3).

    Parameters
    ----------
    k, eps_outer, complete
        As in `smd`.

    Raises
    ------
    ModelRefused
        As in `smd`.
    """
    k = enumerated_sets(instance, k, eps_outer)
    return serve(
        instance,
        limits,
        rng,
        lambda _, job: best_pair(job),
        outer="frieze_clarke",
        k=k,
        complete=complete,
    )


def worst_utility_ratio(instance: SmdInstance, solution: SmdSolution) -> float:
    """Return the largest ratio of best to actual utility of an admitted job; 1 if there is none."""
    worst = 1.0
    for job, given in zip(instance.jobs, solution.jobs, strict=True):
        best = best_pair(job) if given.admit else None
        if best is not None:
            tau_s = float(job.completion_time.at(given.num_workers, given.num_ps))
            worst = max(worst, math.exp(job.utility.log_at(best.tau_s) - job.utility.log_at(tau_s)))
    return worst
