r"""The multi-dimensional, multiple-choice knapsack as arrays.

Items c have profits :math:`\pi_c`, weights :math:`a^r_c \ge 0` and an owner, the group they are in:

.. math::
    \max \sum_c \pi_c y_c, \qquad \sum_{c \in i} y_c \le 1\ \forall i, \qquad
    \sum_c a^r_c y_c \le C^r\ \forall r, \qquad y \in \{0, 1\}.

With one item in every group it is the multi-dimensional 0/1 knapsack (MKP), otherwise the
multiple-choice one (MMKP), which some files state with "exactly one" instead of "at most one".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gadgetopt.numbers.arrays import Floats, Ints

#: Doubles hold every whole number up to this one. By definition.
LARGEST_EXACT = 2.0**53
#: Part of a capacity by which a sum of decimals equal to it may exceed it in doubles.
#: By definition.
SUM_ROUNDING = 1e-12


@dataclass(frozen=True)
class Knapsack:
    """A knapsack as arrays.

    Attributes
    ----------
    profit : ndarray of float, shape (items,)
        Any sign if exactly one item of a group must be chosen, else positive.
    weight : ndarray of float, shape (items, rows)
    owner : ndarray of int, shape (items,)
        Group of each item, non-decreasing.
    capacity : ndarray of float, shape (rows,)
    exactly_one : bool
        True if every group must have an item chosen.
    """

    profit: Floats
    weight: Floats
    owner: Ints
    capacity: Floats
    exactly_one: bool = False

    @property
    def num_items(self) -> int:
        """Number of items in all groups."""
        return len(self.profit)

    @cached_property
    def num_groups(self) -> int:
        """Number of groups."""
        return int(self.owner[-1]) + 1 if len(self.owner) else 0

    @cached_property
    def group_starts(self) -> Ints:
        """First item of each group, and at the end the number of items; shape (groups + 1,)."""
        return np.searchsorted(self.owner, np.arange(self.num_groups + 1)).astype(np.int64)

    @cached_property
    def sum_tolerance(self) -> Floats:
        """Amount by which rounding may make sums of weights exceed capacities, shape (rows,).

        0 in rows of whole numbers, whose sums are exact in doubles.
        """
        largest = np.abs(self.weight).max(axis=0, initial=0.0) * self.num_groups
        whole = (self.weight == np.rint(self.weight)).all(axis=0) & (largest < LARGEST_EXACT)
        tolerance = SUM_ROUNDING * np.abs(self.capacity)
        return np.asarray(np.where(whole, 0.0, tolerance))

    def value(self, chosen: npt.ArrayLike) -> float:
        """Return the profit of the items chosen."""
        return float(self.profit[np.asarray(chosen, dtype=np.int64)].sum())
