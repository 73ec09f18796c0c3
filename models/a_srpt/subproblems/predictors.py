"""Predictors of the number of iterations, from what is known when a job arrives.

A predictor is told of every arrival (`predict`) and of every completion (`observe`), in the order
of time. An `Arrival` does not hold the true number of iterations; a group's statistics are those of
its completed jobs. Only `oracle` and `noisy_oracle` are given the truth, by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Protocol

import numpy as np

from gadgetopt.errors import ModelRefused

from ..instance import ASrptInstance
from .arrivals import FIRST_GUESS, Arrival, Completed, Seen
from .shrunk import CAUTION, SHRINKAGE, Running, Shrunk, nothing_runs

#: Smearing raises predictions by no more than this factor.
#: Tuned: `benchmarks/a_srpt_forecasting.py`.
MOST_SMEARING = 10.0


class Predictor(Protocol):
    """Predicts iterations from what is known."""

    def predict(self, arrival: Arrival) -> int:
        """Return the number of iterations that a job that arrives now may run, at least 1."""

    def observe(self, arrival: Arrival, iterations: int) -> None:
        """Learn that a job has completed after this many iterations."""


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


class Smeared:
    r"""Another predictor's predictions, raised until the work of completed jobs adds up.

    The factor is :math:`\max(1, \sum w n / \sum w \tilde n)` over the completed jobs, with
    :math:`\tilde n` as predicted at their arrival and w the GPU-seconds of an iteration.

    Parameters
    ----------
    predictor : Predictor
    weights : sequence of float
        w of every job.
    """

    def __init__(self, predictor: Predictor, weights: Sequence[float]):
        self._predictor, self._weights = predictor, weights
        self._true = self._predicted = 0.0
        self._raw: dict[int, int] = {}

    def predict(self, arrival: Arrival) -> int:
        """Return the other's prediction times the factor."""
        raw = self._raw[arrival.job] = self._predictor.predict(arrival)
        factor = self._true / self._predicted if self._predicted else 1.0
        return max(1, round(raw * min(MOST_SMEARING, max(1.0, factor))))

    def observe(self, arrival: Arrival, iterations: int) -> None:
        """Add a completed job."""
        weight = self._weights[arrival.job]
        self._true += weight * iterations
        self._predicted += weight * self._raw.pop(arrival.job)
        self._predictor.observe(arrival, iterations)


def make_predictor(
    name: str,
    instance: ASrptInstance,
    noise_sd: float,
    rng: np.random.Generator,
    running: Running = nothing_runs,
) -> Predictor:
    """Return a predictor that has seen nothing yet; `running` is for censored ones.

    Raises
    ------
    ModelRefused
        If scikit-learn is missing for a forest.
    """
    if name in ("oracle", "noisy_oracle"):
        sd = noise_sd if name == "noisy_oracle" else 0.0
        return Truth([job.num_iterations for job in instance.jobs], sd, rng)
    if name.endswith("_smeared"):
        raw = make_predictor(name.removesuffix("_smeared"), instance, noise_sd, rng, running)
        return Smeared(raw, work_of_an_iteration(instance))
    if name == "stated":
        return Stated()
    if name.startswith("forest"):
        from .forest import LEAF_QUANTILES, Forest, ResidualForest

        if name == "forest":
            return Forest(rng)
        return ResidualForest(rng, quantile=LEAF_QUANTILES.get(name))
    if name == "shrunk_cautious":
        return Shrunk(SHRINKAGE, cold=CAUTION)
    if name == "shrunk":
        return Shrunk(SHRINKAGE)
    if name in ("shrunk_censored", "shrunk_kaplan_meier"):
        return Shrunk(SHRINKAGE, running=running, estimated=name == "shrunk_kaplan_meier")
    if name == "global_mean":
        return History(lambda seen: seen.mean, by_group=False)
    return History(attrgetter({"group_mean": "mean", "group_median": "median"}.get(name, "last")))


def work_of_an_iteration(instance: ASrptInstance) -> list[float]:
    """Return the GPU-seconds of an iteration of every job, as if it had a server to itself."""
    of_type = [
        kind.num_gpus * float(times.seconds(times.together))
        for kind, times in zip(instance.job_types, instance.times, strict=True)
    ]
    return [of_type[job.job_type] for job in instance.jobs]
