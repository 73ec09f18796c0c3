"""SMD: Algorithm 1 and 2 for every job, Algorithm 3 for their admission.

M. Yu, C. Wu, B. Ji, J. Liu, "A Sum-of-Ratios Multi-Dimensional-Knapsack Decomposition for DNN
Resource Scheduling", INFOCOM 2021. The parts are in `grid_search.py` (Algorithm 1), `rounding.py`
(Algorithm 2) and `outer.py` (Algorithm 3). TR(n) is equation (n) of the technical report, arXiv
2105.13855.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import Job, SmdInstance, SmdSolution
from ..subproblems.inner import Pair, Point, best_pair
from .grid_search import GridOptimum, grid_search
from .outer import Choose, admit_jobs, by_algorithm_3, enumerated_sets
from .rounding import Rounding, rounded
from .theorem_values import REPAIRED, Variant, theorem_notes

#: Up to so many jobs, the notes compare the utilities found with the best ones.
#: Tuned: `benchmarks/constants.py`.
MOST_COMPARED = 10_000

#: Algorithm 1, or a variant: a point of a job; None if it finds none.
Search = Callable[[Job], GridOptimum | None]
#: Algorithm 2, or a variant: the point rounded, with the job's own random generator.
Round = Callable[[Job, Point, np.random.Generator], Rounding]


@dataclass
class Inner:
    """Algorithms 1 and 2, job by job, and counts over all jobs.

    Every job has its own random generator, so that its rounding does not depend on the others.
    """

    search: Search
    round_: Round
    seed: int
    programs: int = 0
    failed_attempts: int = 0
    jobs_rounded_down: int = 0
    jobs_without_point: int = 0

    def pair(self, i: int, job: Job) -> Pair | None:
        """Return the pair of job i; None if it gets none."""
        found = self.search(job)
        if found is None:
            self.jobs_without_point += 1
            return None
        self.programs += found.grid_points
        result = self.round_(job, found.point, np.random.default_rng([self.seed, i]))
        self.failed_attempts += result.failed_attempts
        self.jobs_rounded_down += result.fell_back
        return result.pair

    @property
    def notes(self) -> dict[str, int]:
        """The paper's linear programs, roundings that did not fit, and jobs that had none."""
        return {
            "linear_programs_of_algorithm_1": self.programs,
            "failed_attempts": self.failed_attempts,
            "jobs_rounded_down": self.jobs_rounded_down,
            "jobs_without_grid_point": self.jobs_without_point,
        }


@method(kind="approximation", reference="Algorithms 1, 2 and 3")
def smd(
    instance: SmdInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    eps_inner: float = 0.01,
    shrink: float = 1.0,
    delta: float | None = None,
    attempts: int = 20,
    k: int = 2,
    eps_outer: float | None = None,
) -> MethodOutcome:
    r"""Grid search and rounding for every job, then a knapsack.

    With reservations charged it is the same result as `plain`, tested, unless a job has several
    grid points of the least Psi.

    With reservations charged,

    .. math::
        \frac{OPT}{ALG} \le \frac{k + R}{k} \max_i
            \frac{\mu_i(\tau_i^*)}{\mu_i(\kappa (1 + \epsilon_1) \tau_i^*)},
        \qquad \kappa = 4 / M,

    instance by instance (reconstructed; see `guarantees` for the paper's theorems, which promise
    nothing finite here). Takes O(sum of the grids' values) per job, and for Algorithm 3 the linear
    programs that its bound does not spare. Two repairs are not in the paper: the grid reaches the
    greatest value of a ratio, and a job whose roundings all fail is rounded down.
    `smd_as_printed` goes without.

    Parameters
    ----------
    eps_inner : float, default 0.01
        epsilon_1 of Algorithm 1; the paper's.
    shrink : float, default 1
        M; 1 in the paper's runs.
    delta : float, optional
        Where given, M is M_delta, TR(28).
    attempts : int, default 20
        F; the paper gives none.
    k : int, default 2
        Size of the sets that Algorithm 3 enumerates.
    eps_outer : float, optional
        epsilon_2; if given, k follows from it. The paper's 0.01 means all 2^I sets.

    Raises
    ------
    ModelRefused
        If an epsilon means too many grid values or sets; the message has the count.
    """
    k = enumerated_sets(instance, k, eps_outer)
    parameters = {"eps_inner": eps_inner, "shrink": shrink, "delta": delta, "attempts": attempts}
    parameters |= {"k": k, "eps_outer": None}
    inner = repaired(rng, eps_inner, shrink, delta, attempts)
    return decide(instance, limits, inner, by_algorithm_3(k), parameters)


