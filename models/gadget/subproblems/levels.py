"""Levels of a job's total worker-slots, and increments beyond, as models of its utility (D8).

One level is chosen for each job; levels worth no more than a smaller level are left out. Where a
table of utilities is concave, levels need not be integer: increments of falling slope replace them
(reconstructed).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints

from ..terms import JobTerms
from .hull import envelope, upper_hull

#: Relative tolerance: an increment of a concave table exceeds the one before by at most this.
#: Tuned: `benchmarks/constants.py`.
ROUNDING = 1e-12


def kept_levels(job: JobTerms) -> Ints:
    """Return the totals k worth more than any smaller total; the first is 0."""
    return np.flatnonzero(np.r_[True, np.diff(job.utility) > 0])


def is_concave(job: JobTerms) -> bool:
    """Return True if the table of utilities is concave, up to the rounding of its entries."""
    return _concave(job.utility, job.utility[-1])


def _concave(table: Floats, size: float) -> bool:
    return bool((np.diff(table, 2) <= ROUNDING * size).all())


@dataclass(frozen=True)
class Levels:
    """Columns that model a job's table of utilities in a linear program.

    Attributes
    ----------
    level, level_worth : array, shape (binaries,)
        Totals, of which one is chosen, and their utility beyond u_i(0).
    width, slope : array, shape (increments,)
        Worker-slots of the pieces on top of the last level, and their falling utilities per
        worker-slot.
    """

    level: Ints
    level_worth: Floats
    width: Ints
    slope: Floats


def levels_of(job: JobTerms) -> Levels:
    """Return levels up to the point from which the table is concave, and increments beyond."""
    u = job.utility
    kept = kept_levels(job)
    tangent = 0 if is_concave(job) else int(upper_hull(u)[1])
    # A sigmoid is concave past the first vertex of its hull; other tables need not be.
    if tangent and not _concave(u[tangent:], u[-1]):
        tangent = job.max_total
    level = kept[(kept > 0) & (kept <= tangent)]
    steps = np.diff(envelope(u[tangent:]))
    steps = steps[steps > 0]
    slope, width = np.unique(-steps, return_counts=True)
    return Levels(level, u[level] - u[0], width, -slope)
