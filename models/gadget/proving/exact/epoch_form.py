"""The epoch relaxation (D8) as arrays, for a solver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array, csr_array

from gadgetopt.numbers.arrays import Floats, Ints

from ...subproblems.levels import levels_of
from ...terms import Terms
from ..certificate.epochs import Epochs, epochs_of

if TYPE_CHECKING:
    from gadgetopt.solvers.standard_form import StandardForm

#: Totals this close below an integer are rounded up to it. Tuned: `benchmarks/constants.py`.
WHOLE = 1e-6


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
    from gadgetopt.solvers.standard_form import Named, StandardForm

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