@method(kind="heuristic", reference="Algorithms 1, 2 and 3, without repairs")
def smd_as_printed(
    instance: SmdInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    eps_inner: float = 0.01,
    shrink: float = 1.0,
    delta: float | None = None,
    attempts: int = 20,
    k: int = 2,
    eps_outer: float | None = None,
) -> MethodOutcome:
    """SMD with the printed grid; jobs whose roundings all fail get nothing.

    Return the decision of SMD without repairs, which may leave jobs without a pair.

    The printed grid ends at the last power below the greatest value of a ratio, so that it may miss
    the optimum, or every point. An attempt that rounds to zero fails, and a job whose attempts all
    fail gets nothing. Parameters are those of `smd`.

    Raises
    ------
    ModelRefused
        As `smd`.
    """
    k = enumerated_sets(instance, k, eps_outer)
    parameters = {"eps_inner": eps_inner, "shrink": shrink, "delta": delta, "attempts": attempts}
    parameters |= {"k": k, "eps_outer": None}
    inner = Inner(
        search=lambda job: grid_search(job, eps_inner, grid="as_printed"),
        round_=partial(
            rounded, shrink=shrink, delta=delta, attempts=attempts, zero="reject", fallback="none"
        ),
        seed=seed_of_jobs(rng),
    )
    choose = by_algorithm_3(k)
    return decide(instance, limits, inner, choose, parameters, Variant(grid="as_printed"))


@method(kind="approximation", reference="Algorithm 3")
def algorithm_3(
    instance: SmdInstance,
    limits: Limits,
    *,
    k: int = 2,
    eps_outer: float | None = None,
) -> MethodOutcome:
    r"""Best pairs, admitted by Frieze and Clarke's algorithm.

    Return the decision of Algorithm 3 when every job has its best pair.

    With reservations charged, :math:`OPT / ALG \le (k + R) / k` (Theorem 3).

    Parameters
    ----------
    k, eps_outer
        As in `smd`.

    Raises
    ------
    ModelRefused
        As in `smd`.
    """
    choose = by_algorithm_3(enumerated_sets(instance, k, eps_outer))
    return admit_jobs(instance, limits, lambda _, job: best_pair(job), choose)


def repaired(
    rng: np.random.Generator, eps_inner: float, shrink: float, delta: float | None, attempts: int
) -> Inner:
    """Return Algorithms 1 and 2 with the two repairs of `smd`, whose parameters they have."""
    return Inner(
        search=lambda job: grid_search(job, eps_inner),
        round_=partial(rounded, shrink=shrink, delta=delta, attempts=attempts),
        seed=seed_of_jobs(rng),
    )


def seed_of_jobs(rng: np.random.Generator) -> int:
    """Return the seed from which every job gets its random generator."""
    return int(rng.integers(2**63))


def decide(
    instance: SmdInstance,
    limits: Limits,
    inner: Inner,
    choose: Choose,
    parameters: Mapping[str, Any],
    variant: Variant = REPAIRED,
) -> MethodOutcome:
    """Serve all jobs and admit them; the notes count, and say what theorems promise of the run."""
    outcome = admit_jobs(instance, limits, inner.pair, choose)
    outcome.notes |= inner.notes
    if outcome.solution is not None and len(instance.jobs) <= MOST_COMPARED:
        assert isinstance(outcome.solution, SmdSolution)
        worst = worst_utility_ratio(instance, outcome.solution)
        outcome.notes["worst_utility_ratio_of_admitted"] = worst
        outcome.notes |= theorem_notes(instance, parameters, variant)
    return outcome


def worst_utility_ratio(instance: SmdInstance, solution: SmdSolution) -> float:
    """Return the largest ratio of best to actual utility of an admitted job; 1 if there is none."""
    worst = 1.0
    for job, given in zip(instance.jobs, solution.jobs, strict=True):
        best = best_pair(job) if given.admit else None
        if best is not None:
            tau_s = float(job.completion_time.at(given.num_workers, given.num_ps))
            worst = max(worst, math.exp(job.utility.log_at(best.tau_s) - job.utility.log_at(tau_s)))
    return worst
