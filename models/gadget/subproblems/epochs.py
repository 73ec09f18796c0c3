r"""Epoch relaxation of all slots: total capacity between arrivals, without bandwidth.

The relaxation is (reconstructed). Epochs are the intervals between arrivals; epoch e has
:math:`n_e` slots. With :math:`z_{ie}`
worker-slots of job i in epoch e and one level :math:`\chi_{ik}` for its total,

.. math::
    \max \; & \textstyle\sum_i \sum_k u_i(k) \chi_{ik} \\
    & \textstyle\sum_k \chi_{ik} = 1, \quad
      \sum_e z_{ie} \ge \sum_k k \chi_{ik} \quad \forall i, \qquad
      \sum_i l_i^r z_{ie} \le n_e \sum_s C_s^r \quad \forall e, r \\
    & 0 \le z_{ie} \le n_e \bar N_i, \quad \chi_{ik} \in \{0, 1\} \qquad \text{(D8)}

where :math:`\bar N_i` is the largest ring of the job that can be embedded alone. Bandwidth and
server boundaries are ignored, so the optimum is an upper bound. Levels worth no more than a smaller
level are left out. Where a table is concave, levels need not be integer: increments
:math:`\delta_{ik} \in [0, 1]` of falling slope replace them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints

from ..terms import JobTerms, Terms
from .hull import envelope, upper_hull

#: Relative tolerance: an increment of a concave table exceeds the one before by at most this.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Epochs:
    """The intervals between arrivals.

    Attributes
    ----------
    begin : array of int, shape (epochs,)
        First slot of each epoch.
    length : array of int, shape (epochs,)
        n_e.
    first : array of int, shape (jobs,)
        The epoch that starts with the job's arrival.
    """

    begin: Ints
    length: Ints
    first: Ints


def epochs_of(terms: Terms) -> Epochs:
    """Return the epochs of the horizon; slots before the first arrival are in no epoch."""
    arrivals = np.array([job.arrival for job in terms.jobs])
    begin, first = np.unique(arrivals, return_inverse=True)
    return Epochs(begin, np.diff(np.r_[begin, terms.horizon + 1]), first)


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
