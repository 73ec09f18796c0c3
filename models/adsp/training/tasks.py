"""What is trained: data, local steps of each worker, and the loss."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.memory import MOST_CELLS

from .instance import AdspTrainingInstance, Digits, Ridge

#: Numbers of matrices up to which ridge regression makes a step by one product.
_MOST_MAP_ENTRIES = MOST_CELLS


class Task(Protocol):
    """Data of a task; `batches` and `train` are what a step needs."""

    start: Floats
    batches: int

    def train(self, worker: int, w: Floats, order: Iterable[int]) -> None:
        """Make one step for each batch of a worker, in this order, in place."""

    def loss(self, w: Floats) -> float:
        """Return the loss on all rows."""


class RidgeTask:
    """Ridge regression: rows of all workers, and the loss as a quadratic form."""

    l2: float
    start: Floats

    def __init__(self, instance: AdspTrainingInstance, task: Ridge):
        m, n, d = len(instance.workers), task.rows_per_worker, task.dimension
        rng = np.random.default_rng(task.seed)
        true = rng.standard_normal(d)
        self.x: Floats = rng.standard_normal((m, n, d))
        self.y: Floats = self.x @ true + task.noise * rng.standard_normal((m, n))
        self.start, self.l2 = np.zeros(d), task.l2
        size = min(instance.batch_size, n)
        self.batches: int = n // size
        kept, lr = self.batches * size, instance.local_lr
        self._x = np.ascontiguousarray(self.x[:, :kept].reshape(m, self.batches, size, d))
        self._y = np.ascontiguousarray(self.y[:, :kept].reshape(m, self.batches, size))
        self._scaled = self._x * (lr / size)
        self._shrink = 1 - lr * task.l2
        self._maps: list[list[Floats]] | None = None
        if m * self.batches * (d + 1) ** 2 <= _MOST_MAP_ENTRIES and d <= 64:
            self._maps = [self._maps_of(i) for i in range(m)]
        flat, target = self.x.reshape(-1, d), self.y.ravel()
        self._hessian = flat.T @ flat / len(flat) + task.l2 * np.eye(d)
        self._linear = flat.T @ target / len(flat)
        self._constant = float(target @ target) / (2 * len(flat))

    def _maps_of(self, worker: int) -> list[Floats]:
        """Return each step of a worker as a matrix for the model with a 1 below it."""
        b, _, d = self._x[worker].shape
        maps = np.zeros((b, d + 1, d + 1))
        gram = np.einsum("bsd,bse->bde", self._scaled[worker], self._x[worker])
        maps[:, :d, :d] = self._shrink * np.eye(d) - gram
        maps[:, :d, d] = np.einsum("bsd,bs->bd", self._scaled[worker], self._y[worker])
        maps[:, d, d] = 1.0
        return list(maps)

    def train(self, worker: int, w: Floats, order: Iterable[int]) -> None:
        """Make the steps, by one product each where matrices are small."""
        if self._maps is not None:
            maps = self._maps[worker]
            extended = np.ones(len(w) + 1)
            extended[:-1] = w
            for b in order:
                extended = maps[b] @ extended
            w[:] = extended[:-1]
            return
        x, y, scaled, shrink = self._x[worker], self._y[worker], self._scaled[worker], self._shrink
        for b in order:
            error = x[b] @ w
            error -= y[b]
            w *= shrink
            w -= error @ scaled[b]

    def loss(self, w: Floats) -> float:
        """Return the loss as a quadratic form."""
        return float(0.5 * (w @ self._hessian @ w) - self._linear @ w) + self._constant

    def least_loss(self) -> float:
        """Return the least loss there is, in closed form."""
        return self.loss(np.asarray(np.linalg.solve(self._hessian, self._linear), np.float64))


class DigitsTask:
    """Softmax regression on scikit-learn's digits: 1797 images of 64 pixels, ten classes."""

    l2: float
    lr: float
    start: Floats

    def __init__(self, instance: AdspTrainingInstance, task: Digits):
        pixels, labels = _digits()
        m = len(instance.workers)
        self.x: Floats = np.hstack([pixels / 16.0, np.ones((len(pixels), 1))])
        self.hot: Floats = np.eye(10)[labels]
        self.start, self.l2, self.lr = np.zeros((65, 10)), task.l2, instance.local_lr
        self.rows: list[Ints] = [np.arange(i, len(labels), m) for i in range(m)]
        fewest = min(map(len, self.rows))
        if not fewest:
            raise InputError(f"workers: {m} of them, expected at most {len(labels)}, one a digit")
        size = min(instance.batch_size, fewest)
        self.batches: int = fewest // size
        parts = [rows[: self.batches * size].reshape(-1, size) for rows in self.rows]
        self._parts = [[(self.x[rows], self.hot[rows]) for rows in part] for part in parts]

    def train(self, worker: int, w: Floats, order: Iterable[int]) -> None:
        """Make the steps."""
        for b in order:
            x, hot = self._parts[worker][b]
            z = x @ w
            z -= z.max(axis=1, keepdims=True)
            np.exp(z, out=z)
            z /= z.sum(axis=1, keepdims=True)
            z -= hot
            step = x.T @ z
            step *= self.lr / len(x)
            w *= 1 - self.lr * self.l2
            w -= step

    def loss(self, w: Floats) -> float:
        """Return the mean logarithmic loss, with half the squared norm."""
        z = self.x @ w
        top = z.max(axis=1, keepdims=True)
        logs = np.log(np.exp(z - top).sum(axis=1)) + top[:, 0]
        fit = float((logs - (z * self.hot).sum(axis=1)).mean())
        return fit + 0.5 * self.l2 * float((w * w).sum())


@lru_cache(maxsize=1)
def _digits() -> tuple[Any, Any]:
    try:
        from sklearn.datasets import load_digits
    except ModuleNotFoundError as error:
        raise InputError(
            "task.kind: 'digits' needs the extra `learn`: pip install 'gadgetopt[learn]'"
        ) from error
    data = load_digits()
    return data.data, data.target


@lru_cache(maxsize=8)
def _task(instance: str) -> Task:
    read = AdspTrainingInstance.model_validate_json(instance)
    return (
        RidgeTask(read, read.task) if isinstance(read.task, Ridge) else DigitsTask(read, read.task)
    )


def task_of(instance: AdspTrainingInstance) -> Task:
    """Return the data of an instance; those of the last few instances are kept."""
    return _task(instance.model_dump_json())


def target_loss(instance: AdspTrainingInstance) -> float:
    """Return the loss that is to be reached."""
    if instance.target_loss is not None:
        return instance.target_loss
    task = task_of(instance)
    assert isinstance(task, RidgeTask), "a factor goes with ridge regression"
    assert instance.target_factor is not None, "there is one target"
    return instance.target_factor * task.least_loss()


class BatchOrders:
    """The batches of each worker, in orders that are drawn anew whenever all are used."""

    def __init__(self, instance: AdspTrainingInstance, batches: int):
        self._batches = batches
        workers = range(len(instance.workers))
        self._rngs = [np.random.default_rng([instance.seed, i]) for i in workers]
        self._left: list[list[int]] = [[] for _ in workers]

    def take(self, worker: int, steps: int) -> list[int]:
        """Return the next batches of a worker."""
        left = self._left[worker]
        while len(left) < steps:
            left = left + self._rngs[worker].permutation(self._batches).tolist()
        self._left[worker] = left[steps:]
        return left[:steps]
