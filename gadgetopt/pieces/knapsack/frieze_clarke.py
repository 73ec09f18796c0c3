r"""Frieze and Clarke's algorithm: sets of at most k items, completed by a rounded linear program.

For a set S let T(S) be the items more profitable than the least of S, and LP(S) the linear
relaxation with S chosen and T(S) left out. A basic solution of it has at most R fractional items;
rounded down, the best over all S is at least :math:`\frac{k}{k+R}` of the optimum (Frieze and
Clarke 1984).

A set that does not fit is skipped, and T of the empty set is empty (both reconstructed).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, islice
from typing import Literal

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.pieces.knapsack.moderate import moderate
from gadgetopt.pieces.knapsack.outcome import CoreResult
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.pieces.knapsack.relaxation import linear_relaxation
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.persistent import INFINITY, PersistentLp
from gadgetopt.system.result import Limits, Status

#: Most linear programs of the literal enumeration, and most sets that the pruned one bounds.
#: Tuned: `benchmarks/constants.py`.
MOST_PROGRAMS = 200_000
MOST_SETS = 20_000_000
#: An item of which no more than this part is missing counts as whole.
#: Tuned: `benchmarks/constants.py`.
WHOLE = 1e-7
#: Number of sets bounded together. Tuned: `benchmarks/constants.py`.
CHUNK = 50_000


def num_sets(items: int, k: int) -> int:
    """Return the number of sets of at most k items."""
    return sum(math.comb(items, size) for size in range(min(k, items) + 1))


def frieze_clarke(
    knapsack: Knapsack,
    k: int = 2,
    *,
    complete: bool = False,
    enumeration: Literal["pruned", "literal"] = "pruned",
    limits: Limits | None = None,
) -> CoreResult:
    r"""Return the best rounded linear program over all sets of at most k items.

    Its profit is at least :math:`k / (k + R)` of the optimum with R rows, and the optimum if k is
    the number of items.

    Parameters
    ----------
    knapsack : Knapsack
        Of single items that may be left out.
    k : int
        Sets have at most this many items; at least 0.
    complete : bool
        Add items that still fit to each rounded solution, the most profitable first
        (reconstructed).
    enumeration : "pruned" or "literal"
        "pruned" skips the linear program of a set whose Lagrangian bound at the prices of the root
        does not exceed the best so far (reconstructed). The result is that of "literal" if
        optimal vertices are unique; otherwise the two may take different ones. With
        `complete`, the added items lie outside LP(S), and "literal" may find more.
    limits : Limits, optional

    Returns
    -------
    CoreResult
        The bound is the Lagrangian one of the root; `notes` counts sets and linear programs.

    Raises
    ------
    ModelRefused
        If groups have several items or need one, or there are too many sets.
    """
    clock = Clock(limits)
    if knapsack.exactly_one or knapsack.num_groups != knapsack.num_items:
        raise ModelRefused("Frieze and Clarke's algorithm takes single items that may be left out")
    sets = num_sets(knapsack.num_items, k)
    most = MOST_PROGRAMS if enumeration == "literal" else MOST_SETS
    if sets > most:
        raise ModelRefused(
            f"{sets:.3g} sets of at most {k} of {knapsack.num_items} items, more than {most:.3g}"
        )
    relaxation = linear_relaxation(knapsack, clock.limits())
    if relaxation.infeasible:
        return CoreResult(None, -math.inf, -math.inf, "a capacity is negative")
    if relaxation.duals is None:
        return CoreResult(None, -math.inf, math.inf, "nothing", limit_hit=relaxation.limit_hit)
    # By falling profit; equal ones in the knapsack's order.
    order = np.argsort(-knapsack.profit, kind="stable")
    search = _Search(knapsack, order, complete)
    prune = relaxation.duals if enumeration == "pruned" else None
    limit_hit = search.run(k, prune, clock)
    chosen = np.sort(order[search.best])
    return CoreResult(
        chosen,
        knapsack.value(chosen),
        relaxation.bound,
        "Lagrangian bound",
        relaxation.duals,
        relaxation.bound,
        limit_hit,
        {"sets": sets, "linear_programs": search.programs, "relaxation": relaxation.value},
    )


class _Search:
    """Items in order of falling profit, and the best rounded solution so far."""

    def __init__(self, knapsack: Knapsack, order: Ints, complete: bool) -> None:
        self.profit, self.weight = knapsack.profit[order], knapsack.weight[order]
        self.capacity = knapsack.capacity
        self.complete = complete
        self.tolerance = knapsack.sum_tolerance
        #: First item as profitable as each item; if that item is least in S, T(S) lies before it.
        self.first_equal = np.searchsorted(-self.profit, -self.profit, side="left")
        self.best: Ints = np.empty(0, dtype=np.int64)
        self.value = 0.0
        self.programs = 0
        small = moderate(replace(knapsack, profit=self.profit, weight=self.weight))
        self.lp = _relaxation(small.knapsack)

    def run(self, k: int, duals: Floats | None, clock: Clock) -> str | None:
        """Enumerate all sets by size; return the limit that stopped the run, if one did."""
        for size in range(min(k, len(self.profit)) + 1):
            for sets in _chunks(len(self.profit), size):
                bounds = None if duals is None else self._bounds(sets, duals)
                room = self.capacity - self.weight[sets].sum(axis=1)
                fitting = np.flatnonzero((room >= -self.tolerance).all(axis=1))
                for s in fitting.tolist():
                    if clock.expired:
                        return "time_s"
                    if bounds is None or bounds[s] > self.value:
                        self._solve(sets[s], clock)
                    if self.lp.limit_hit is not None:
                        return self.lp.limit_hit
        return None

    def _bounds(self, sets: Ints, duals: Floats) -> Floats:
        """Return the Lagrangian bound of LP(S) at some prices, for each set; shape (sets,)."""
        reduced = self.profit - self.weight @ duals
        positive = np.maximum(reduced, 0.0)
        rest = np.concatenate([np.cumsum(positive[::-1])[::-1], [0.0]])
        base = float(duals @ self.capacity)
        if not sets.shape[1]:
            return np.array([base + rest[0]])
        first = self.first_equal[sets[:, -1]]
        # The rest includes members as profitable as the least.
        counted = np.where(sets >= first[:, None], positive[sets], 0.0).sum(axis=1)
        bounds = base + reduced[sets].sum(axis=1) + rest[first] - counted
        return np.asarray(bounds + 1e-12 * (base + rest[0]))

    def _solve(self, members: Ints, clock: Clock) -> None:
        """Solve LP(S), round it down, and keep the result if it is the best."""
        items = len(self.profit)
        lower, upper = np.zeros(items), np.ones(items)
        if len(members):
            upper[: self.first_equal[members[-1]]] = 0.0
        lower[members] = upper[members] = 1.0
        self.lp.change_column_bounds(np.arange(items), lower, upper)
        self.programs += 1
        # The theorem needs a vertex, where the simplex method ends.
        if self.lp.solve(clock.limits()) is not Status.OPTIMAL:
            return
        whole = np.flatnonzero(np.floor(self.lp.values + WHOLE) >= 1)
        if np.any(self.weight[whole].sum(axis=0) > self.capacity + self.tolerance):
            # With numbers of many digits, so small a part may truly be missing.
            whole = np.flatnonzero(self.lp.values >= 1)
        if self.complete:
            whole = self._completed(whole)
        value = float(self.profit[whole].sum())
        if value > self.value:
            self.best, self.value = whole, value

    def _completed(self, chosen: Ints) -> Ints:
        """Add items that still fit, the most profitable first."""
        left = self.capacity + self.tolerance - self.weight[chosen].sum(axis=0)
        taken = np.zeros(len(self.profit), dtype=bool)
        taken[chosen] = True
        for c in np.flatnonzero(~taken & (self.profit > 0)).tolist():
            if np.all(self.weight[c] <= left):
                left = left - self.weight[c]
                taken[c] = True
        return np.flatnonzero(taken)


def _relaxation(knapsack: Knapsack) -> PersistentLp:
    """Return the linear relaxation as a HiGHS model."""
    lp = PersistentLp("max")
    rows, items = len(knapsack.capacity), knapsack.num_items
    lp.add_rows(np.full(rows, -INFINITY), knapsack.capacity, np.zeros(rows), [], [])
    there = knapsack.weight != 0
    counts = there.sum(axis=1)
    lp.add_columns(
        knapsack.profit,
        np.zeros(items),
        np.ones(items),
        np.cumsum(counts) - counts,
        np.nonzero(there)[1],
        knapsack.weight[there],
    )
    return lp


def _chunks(items: int, size: int) -> Iterator[Ints]:
    """Yield the sets of a size in lexicographic order, many at a time; shape (sets, size)."""
    sets = combinations(range(items), size)
    while chunk := list(islice(sets, CHUNK)):
        yield np.array(chunk, dtype=np.int64).reshape(len(chunk), size)
