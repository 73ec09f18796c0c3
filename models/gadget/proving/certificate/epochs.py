"""The intervals between arrivals, within which all slots are alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Ints

from ...terms import Terms


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
