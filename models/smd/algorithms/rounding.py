r"""Algorithm 2: randomised rounding of a point to whole numbers of workers and servers.

Random: the point is shrunk by M and rounded F times, each coordinate on its own; the best rounding
that fits is kept. The printed loop repeats "if infeasible or cnt < F"; it may never end, and
would return the last sample. The proof of Theorem 6 uses exactly F independent attempts.
The printed probability of rounding down takes x for M x. The paper leaves open what to do when no
attempt fits: `fallback` "none" gives the job nothing, "floor" rounds down (reconstructed).

With certainty (reconstructed): roundings that fit are within :math:`4 / M` of the point's
completion time, and the point rounded down is feasible and within 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.pieces.rounding import packing_width, round_packing, shrink_factor

from ..instance import Job
from ..subproblems.inner import (
    TIE,
    Pair,
    Point,
    fits,
    largest_p,
    largest_w,
)

Fallback = Literal["none", "floor"]
Zero = Literal["clip", "reject"]

#: Closeness to the next integer within which a coordinate counts as that integer.
#: Tuned: `benchmarks/constants.py`.
INTEGRAL = 1e-9


@dataclass(frozen=True)
class Rounding:
    """Result of Algorithm 2.

    Attributes
    ----------
    pair : Pair or None
        None if no attempt fits and there is no fallback.
    failed_attempts : int
        Attempts that did not fit, or were rejected because of a zero.
    fell_back : bool
        True if no attempt fits and the point was rounded down instead.
    """

    pair: Pair | None
    failed_attempts: int
    fell_back: bool


def job_width(job: Job) -> float:
    """Return W_b of a job: the least ratio of a limit to the demand of a worker or a server."""
    return packing_width(np.transpose([job.worker_demand, job.ps_demand]), job.reservation_limit)


def job_shrink(job: Job, delta: float) -> float:
    """Return M_delta of a job, equation (28) of the technical report (TR), one row per resource.

    Raises
    ------
    ModelRefused
        If delta is not in (0, 1], or nothing fits.
    """
    if not isinstance(delta, int | float):
        raise ModelRefused(f"rounding: delta {delta!r} is not a number")
    try:
        return shrink_factor(len(job.reservation_limit), job_width(job), delta)
    except ValueError as error:
        raise ModelRefused(f"rounding: {error}") from error


def rounded(
    job: Job,
    point: Point,
    rng: np.random.Generator,
    *,
    shrink: float = 1.0,
    delta: float | None = None,
    attempts: int = 20,
    zero: Zero = "clip",
    fallback: Fallback = "floor",
) -> Rounding:
    r"""Return the best of the random roundings of a point: Algorithm 2.

    Parameters
    ----------
    job : Job
        Whose (1, 1) fits.
    point : Point
        Of the continuous problem, w and p at least 1.
    rng : numpy.random.Generator
    shrink : float
        M, in (0, 1]; 1, as in the paper's runs, is no :math:`M_\delta`.
    delta : float, optional
        Where given, M is :math:`M_\delta`, TR(28).
    attempts : int
        F. The paper gives none.
    zero : "clip" or "reject"
        A number rounded to 0 becomes 1, or the attempt fails.
    fallback : "floor" or "none"
        What to do when no attempt fits.

    Raises
    ------
    ModelRefused
        If a parameter is out of its range.
    """
    if zero not in {"clip", "reject"}:
        raise ModelRefused(f"rounding: zero {zero!r}, expected 'clip' or 'reject'")
    if fallback not in {"none", "floor"}:
        raise ModelRefused(f"rounding: fallback {fallback!r}, expected 'none' or 'floor'")
    M = shrink if delta is None else job_shrink(job, delta)

    def feasible(candidates: Ints) -> Bools:
        # Two coordinates have at most four roundings.
        chosen = [(w, p) for w, p in candidates.tolist()]
        fitting = {pair for pair in set(chosen) if fits(job, *pair)}
        return np.array([pair in fitting for pair in chosen], dtype=bool)

    def cost(candidates: Ints) -> Floats:
        # Attempts rejected for a zero do not come here.
        tau: Floats = job.completion_time.at(candidates[:, 0], candidates[:, 1])
        return tau

    try:
        best = round_packing(
            (point.w, point.p), feasible, cost, rng, shrink=M, attempts=attempts, zero=zero
        )
    except ValueError as error:
        raise ModelRefused(f"rounding: {error}") from error
    if best.x is not None and best.cost is not None:
        w, p = best.x
        return Rounding(Pair(w, p, best.cost), best.failed, fell_back=False)
    if fallback == "none":
        return Rounding(None, best.failed, fell_back=False)
    return Rounding(floor_pair(job, point), best.failed, fell_back=True)


def floor_pair(job: Job, point: Point) -> Pair:
    """Return the point rounded down, which fits and takes at most twice its time (reconstructed).

    The job's (1, 1) fits. A coordinate that misses an integer by rounding error is that integer.
    """
    p = min(max(1, math.floor(point.p + INTEGRAL)), largest_p(job))
    w = min(max(1, math.floor(point.w + INTEGRAL)), largest_w(job, p))
    return Pair(w, p, float(job.completion_time.at(w, p)))


def best_corner(job: Job, point: Point) -> Pair:
    """Return the best of the four pairs around the point that fit (reconstructed)."""
    best = down = floor_pair(job, point)
    for p in (down.p, math.ceil(point.p - INTEGRAL)):
        for w in (down.w, math.ceil(point.w - INTEGRAL)):
            if fits(job, w, p):
                tau_s = float(job.completion_time.at(w, p))
                if tau_s < best.tau_s * (1 - TIE):
                    best = Pair(w, p, tau_s)
    return best
