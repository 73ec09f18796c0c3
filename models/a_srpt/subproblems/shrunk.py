r"""Predictions from a chain of likenesses, each shrunk towards the one before it (reconstructed).

A completed job counts as :math:`z = \log n + \log(\text{batch})`: n times the batch size, the
samples of a run, recurs rather than n. Its like are, from coarse to fine: all, its user, its user
with equal GPUs and job type, its group, its group with equal batch size. With N jobs of sum
:math:`\sum z` in a likeness,

.. math:: \hat z = \frac{\kappa\, \hat z_{parent} + \sum z}{\kappa + N},

and what all have in common is the mean of the groups' means, a job of no group being one. The
exponential of a mean logarithm is a median: it falls short of the mean, and so does the work that
is predicted (`predictors.Smeared`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from gadgetopt.pieces.learning.survival import median_beyond, survival

from .arrivals import FIRST_GUESS, Arrival

#: kappa: so many jobs' worth is the weight of the coarser likeness.
#: Tuned: `benchmarks/a_srpt_forecasting.py`.
SHRINKAGE = 0.3

#: A job of a new group is expected to be as long as this part of the groups is at most.
#: Tuned: `benchmarks/a_srpt_forecasting.py`.
CAUTION = 0.9

#: Logarithm of more iterations than any file may hold: a prediction says no more. By definition.
MOST_LOG = 12 * math.log(10)

#: What tells which jobs are like each other; and jobs that run, with the iterations each has done.
Key = tuple[object, ...]
Running = Callable[[], Iterable[tuple[int, int]]]


def nothing_runs() -> Iterable[tuple[int, int]]:
    """Return no running job: for predictions without a cluster."""
    return ()


@dataclass(slots=True)
class _Sum:
    """Logarithms of completed jobs: how many, their sum, and the sum of their squares."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, z: float) -> None:
        self.count += 1
        self.total += z
        self.squares += z * z


class Shrunk:
    """The shrunken mean of the logarithms of a job's like.

    Parameters
    ----------
    shrinkage : float
        kappa.
    cold : float or None
        A job whose group has no completed job is expected at this quantile of the groups' means;
        None: at the shrunken mean of its user's.
    running : callable
        Jobs that run. One that has done more iterations than were predicted counts with these, as
        if it had ended: what is known of long jobs before they end.
    estimated : bool
        Such a job counts with the iterations that it will do, by the Kaplan-Meier median of how
        much more jobs do than was predicted, given what it has done (reconstructed: over all jobs).
    """

    def __init__(
        self,
        shrinkage: float,
        *,
        cold: float | None = None,
        running: Running = nothing_runs,
        estimated: bool = False,
    ):
        self._shrinkage, self._cold, self._running = shrinkage, cold, running
        self._of: defaultdict[Key, _Sum] = defaultdict(_Sum)
        #: Mean of every group, and of every job without one, to their number and sum.
        self._groups: dict[Key, float] = {}
        self._group_sum = 0.0
        #: What was predicted for the jobs that have arrived and have not completed.
        self._open: dict[int, tuple[Arrival, float]] = {}
        self._estimated = estimated
        #: Logarithms of what completed jobs have done over what was predicted.
        self._excess: list[float] = []

    def predict(self, arrival: Arrival) -> int:
        """Return the exponential of the expected logarithm, at least 1."""
        log = self.log_of(arrival)
        self._open[arrival.job] = arrival, log
        return max(1, round(math.exp(min(MOST_LOG, log))))

    def observe(self, arrival: Arrival, iterations: int) -> None:
        """Add a completed job."""
        _, expected = self._open.pop(arrival.job, (None, None))
        if expected is not None:
            self._excess.append(math.log(iterations) - expected)
        z = math.log(iterations) + _log_batch(arrival)
        keys = _likenesses(arrival)
        for key in keys:
            self._of[key].add(z)
        own = _group(arrival)
        group = self._of[own] if arrival.group_id >= 0 else _Sum(1, z)
        mean = group.total / group.count
        self._group_sum += mean - self._groups.get(own, 0.0)
        self._groups[own] = mean

    def log_of(self, arrival: Arrival) -> float:
        """Return the expected logarithm of a job's iterations."""
        late = self._late(arrival)
        if not self._groups and not late:
            return math.log(FIRST_GUESS)
        known = self.spread_of(arrival)[0] or any(_group(a) == _group(arrival) for a, _ in late)
        if self._cold is not None and not known and self._groups:
            quantile = float(np.quantile(list(self._groups.values()), self._cold))
            return quantile - _log_batch(arrival)
        mean = self._group_sum / len(self._groups) if self._groups else late[0][1]
        for key in _likenesses(arrival):
            seen = self._of.get(key) or _Sum()
            lasting = [z for other, z in late if key in _likenesses(other)]
            count = seen.count + len(lasting)
            total = seen.total + sum(lasting)
            mean = (self._shrinkage * mean + total) / (self._shrinkage + count)
        return mean - _log_batch(arrival)

    def spread_of(self, arrival: Arrival) -> tuple[int, float]:
        """Return how many jobs of the group have completed, and their standard deviation."""
        seen = self._of.get(_group(arrival)) if arrival.group_id >= 0 else None
        if not seen:
            return 0, -1.0
        mean = seen.total / seen.count
        return seen.count, math.sqrt(max(0.0, seen.squares / seen.count - mean * mean))

    def _late(self, arrival: Arrival) -> list[tuple[Arrival, float]]:
        """Return like jobs that run and have done more than was predicted, and what they have."""
        found, keys = [], set(_likenesses(arrival))
        running = [
            (*self._open[job], math.log(n)) for job, n in self._running() if n and job in self._open
        ]
        late = [r for r in running if r[2] > r[1] and keys.intersection(_likenesses(r[0]))]
        lasting = [done - expected for _, expected, done in running]
        curve = survival(self._excess, lasting) if late and self._estimated else None
        for other, expected, done in late:
            z = done if curve is None else expected + median_beyond(curve, done - expected)
            found.append((other, z + _log_batch(other)))
        return found


def _group(arrival: Arrival) -> Key:
    return ("group", arrival.group_id) if arrival.group_id >= 0 else ("job", arrival.job)


def _likenesses(arrival: Arrival) -> list[Key]:
    """Return the keys of a job's like, from coarse to fine."""
    user, group = arrival.user_id, arrival.group_id
    keys: list[Key] = []
    if user >= 0:
        keys += [("user", user), ("like", user, arrival.num_gpus, arrival.job_type)]
    if group >= 0:
        keys += [("group", group), ("run", group, arrival.batch_size)]
    return keys


def _log_batch(arrival: Arrival) -> float:
    return math.log(arrival.batch_size) if arrival.batch_size > 0 else 0.0
