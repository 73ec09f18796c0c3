"""The columns of a restricted master, over a linear program that grows."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.solvers.persistent import PersistentLp

Payload = TypeVar("Payload")


class ColumnPool(Generic[Payload]):
    """Columns of a linear program with what each stands for; none enters twice.

    Columns are at least 0. Those added since the last `enter` are handed to
    the program there, in one call. Columns that the program had before, or gets from elsewhere, are
    none of the pool's.

    Parameters
    ----------
    lp : PersistentLp
        The restricted master.
    most : float
        Upper bound of every column.
    """

    def __init__(self, lp: PersistentLp, *, most: float = math.inf):
        self._lp = lp
        self._most = most
        self._known: set[Hashable] = set()
        self._numbers: list[int] = []
        self._waiting: list[tuple[float, Sequence[int] | Ints, Sequence[float] | Floats]] = []
        #: What the columns stand for, in the order in which they were added.
        self.payloads: list[Payload] = []

    def __contains__(self, key: Hashable) -> bool:
        """Return True if there is a column of this key."""
        return key in self._known

    def add(
        self,
        key: Hashable,
        payload: Payload,
        cost: float,
        rows: Sequence[int] | Ints,
        values: Sequence[float] | Floats,
    ) -> bool:
        """Add a column unless its key is known; return True if it is new.

        Parameters
        ----------
        key : hashable
            What makes two columns the same.
        payload : object
            What the column stands for.
        cost : float
            Its coefficient in the objective.
        rows, values : sequence, shape (entries,)
            Its rows, each at most once, and its coefficients there.
        """
        if key in self._known:
            return False
        self._known.add(key)
        self.payloads.append(payload)
        self._waiting.append((cost, rows, values))
        return True

    def enter(self) -> int:
        """Hand the new columns to the program; return how many they were."""
        if not self._waiting:
            return 0
        costs, rows, values = zip(*self._waiting, strict=True)
        self._waiting = []
        starts = np.cumsum([0, *map(len, rows)])[:-1]
        new = len(costs)
        self._numbers += self._lp.add_columns(
            costs,
            np.zeros(new),
            np.full(new, self._most),
            starts,
            np.concatenate(rows).astype(np.int64),
            np.concatenate(values).astype(np.float64),
        )
        return new

    @property
    def values(self) -> Floats:
        """Values of the columns in the last solution, shape (columns,)."""
        entered: Floats = self._lp.values[self._numbers]
        return entered

    def used(self, least: float) -> list[tuple[Payload, float]]:
        """Return the columns above a value in the last solution, each with its value."""
        values = self.values
        return [(self.payloads[k], float(values[k])) for k in np.flatnonzero(values > least)]
