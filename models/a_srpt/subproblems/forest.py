"""Random forests that predict iterations from the completed jobs (paper; features reconstructed).

`Forest` has the features recurrence key, user, GPUs, batch size, job type, hour of the day, and of
the group the number of completed jobs, the mean, the median and the last of their iterations; -1
where there is none. Its target is the logarithm, so that errors count by their ratio.
`ResidualForest` predicts what the shrunken mean of a job's like leaves (`shrunk`). scikit-learn
comes with the extra `learn`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats, Ints

from .arrivals import FIRST_GUESS, Arrival, Completed
from .shrunk import MOST_LOG, SHRINKAGE, Shrunk

#: The forest takes over after this many completions, and is fitted again after so many more.
#: Tuned: `benchmarks/constants.py`.
BURN_IN, REFIT = 500, 100

#: The same of the forest on residuals, and the fewest jobs in a leaf of it.
#: Tuned: `benchmarks/a_srpt_forecasting.py`.
RESIDUAL_BURN_IN, RESIDUAL_LEAF = 100, 5

#: What is predicted of the jobs in the leaves, by predictor. By definition.
LEAF_QUANTILES = {"forest_leaf_median": 0.5, "forest_leaf_quantile": 0.75}

#: What sums of weights may lack of their share. By definition.
SHARE_TOLERANCE = 1e-9

#: Seconds of a day; the hour of a release is a feature. By definition.
_DAY_S = 86400


class Trees:
    """A random forest that is fitted anew as jobs complete.

    Parameters
    ----------
    rng : numpy.random.Generator
        Seeds the forest.
    burn_in, refit : int
        Completions before the first fit, and between fits.
    trees : int
    leaf : int
        Fewest jobs in a leaf.
    quantile : float or None
        What is predicted: this quantile of the jobs in the leaves (N. Meinshausen, "Quantile
        regression forests", JMLR 7 (2006) 983-999); None: their mean.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        burn_in: int,
        refit: int,
        trees: int,
        leaf: int = 1,
        quantile: float | None = None,
    ):
        try:
            from sklearn.ensemble import RandomForestRegressor
        except ImportError as error:
            raise ModelRefused(
                "predictor=forest needs scikit-learn: pip install 'gadgetopt[learn]'"
            ) from error
        self._forest: Any = RandomForestRegressor(
            n_estimators=trees,
            min_samples_leaf=leaf,
            random_state=int(rng.integers(2**31)),
            n_jobs=1,
        )
        self._burn_in, self._refit = burn_in, refit
        self._trees: Sequence[Any] = ()
        self._quantile = quantile
        #: Of every tree, the leaf of every job of the last fit.
        self._leaves: Ints = np.zeros((0, 0), dtype=np.int64)
        self._rows: list[list[float]] = []
        self._targets: list[float] = []
        #: Features as they were when the job arrived: what a fit may use of it later.
        self._at_arrival: dict[int, list[float]] = {}

    def predict(self, job: int, features: list[float]) -> float | None:
        """Return what the forest predicts for a job that arrives; None before the first fit."""
        self._at_arrival[job] = features
        if not self._trees:
            return None
        row = np.array([features], dtype=np.float32)
        if self._quantile is not None:
            own = np.array([tree.tree_.apply(row)[0] for tree in self._trees])
            beside = self._leaves == own[:, None]
            weight = (beside / beside.sum(axis=1, keepdims=True)).mean(axis=0)
            return weighted_quantile(self._targets[: len(weight)], weight, self._quantile)
        found = [float(tree.tree_.predict(row)[0, 0]) for tree in self._trees]
        return math.fsum(found) / len(found)

    def observe(self, job: int, target: float) -> None:
        """Add a completed job, and fit again if it is time."""
        self._rows.append(self._at_arrival.pop(job))
        self._targets.append(target)
        later = len(self._rows) - self._burn_in
        if later >= 0 and later % self._refit == 0:
            self._trees = self._forest.fit(self._rows, self._targets).estimators_
            if self._quantile is not None:
                rows = np.array(self._rows, dtype=np.float32)
                self._leaves = np.array([tree.tree_.apply(rows) for tree in self._trees])


def weighted_quantile(values: Sequence[float], weights: Floats, quantile: float) -> float:
    """Return the least value such that values up to it have this share of the weight."""
    order = np.argsort(values, kind="stable")
    reached = np.searchsorted(np.cumsum(weights[order]), quantile - SHARE_TOLERANCE)
    return values[int(order[min(int(reached), len(order) - 1)])]


class Forest:
    """A random forest over completed jobs; until it is fitted, the group's or the global median.

    Parameters
    ----------
    rng : numpy.random.Generator
    burn_in, refit, trees : int
        As of `Trees`.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        *,
        burn_in: int = BURN_IN,
        refit: int = REFIT,
        trees: int = 100,
    ):
        self._trees = Trees(rng, burn_in, refit, trees)
        self._completed = Completed()

    def predict(self, arrival: Arrival) -> int:
        """Return the forest's prediction, at least 1."""
        log = self._trees.predict(arrival.job, self._features(arrival))
        if log is not None:
            return max(1, round(math.exp(log)))
        seen = self._completed.group(arrival) or self._completed.all
        return max(1, round(seen.median)) if seen else FIRST_GUESS

    def observe(self, arrival: Arrival, iterations: int) -> None:
        """Add a completed job, and fit again if it is time."""
        self._completed.add(arrival, iterations)
        self._trees.observe(arrival.job, math.log(iterations))

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


class ResidualForest:
    """A random forest on what is left of the logarithm after the shrunken mean.

    Its features are that mean, how many jobs of the group it rests on, their standard deviation,
    the time since the last of them was submitted, the batch size, the GPUs, and the prediction
    that came with the job; -1 where there is none.

    Parameters
    ----------
    rng : numpy.random.Generator
    burn_in, refit, trees, quantile
        As of `Trees`.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        *,
        burn_in: int = RESIDUAL_BURN_IN,
        refit: int = REFIT,
        trees: int = 100,
        quantile: float | None = None,
    ):
        self._trees = Trees(rng, burn_in, refit, trees, RESIDUAL_LEAF, quantile)
        self._base = Shrunk(SHRINKAGE)
        self._expected: dict[int, float] = {}
        self._last: dict[int, float] = {}

    def predict(self, arrival: Arrival) -> int:
        """Return the shrunken mean times what the forest adds to it, at least 1."""
        base = self._expected[arrival.job] = self._base.log_of(arrival)
        left = self._trees.predict(arrival.job, self._features(arrival, base))
        return max(1, round(math.exp(min(MOST_LOG, base + (left or 0.0)))))

    def observe(self, arrival: Arrival, iterations: int) -> None:
        """Add a completed job, and fit again if it is time."""
        self._trees.observe(arrival.job, math.log(iterations) - self._expected.pop(arrival.job))
        self._base.observe(arrival, iterations)
        self._last[arrival.group_id] = arrival.release_s

    def _features(self, arrival: Arrival, base: float) -> list[float]:
        count, deviation = self._base.spread_of(arrival)
        stated = arrival.stated_iterations
        return [
            base,
            count,
            deviation,
            arrival.release_s - self._last[arrival.group_id] if count else -1,
            math.log(arrival.batch_size) if arrival.batch_size > 0 else -1,
            arrival.num_gpus,
            -1 if stated is None else math.log(stated),
        ]
