r"""Dynamic programming for weights that are all multiples of one vector.

If :math:`v_i = \vartheta_i a` with whole :math:`\vartheta_i` and one vector a, all capacities are
the single row :math:`\sum_i \vartheta_i x_i \le Q = \lfloor \min_r C^r / a^r \rfloor`, and the
knapsack is solved in :math:`O(\text{items} \cdot Q)`. This is the case if all
reservations are multiples of one virtual machine.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.knapsack.integral import decimal_unit
from gadgetopt.pieces.knapsack.outcome import CoreResult
from gadgetopt.pieces.knapsack.problem import Knapsack

#: Most bytes for the decisions of a dynamic program, and most units of its row, which take a few
#: doubles each.
MOST_BYTES = 50 * MOST_CELLS
MOST_UNITS = MOST_CELLS // 2


@dataclass(frozen=True)
class Collinear:
    """The single row that weights in one direction make.

    Attributes
    ----------
    direction : ndarray of float, shape (rows,)
        The vector a.
    theta : ndarray of int, shape (items,)
        Weight of each item, in multiples of that vector.
    capacity : int
        Q; negative if nothing fits.
    """

    direction: Floats
    theta: Ints
    capacity: int


def collinear(knapsack: Knapsack) -> Collinear | None:
    """Return the common vector of all weights and its multiples, or None if there is none.

    Weights of more than six decimals count as not being multiples.
    """
    unit = decimal_unit(knapsack.weight.ravel())
    if unit is None or not knapsack.num_items or knapsack.weight.min(initial=0.0) < 0:
        return None
    whole = np.rint(knapsack.weight * unit).astype(np.int64)
    heavy = whole[whole.any(axis=1)]
    if not len(heavy):
        return None
    first = heavy[0] // np.gcd.reduce(heavy[0])
    r = int(np.flatnonzero(first)[0])
    theta = whole[:, r] // first[r]
    if not np.array_equal(theta[:, None] * first, whole):
        return None
    common = int(np.gcd.reduce(theta))
    direction, theta = first * common, theta // common
    if np.any(knapsack.capacity < 0):
        return Collinear(direction / unit, theta, -1)
    capacity = min(
        math.floor(decimal_rational(float(c)) * unit / int(a))
        for c, a in zip(knapsack.capacity, direction, strict=True)
        if a
    )
    return Collinear(direction / unit, theta, capacity)


def solve_collinear(knapsack: Knapsack) -> CoreResult:
    """Solve a knapsack whose weights are multiples of one vector, by dynamic programming.

    Profits that are decimals are summed exactly; else the bound allows for rounding.

    Raises
    ------
    ModelRefused
        If the weights are not multiples of one vector, or the table would be too large.
    """
    row = collinear(knapsack)
    if row is None:
        raise ModelRefused("the items' weights are not whole multiples of one vector")
    proof = "dynamic program over one row"
    needed = knapsack.exactly_one
    starts = knapsack.group_starts.tolist()
    if row.capacity < 0 or (needed and 0 in np.diff(knapsack.group_starts)):
        return CoreResult(None, -math.inf, -math.inf, proof)
    Q = min(row.capacity, _most_of_groups(row.theta, starts))
    options = max(b - a for a, b in itertools.pairwise(starts))
    kind = np.min_scalar_type(options)
    if Q > MOST_UNITS or knapsack.num_groups * (Q + 1) * kind.itemsize > MOST_BYTES:
        raise ModelRefused(
            f"{knapsack.num_groups} groups and a capacity of {Q} units make a table of "
            f"{knapsack.num_groups * (Q + 1):.3g} decisions"
        )
    unit = decimal_unit(knapsack.profit)
    profit = knapsack.profit if unit is None else np.rint(knapsack.profit * unit)
    # best[q] is the largest profit of the groups so far in q units; option 0 is nothing.
    best = np.zeros(Q + 1)
    decisions = np.zeros((knapsack.num_groups, Q + 1), dtype=kind)
    for i, (first, last) in enumerate(itertools.pairwise(starts)):
        after = np.full(Q + 1, -math.inf) if needed else best.copy()
        for option, c in enumerate(range(first, last), start=1):
            theta = int(row.theta[c])
            if theta > Q:
                continue
            candidate = best[: Q + 1 - theta] + profit[c]
            better = candidate > after[theta:]
            after[theta:][better] = candidate[better]
            decisions[i, theta:][better] = option
        best = after
    if best[Q] == -math.inf:
        return CoreResult(None, -math.inf, -math.inf, proof)
    chosen, left = [], Q
    for i in range(knapsack.num_groups - 1, -1, -1):
        option = int(decisions[i, left])
        if option:
            chosen.append(starts[i] + option - 1)
            left -= int(row.theta[chosen[-1]])
    items = np.array(chosen[::-1], dtype=np.int64)
    value = knapsack.value(items)
    bound = value
    if unit is None:
        bound += knapsack.num_groups * 2.0**-52 * float(np.abs(knapsack.profit[items]).sum())
    notes = {"row_capacity": row.capacity, "direction": row.direction.tolist()}
    return CoreResult(items, value, bound, proof, notes=notes)


def _most_of_groups(theta: Ints, starts: list[int]) -> int:
    """Return the units that the heaviest items of all groups take together."""
    spans = itertools.pairwise(starts)
    return sum(int(theta[first:last].max(initial=0)) for first, last in spans)
