"""Predictors of the number of iterations, from what is known when a job arrives.

A predictor is told of every arrival (`predict`) and of every completion (`observe`), in the order
of time. An `Arrival` does not hold the true number of iterations; a group's statistics are those of
its completed jobs. Only `oracle` and `noisy_oracle` are given the truth, by name.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Protocol

import numpy as np

from gadgetopt.errors import ModelRefused

from ..instance import ASrptInstance

#: Prediction for a job while no job at all has completed.
FIRST_GUESS = 1000


@dataclass(frozen=True, slots=True)
class Arrival:
    """What is known of a job when it arrives; -1 stands for unknown.

    Attributes
    ----------
    job : int
        Its index.
    group_id, user_id, job_type, num_gpus, batch_size : int
    release_s : float
    stated_iterations : int or None
        A prediction that came with the job.
    """

    job: int
    group_id: int
    user_id: int
    job_type: int
    num_gpus: int
    batch_size: int
    release_s: float
    stated_iterations: int | None


class Predictor(Protocol):
    """Predicts iterations from what is known."""

    def predict(self, arrival: Arrival) -> int:
        """Return the number of iterations that a job that arrives now may run, at least 1."""

    def observe(self, arrival: Arrival, iterations: int) -> None:
        """Learn that a job has completed after this many iterations."""


def arrival_of(instance: ASrptInstance, job: int) -> Arrival:
    """Return what is known of a job when it arrives."""
    known = instance.jobs[job]
    return Arrival(
        job=job,
        group_id=known.group_id,
        user_id=known.user_id,
        job_type=known.job_type,
        num_gpus=int(instance.gpus[job]),
        batch_size=-1 if known.batch_size is None else known.batch_size,
        release_s=float(known.release_tick * instance.tick_s),
        stated_iterations=known.predicted_iterations,
    )


class Truth:
    """The true iterations, or these with log-normal noise: an upper end of what can be known.

    Parameters
    ----------
    iterations : sequence of int
        Of every job.
    noise_sd : float
        Standard deviation of the logarithm of the error.
    rng : numpy.random.Generator
        Draws one number per job, in the order of jobs, whatever happens in the run.
    """

    def __init__(self, iterations: Sequence[int], noise_sd: float, rng: np.random.Generator):
        if not noise_sd:
            self._predicted = list(iterations)
            return
        factors = np.exp(noise_sd * rng.standard_normal(len(iterations)))
        # Beyond any number of iterations that a file may hold, a prediction says no more.
        self._predicted = [
            max(1, round(min(n * float(factor), 1e12)))
            for n, factor in zip(iterations, factors, strict=True)
        ]

    def predict(self, arrival: Arrival) -> int:
        """Return the truth, or what noise left of it."""
        return self._predicted[arrival.job]

    def observe(self, arrival: Arrival, iterations: int) -> None:
        """Learn nothing."""


class Stated:
    """The prediction that comes with each job."""

    def predict(self, arrival: Arrival) -> int:
        """Return the job's own prediction."""
        if arrival.stated_iterations is None:
            raise ModelRefused(
                f"jobs[{arrival.job}].predicted_iterations: missing, expected a prediction for "
                "predictor=stated"
            )
        return arrival.stated_iterations

    def observe(self, arrival: Arrival, iterations: int) -> None:
        """Learn nothing."""


class Seen:
    """Iterations of completed jobs, and their statistics at any moment."""

    def __init__(self) -> None:
        self._sorted: list[int] = []
        self._total = 0
        self.last = 0

    def __len__(self) -> int:
        return len(self._sorted)

    def add(self, iterations: int) -> None:
        """Add a job that has completed after those added before."""
        insort(self._sorted, iterations)
        self._total += iterations
        self.last = iterations

    @property
    def mean(self) -> float:
        """Mean over the jobs; there is at least one."""
        return self._total / len(self._sorted)

    @property
    def median(self) -> float:
        """Median over the jobs; there is at least one."""
        middle = len(self._sorted) // 2
        if len(self._sorted) % 2:
            return self._sorted[middle]
        return (self._sorted[middle - 1] + self._sorted[middle]) / 2


class Completed:
    """Iterations of all completed jobs, and of those of each group."""

    def __init__(self) -> None:
        self.all = Seen()
        self._of_group: defaultdict[int, Seen] = defaultdict(Seen)

    def add(self, arrival: Arrival, iterations: int) -> None:
        """Add a completed job."""
        self.all.add(iterations)
        if arrival.group_id >= 0:
            self._of_group[arrival.group_id].add(iterations)

    def group(self, arrival: Arrival) -> Seen:
        """Return what is known of the job's group, which may be nothing."""
        return self._of_group.get(arrival.group_id) or Seen()


class History:
    """A statistic of the completed jobs of the same group, else of all completed jobs.

    Parameters
    ----------
    statistic : callable
        `(Seen) -> float`.
    by_group : bool
        False: all jobs are one group.
    """

    def __init__(self, statistic: Callable[[Seen], float], *, by_group: bool = True):
        self._statistic = statistic
        self._by_group = by_group
        self._completed = Completed()

    def predict(self, arrival: Arrival) -> int:
        """Return the statistic of the group's jobs, or else of all, rounded."""
        completed = self._completed
        seen = (self._by_group and completed.group(arrival)) or completed.all
        return max(1, round(self._statistic(seen))) if seen else FIRST_GUESS

    def observe(self, arrival: Arrival, iterations: int) -> None:
        """Add a completed job."""
        self._completed.add(arrival, iterations)


#: Predictors by name.
PREDICTORS = (
    "oracle",
    "noisy_oracle",
    "stated",
    "forest",
    "group_mean",
    "group_median",
    "last",
    "global_mean",
)


def make_predictor(
    name: str, instance: ASrptInstance, noise_sd: float, rng: np.random.Generator
) -> Predictor:
    """Return a predictor that has seen nothing yet.

    Raises
    ------
    ModelRefused
        If scikit-learn is missing for `forest`.
    """
    if name in ("oracle", "noisy_oracle"):
        sd = noise_sd if name == "noisy_oracle" else 0.0
        return Truth([job.num_iterations for job in instance.jobs], sd, rng)
    if name == "stated":
        return Stated()
    if name == "forest":
        from .forest import Forest

        return Forest(rng)
    if name == "global_mean":
        return History(lambda seen: seen.mean, by_group=False)
    return History(attrgetter({"group_mean": "mean", "group_median": "median"}.get(name, "last")))
