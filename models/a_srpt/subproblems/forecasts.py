"""How good the predictions of a run were, by what they are used for."""

from __future__ import annotations

from statistics import median

import numpy as np

from ..instance import ASrptInstance
from .arrivals import Arrival
from .predictors import work_of_an_iteration

#: Jobs are compared with so many that arrive next: those they compete with. By definition.
_NEIGHBOURS = 100


class Forecasts:
    """The predictions of a run, and the groups of which a job had completed when each was made.

    Parameters
    ----------
    instance : ASrptInstance
    """

    def __init__(self, instance: ASrptInstance):
        self._instance = instance
        self._jobs: list[int] = []
        self._predicted: list[int] = []
        self._cold = 0
        self._known: set[int] = set()

    def predict(self, arrival: Arrival, predicted: int) -> None:
        """Note what was predicted of a job that arrives."""
        self._jobs.append(arrival.job)
        self._predicted.append(predicted)
        self._cold += arrival.group_id not in self._known

    def observe(self, arrival: Arrival) -> None:
        """Note that a job has completed."""
        if arrival.group_id >= 0:
            self._known.add(arrival.group_id)

    def notes(self) -> dict[str, float]:
        """Return measures of the predictions; there is at least one.

        `mean_prediction_error` and `median_prediction_error` are of |predicted / true - 1|;
        `within_twice` is the share of predictions between half and twice the truth;
        `predicted_work` the predicted work of all jobs over the true one, in GPU-seconds;
        `concordance` how much more of the pairs of jobs that arrive soon after each other are in
        the right order of work than in the wrong one, between -1 and 1; `cold_share` the share of
        jobs of whose group none had completed.
        """
        true = [self._instance.jobs[job].num_iterations for job in self._jobs]
        ratios = [p / n for p, n in zip(self._predicted, true, strict=True)]
        errors = [abs(ratio - 1) for ratio in ratios]
        of_job = work_of_an_iteration(self._instance)
        weights = np.array([of_job[job] for job in self._jobs])
        work = weights * np.array(true, dtype=float)
        guessed = weights * np.array(self._predicted, dtype=float)
        right = pairs = 0.0
        for lag in range(1, min(_NEIGHBOURS, len(work) - 1) + 1):
            agree = np.sign(work[lag:] - work[:-lag]) * np.sign(guessed[lag:] - guessed[:-lag])
            right += float(agree.sum())
            pairs += len(agree)
        total = float(work.sum())
        return {
            "mean_prediction_error": sum(errors) / len(errors),
            "median_prediction_error": median(errors),
            "within_twice": sum(0.5 <= ratio <= 2 for ratio in ratios) / len(ratios),
            "predicted_work": float(guessed.sum()) / total if total else 1.0,
            "concordance": right / pairs if pairs else 0.0,
            "cold_share": self._cold / len(ratios),
        }
