"""Slices of a knapsack by the number of items chosen, each with its own prices."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.pieces.knapsack.moderate import Moderate, moderate
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.pieces.knapsack.relaxation import lagrangian_bound
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.persistent import INFINITY, PersistentLp
from gadgetopt.system.result import Status


@dataclass(frozen=True)
class Slice:
    """A knapsack of the usable items only, perhaps with two rows that fix their number.

    Attributes
    ----------
    knapsack : Knapsack
        The rows of a fixed number have weights 1 and -1.
    duals : ndarray of float, shape (rows,)
    bound : float
        Lagrangian bound of the duals.
    count : int or None
        Number of items chosen.
    """

    knapsack: Knapsack
    duals: Floats
    bound: float
    count: int | None = None


def count_slices(knapsack: Knapsack, around: float, value: float, clock: Clock) -> list[Slice]:
    """Return the slices of single items, by their number, whose bound exceeds a value.

    The bound is concave in the number of items, so that the search ends on either side at the first
    number whose bound does not exceed it. If HiGHS shows that no more items fit, not even in part,
    its multipliers are checked again.

    Raises
    ------
    TimeoutError
        If time is up first.
    """
    rows, items = len(knapsack.capacity), knapsack.num_items
    small = moderate(knapsack)
    lp = PersistentLp("max")
    lp.add_rows(
        np.full(rows + 1, -INFINITY), [*small.knapsack.capacity, items], np.zeros(rows + 1), [], []
    )
    entries = np.column_stack([small.knapsack.weight, np.ones(items)])
    there = entries != 0
    counts = there.sum(axis=1)
    lp.add_columns(
        small.knapsack.profit,
        np.zeros(items),
        np.ones(items),
        np.cumsum(counts) - counts,
        np.nonzero(there)[1],
        entries[there],
    )
    found: list[Slice] = []
    middle = min(items, math.floor(around))
    for numbers in (range(middle, -1, -1), range(middle + 1, items + 1)):
        for count in numbers:
            part = _count_slice(lp, knapsack, small, count, clock)
            if part is None or part.bound <= value:
                break
            found.append(part)
    return found


def _count_slice(
    lp: PersistentLp, knapsack: Knapsack, small: Moderate, count: int, clock: Clock
) -> Slice | None:
    """Return the slice of some number of items; None if its linear relaxation is infeasible.

    Raises
    ------
    TimeoutError
        If the linear relaxation was not solved in time.
    """
    rows = len(knapsack.capacity)
    lp.change_row_bounds([rows], [count], [count])
    status = lp.solve(clock.limits())
    if lp.limit_hit == "interrupted":
        raise KeyboardInterrupt
    if status not in (Status.OPTIMAL, Status.INFEASIBLE):
        raise TimeoutError
    fixed = replace(
        knapsack,
        weight=np.column_stack(
            [knapsack.weight, np.ones(knapsack.num_items), -np.ones(knapsack.num_items)]
        ),
        capacity=np.concatenate([knapsack.capacity, [count, -count]]),
    )
    if status is Status.OPTIMAL:
        duals = _duals(lp.row_duals, small)
        return Slice(fixed, duals, lagrangian_bound(fixed, duals), count)
    ray = lp.infeasibility_ray
    if ray is not None:
        nothing_earned = replace(fixed, profit=np.zeros(knapsack.num_items))
        for multipliers in (ray, -ray):
            if lagrangian_bound(nothing_earned, _duals(multipliers, small)) < 0:
                return None  # every choice costs more than the prices of all capacities
    duals = np.zeros(rows + 2)
    return Slice(fixed, duals, lagrangian_bound(fixed, duals), count)


def _duals(multipliers: Floats, small: Moderate) -> Floats:
    """Return prices of the slice's rows from multipliers of the program's, which are scaled."""
    rows = len(multipliers) - 1
    of_count = multipliers[rows] * small.profit_divisor
    duals = np.concatenate([small.duals(multipliers[:rows]), [of_count, -of_count]])
    return np.asarray(np.maximum(duals, 0.0))
