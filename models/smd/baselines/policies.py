"""Baselines of the paper: equal servers and workers (ESW), and Optimus.

The paper describes each in one sentence; numbers, stop rules and the admission of jobs are
reconstructed. None has a guarantee. M. Yu, C. Wu, B. Ji, J. Liu, "A Sum-of-Ratios
Multi-Dimensional-Knapsack Decomposition for DNN Resource Scheduling", INFOCOM 2021.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from gadgetopt.search.seeds import fixed_rng
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.outer import admit_jobs
from ..instance import Job, SmdInstance
from ..subproblems.inner import Pair, packing_rows
from .admission import Outer, admission

Stop = Literal["stop", "fill"]


@method(kind="baseline", reference="baseline ESW")
def esw(
    instance: SmdInstance,
    limits: Limits,
    *,
    outer: Outer = "exact",
    k: int = 2,
    complete: bool = False,
) -> MethodOutcome:
    """As many workers as servers, as many as fit.

    Parameters
    ----------
    outer, k, complete
        As in `admission.admission`.
    """
    rng = fixed_rng()
    choose = admission(outer, k, complete=complete, rng=rng)
    return admit_jobs(instance, limits, lambda _, job: most_equal(job), choose)


@method(kind="baseline", reference="baseline ESW (reconstructed)")
def esw_best(
    instance: SmdInstance,
    limits: Limits,
    *,
    outer: Outer = "exact",
    k: int = 2,
    complete: bool = False,
) -> MethodOutcome:
    """As many workers as servers, the best number of both.

    Return the decision of equal servers and workers, with the best number (reconstructed).

    Parameters are those of `esw`.
    """
    rng = fixed_rng()
    choose = admission(outer, k, complete=complete, rng=rng)
    return admit_jobs(instance, limits, lambda _, job: best_equal(job), choose)


@method(kind="baseline", reference="baseline Optimus")
def optimus(
    instance: SmdInstance,
    limits: Limits,
    *,
    stop: Stop = "fill",
    outer: Outer = "exact",
    k: int = 2,
    complete: bool = False,
) -> MethodOutcome:
    """One more worker or one more server, whichever helps more.

    Parameters
    ----------
    stop : "fill" or "stop", default "fill"
        Go on until nothing fits, which the gap in the paper's plots suggests, or until no step
        shortens the time (both reconstructed).
    outer, k, complete
        As in `admission.admission`.
    """
    rng = fixed_rng()
    if stop not in ("stop", "fill"):
        raise ValueError(f"stop: {stop!r} is not 'stop' or 'fill'")
    choose = admission(outer, k, complete=complete, rng=rng)
    return admit_jobs(instance, limits, lambda _, job: one_by_one(job, stop), choose)


def largest_equal(job: Job) -> int:
    """Return the largest n for which n workers and n servers fit; 0 if there is none."""
    return min(row.limit // (row.worker + row.server) for row in packing_rows(job))


def most_equal(job: Job) -> Pair | None:
    """Return the pair of ESW."""
    n = largest_equal(job)
    return Pair(n, n, float(job.completion_time.at(n, n))) if n else None


def best_equal(job: Job) -> Pair | None:
    """Return the pair of equal numbers with the least time, the smallest of equally good ones."""
    most = largest_equal(job)
    if not most:
        return None
    n = np.arange(1, most + 1)
    tau_s = job.completion_time.at(n, n)
    best = int(np.argmin(tau_s))
    return Pair(best + 1, best + 1, float(tau_s[best]))


def one_by_one(job: Job, stop: Stop) -> Pair | None:
    """Return the pair of Optimus, from (1, 1); ties go to the worker.

    Times are compared instead of utilities, which fall with them and may all round to zero.
    """
    rows = packing_rows(job)

    def fits(w: int, p: int) -> bool:
        return all(row.worker * w + row.server * p <= row.limit for row in rows)

    if not fits(1, 1):
        return None
    tau = job.completion_time
    pair = Pair(1, 1, float(tau.at(1, 1)))
    while True:
        w, p, now = pair
        steps = [
            Pair(*step, float(tau.at(*step))) for step in ((w + 1, p), (w, p + 1)) if fits(*step)
        ]
        if not steps:
            return pair
        best = min(steps, key=lambda step: step.tau_s)
        if stop == "stop" and best.tau_s >= now:
            return pair
        pair = best
