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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array, csr_array

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.pieces.knapsack.direct import Named

from ..terms import JobTerms, Terms
from .hull import envelope, upper_hull

if TYPE_CHECKING:
    from gadgetopt.solvers.standard_form import StandardForm


#: Totals this close below an integer are rounded up to it.
WHOLE = 1e-6

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


@dataclass(frozen=True)
class EpochForm:
    """A relaxation with worker-slots z, levels and increments as arrays.

    Attributes
    ----------
    form : StandardForm
    epochs : Epochs
    z, chi, delta : array of int
        Columns of the worker-slots, the levels and the increments.
    z_job, z_epoch : array of int, shape (len(z),)
    level_job, level : array of int, shape (binaries,)
    piece_job : array of int, shape (increments,)
    """

    form: StandardForm
    epochs: Epochs
    z: Ints
    chi: Ints
    delta: Ints
    z_job: Ints
    z_epoch: Ints
    level_job: Ints
    level: Ints
    piece_job: Ints

    def totals(self, values: Floats, jobs: int) -> Ints:
        """Return the total worker-slots of each job by the levels and increments of a solution."""
        asked = np.zeros(jobs)
        asked += np.bincount(self.level_job, weights=self.level * values[self.chi], minlength=jobs)
        asked += np.bincount(self.piece_job, weights=values[self.delta], minlength=jobs)
        return np.floor(asked + WHOLE).astype(np.int64)

    def by_epoch(self, values: Floats, jobs: int) -> Ints:
        """Return the worker-slots of a solution, shape (jobs, epochs)."""
        out = np.zeros((jobs, len(self.epochs.length)), dtype=np.int64)
        out[self.z_job, self.z_epoch] = np.floor(values[self.z] + WHOLE)
        return out


def epoch_form(terms: Terms, largest: Sequence[int]) -> EpochForm:
    """Return the relaxation as arrays.

    Parameters
    ----------
    terms : Terms
    largest : sequence of int
        N-bar, the largest ring of each job.
    """
    from gadgetopt.solvers.standard_form import StandardForm

    epochs = epochs_of(terms)
    levels = [levels_of(job) for job in terms.jobs]
    jobs, resources = len(terms.jobs), terms.capacity.shape[1]
    ends = len(epochs.begin)
    # z_ie, job by job.
    z_job = np.repeat(np.arange(jobs), ends - epochs.first)
    z_epoch = np.concatenate([np.arange(first, ends) for first in epochs.first])
    z = np.arange(len(z_job))
    level_job = np.repeat(np.arange(jobs), [len(x.level) for x in levels])
    level = np.concatenate([x.level for x in levels])
    chi = len(z) + np.arange(len(level))
    piece_job = np.repeat(np.arange(jobs), [len(x.width) for x in levels])
    width = np.concatenate([x.width for x in levels])
    delta = len(z) + len(chi) + np.arange(len(width))
    rooted = np.array([len(x.level) > 0 for x in levels])
    topped = np.flatnonzero(rooted[piece_job])
    last = np.array([len(x.level) for x in levels]).cumsum() - 1
    chosen = np.flatnonzero(rooted)
    choice_row = np.full(jobs, -1)
    choice_row[chosen] = jobs + np.arange(len(chosen))
    top_row = jobs + len(chosen) + np.arange(len(topped))
    capacity_row = jobs + len(chosen) + len(topped)
    blocks = [
        # The worker-slots of a job cover its level and increments.
        (z_job, z, np.ones(len(z))),
        (level_job, chi, -level),
        (piece_job, delta, -np.ones(len(delta))),
        # At most one level.
        (choice_row[level_job], chi, np.ones(len(chi))),
        # Increments only on top of the last level.
        (top_row, delta[topped], np.ones(len(topped))),
        (top_row, chi[last[piece_job[topped]]], -width[topped]),
    ]
    demand = np.array([job.demand for job in terms.jobs])
    blocks += [
        (capacity_row + z_epoch * resources + r, z, demand[z_job, r]) for r in range(resources)
    ]
    total = terms.capacity.sum(axis=0)
    upper = np.concatenate(
        [
            np.full(jobs, np.inf),
            np.ones(len(chosen)),
            np.zeros(len(topped)),
            (epochs.length[:, None] * total).ravel(),
        ]
    )
    rows = len(upper)
    columns = len(z) + len(chi) + len(delta)
    row, column, value = (np.concatenate(x).astype(float) for x in zip(*blocks, strict=True))
    matrix = csr_array(
        coo_array((value, (row.astype(np.int64), column.astype(np.int64))), shape=(rows, columns))
    )
    matrix.eliminate_zeros()
    most = np.array(largest)[z_job] * epochs.length[z_epoch]
    form = StandardForm(
        columns=[Named(f"column {c} of the epochs") for c in range(columns)],
        col_lower=np.zeros(columns),
        col_upper=np.concatenate([most, np.ones(len(chi)), width]).astype(float),
        integer=np.concatenate(
            [np.zeros(len(z), bool), np.ones(len(chi), bool), np.zeros(len(delta), bool)]
        ),
        c=np.concatenate(
            [
                np.zeros(len(z)),
                *(x.level_worth for x in levels),
                *(x.slope for x in levels),
            ]
        ),
        offset=float(sum(job.utility[0] for job in terms.jobs)),
        sense="max",
        A=matrix,
        row_lower=np.concatenate([np.zeros(jobs), np.full(rows - jobs, -np.inf)]),
        row_upper=upper,
        rows=[Named(f"row {r} of the epochs") for r in range(rows)],
        unused=[],
    )
    return EpochForm(form, epochs, z, chi, delta, z_job, z_epoch, level_job, level, piece_job)
