"""A random forest that predicts iterations from the completed jobs (paper; features reconstructed).

Features: recurrence key, user, GPUs, batch size, job type, hour of the day, and of the group the
number of completed jobs, the mean, the median and the last of their iterations; -1 where there is
none. The target is the logarithm, so that errors count by their ratio. scikit-learn comes with the
extra `learn`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gadgetopt.errors import ModelRefused

from .arrivals import FIRST_GUESS, Arrival, Completed

#: The forest takes over after this many completions, and is fitted again after so many more.
#: Tuned: `benchmarks/constants.py`.
BURN_IN, REFIT = 500, 100

#: Seconds of a day; the hour of a release is a feature. By definition.
_DAY_S = 86400


class Forest:
    """A random forest over completed jobs; until it is fitted, the group's or the global median.

    Parameters
    ----------
    rng : numpy.random.Generator
        Seeds the forest.
    burn_in, refit : int
        Completions before the first fit, and between fits.
    trees : int
    """

    def __init__(
        self,
        rng: np.random.Generator,
        *,
        burn_in: int = BURN_IN,
        refit: int = REFIT,
        trees: int = 100,
    ):
        try:
            from sklearn.ensemble import RandomForestRegressor
        except ImportError as error:
            raise ModelRefused(
                "predictor=forest needs scikit-learn: pip install 'gadgetopt[learn]'"
            ) from error
        self._forest: Any = RandomForestRegressor(
            n_estimators=trees, random_state=int(rng.integers(2**31)), n_jobs=1
        )
        self._burn_in, self._refit = burn_in, refit
        self._trees: Sequence[Any] = ()
        self._rows: list[list[float]] = []
        self._targets: list[float] = []
        self._completed = Completed()
        #: Features as they were when the job arrived: what a fit may use of it later.
        self._at_arrival: dict[int, list[float]] = {}

    def predict(self, arrival: Arrival) -> int:
        """Return the forest's prediction, at least 1."""
        features = self._features(arrival)
        self._at_arrival[arrival.job] = features
        if self._trees:
            row = np.array([features], dtype=np.float32)
            logs = [float(tree.tree_.predict(row)[0, 0]) for tree in self._trees]
            return max(1, round(math.exp(math.fsum(logs) / len(logs))))
        seen = self._completed.group(arrival) or self._completed.all
        return max(1, round(seen.median)) if seen else FIRST_GUESS

    def observe(self, arrival: Arrival, iterations: int) -> None:
        """Add a completed job, and fit again if it is time."""
        self._rows.append(self._at_arrival.pop(arrival.job))
        self._targets.append(math.log(iterations))
        self._completed.add(arrival, iterations)
        later = len(self._rows) - self._burn_in
        if later >= 0 and later % self._refit == 0:
            self._trees = self._forest.fit(self._rows, self._targets).estimators_

    def _features(self, arrival: Arrival) -> list[float]:
        own = self._completed.group(arrival)
        return [
            arrival.group_id,
            arrival.user_id,
            arrival.num_gpus,
            arrival.batch_size,
            arrival.job_type,
            arrival.release_s % _DAY_S // 3600,
            len(own),
            *((own.mean, own.median, own.last) if own else (-1, -1, -1)),
        ]
