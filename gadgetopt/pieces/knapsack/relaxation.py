r"""The linear relaxation by column generation, and the Lagrangian bound of any prices.

For prices :math:`\lambda \ge 0` of the capacities,

.. math::
    L(\lambda) = \lambda^\top C
        + \sum_i \max\Big(0, \max_{c \in i} (\pi_c - \lambda^\top a_c)\Big)

bounds the profit of every choice (without the 0 where exactly one item must be chosen). At the
best prices it equals the linear relaxation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gadgetopt.errors import SolverError
from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.pieces.knapsack.moderate import moderate
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.persistent import INFINITY, Algorithm, PersistentLp
from gadgetopt.system.result import Limits, Status

#: Reduced profit, relative to the largest profit, at which a column is worth adding.
#: Tuned: `benchmarks/constants.py`.
PRICING_TOLERANCE = 1e-10
#: Relative agreement of bound and restricted relaxation at which column generation ends.
#: Tuned: `benchmarks/constants.py`.
AGREEMENT = 1e-10
#: From so many columns on, the interior-point method with crossover solves the first program: the
#: primal simplex method takes ten seconds for 20,000 columns, minutes for 100,000.
#: Tuned: `benchmarks/constants.py`.
MANY_COLUMNS = 5_000


@dataclass(frozen=True)
class Relaxation:
    """A vertex of the linear relaxation and the prices that bound it.

    Attributes
    ----------
    value : float
        Optimum; of the columns generated so far if a limit was hit; minus infinity if infeasible,
        infinity if nothing was solved in time.
    bound : float
        Lagrangian bound of `duals`, rounded outward.
    duals : ndarray of float, shape (rows,), or None
        Prices of the capacities, non-negative, zeros if HiGHS failed; None if infeasible or stopped
        before there were any.
    y : ndarray of float, shape (items,)
        A basic solution: at most as many groups as there are rows are fractional. Zeros if HiGHS
        failed.
    columns, rounds : int
        Columns in the last restricted program, and number of restricted programs solved.
    limit_hit : str or None
    """

    value: float
    bound: float
    duals: Floats | None
    y: Floats
    columns: int
    rounds: int
    limit_hit: str | None = None

    @property
    def infeasible(self) -> bool:
        """True if not even fractions of items fit."""
        return self.bound == -math.inf


def usable_items(knapsack: Knapsack) -> Bools:
    """Return True for each item that fits alone and may raise the profit, shape (items,)."""
    fits = (knapsack.weight <= knapsack.capacity).all(axis=1)
    return np.asarray(fits if knapsack.exactly_one else fits & (knapsack.profit > 0))


def best_of_groups(knapsack: Knapsack, worth: Floats) -> tuple[Ints, Floats]:
    """Return the groups that have items, and the largest worth of an item in each.

    If a group may be left out, its worth is never negative.

    Parameters
    ----------
    worth : ndarray of float, shape (items,)
    """
    starts = knapsack.group_starts
    groups = np.flatnonzero(starts[1:] > starts[:-1]).astype(np.int64)
    if not len(groups):
        return groups, np.empty(0)
    best = np.maximum.reduceat(worth, starts[groups])
    return groups, best if knapsack.exactly_one else np.maximum(best, 0.0)


def reduced_profits(knapsack: Knapsack, duals: Floats) -> Floats:
    """Return the profit of each item less the price of its weight, shape (items,)."""
    return np.asarray(knapsack.profit - knapsack.weight @ duals)


def lagrangian_bound(knapsack: Knapsack, duals: npt.ArrayLike) -> float:
    """Return the Lagrangian bound of prices, rounded outward: never below the true one.

    If each group must have an item, a group without items makes it minus infinity.

    Parameters
    ----------
    duals : array of float, shape (rows,)
        Non-negative; negative ones are taken as zero.
    """
    prices = np.maximum(np.asarray(duals, dtype=np.float64), 0.0)
    if knapsack.exactly_one and _has_empty_group(knapsack):
        return -math.inf
    _, best = best_of_groups(knapsack, reduced_profits(knapsack, prices))
    terms = [*(prices * knapsack.capacity).tolist(), *best.tolist()]
    # Every reduced profit is a sum of rows + 1 doubles, each within a unit of rounding.
    largest = np.abs(knapsack.profit).max(initial=0.0) + float(
        (np.abs(knapsack.weight) @ prices).max(initial=0.0)
    )
    unit = 2.0**-52
    error = unit * (
        len(best) * (len(prices) + 2) * largest
        + 2 * float(np.abs(prices * knapsack.capacity).sum())
    )
    total = math.fsum(terms)
    return float(total + error + unit * abs(total))


def linear_relaxation(knapsack: Knapsack, limits: Limits | None = None) -> Relaxation:
    """Solve the linear relaxation by column generation, pricing all items at once.

    A restricted program begins with each group's most profitable item, the one with the most
    profit for its largest share of a capacity, and the one with the smallest such share.

    Parameters
    ----------
    knapsack : Knapsack
    limits : Limits, optional
        `time_s` and `threads` are respected.
    """
    small = moderate(knapsack)
    found = _column_generation(small.knapsack, limits or Limits())
    if small.knapsack is knapsack or found.duals is None:
        return found
    duals = small.duals(found.duals)
    usable = only_items(knapsack, np.flatnonzero(usable_items(knapsack)))
    return replace(
        found,
        value=found.value * small.profit_divisor,
        bound=lagrangian_bound(usable, duals),
        duals=duals,
    )


def _column_generation(knapsack: Knapsack, limits: Limits) -> Relaxation:
    clock = Clock(limits)
    usable = usable_items(knapsack)
    rows = len(knapsack.capacity)
    y = np.zeros(knapsack.num_items)
    nothing = Relaxation(-math.inf, -math.inf, None, y, 0, 0)
    if np.any(knapsack.capacity < 0) or not _groups_served(knapsack, usable):
        return nothing
    master = _Master(knapsack)
    master.add(_first_columns(knapsack, usable))
    best, duals = math.inf, None
    value, limit_hit, rounds = -math.inf, None, 0
    scale = float(np.abs(knapsack.profit).max(initial=0.0))
    while True:
        rounds += 1
        many = rounds == 1 and len(master.items) > MANY_COLUMNS
        algorithm: Algorithm = "interior_point" if many else "choose"
        try:
            status = master.lp.solve(clock.limits(), algorithm)
        except SolverError:
            # Of large numbers HiGHS may not tell if all groups fit. Any prices bound the profit.
            if not knapsack.exactly_one:
                raise
            duals = np.zeros(rows) if duals is None else duals
            break
        if status is Status.INFEASIBLE:
            # With few items, no choice from every group may fit although others do.
            if not master.add(np.flatnonzero(usable)):
                return nothing
            continue
        if status is not Status.OPTIMAL:
            limit_hit = master.lp.limit_hit
            break
        value = master.lp.objective
        y = np.zeros(knapsack.num_items)
        y[master.items] = master.lp.values
        prices = np.maximum(master.lp.row_duals[:rows], 0.0)
        reduced = np.where(usable, reduced_profits(knapsack, prices), -math.inf)
        groups, most = best_of_groups(knapsack, reduced)
        bound = float(prices @ knapsack.capacity) + float(most.sum())
        if bound < best:
            best, duals = bound, prices
        if best - value <= AGREEMENT * abs(value):
            break
        improving = groups[most - master.group_prices()[groups] > PRICING_TOLERANCE * scale]
        if not master.add(best_items(knapsack, reduced, improving)):
            break
    if duals is None:
        return Relaxation(math.inf, math.inf, None, y, len(master.items), rounds, limit_hit)
    bound = lagrangian_bound(only_items(knapsack, np.flatnonzero(usable)), duals)
    return Relaxation(value, bound, duals, y, len(master.items), rounds, limit_hit)


class _Master:
    """The restricted master: rows of the capacities, then a row for each group that needs one."""

    def __init__(self, knapsack: Knapsack) -> None:
        self.knapsack = knapsack
        self.lp = PersistentLp("max")
        sizes = np.diff(knapsack.group_starts)
        # For a group of one item that need not be chosen, the bound of the variable suffices.
        rowed = sizes > (0 if knapsack.exactly_one else 1)
        rows = len(knapsack.capacity)
        self.row_of_group = np.where(rowed, rows + np.cumsum(rowed) - 1, -1)
        groups = int(rowed.sum())
        least = 1.0 if knapsack.exactly_one else -INFINITY
        self.lp.add_rows(
            np.concatenate([np.full(rows, -INFINITY), np.full(groups, least)]),
            np.concatenate([knapsack.capacity, np.ones(groups)]),
            np.zeros(rows + groups),
            [],
            [],
        )
        self.items = np.empty(0, dtype=np.int64)
        self.known = np.zeros(knapsack.num_items, dtype=bool)

    def add(self, items: Ints) -> bool:
        """Add the items that are not there yet; return True if there were any."""
        new = items[~self.known[items]]
        if not len(new):
            return False
        self.known[new] = True
        self.items = np.concatenate([self.items, new])
        group_row = self.row_of_group[self.knapsack.owner[new]]
        entries = np.column_stack([self.knapsack.weight[new], group_row >= 0])
        rows = len(self.knapsack.capacity)
        index = np.column_stack([np.broadcast_to(np.arange(rows), (len(new), rows)), group_row])
        there = entries != 0
        counts = there.sum(axis=1)
        self.lp.add_columns(
            self.knapsack.profit[new],
            np.zeros(len(new)),
            np.where(group_row >= 0, INFINITY, 1.0),
            np.cumsum(counts) - counts,
            index[there],
            entries[there],
        )
        return True

    def group_prices(self) -> Floats:
        """Return the dual of each group's row, or of a lone item's bound, shape (groups,)."""
        prices = np.zeros(self.knapsack.num_groups)
        rowed = self.row_of_group >= 0
        prices[rowed] = self.lp.row_duals[self.row_of_group[rowed]]
        alone = ~rowed[self.knapsack.owner[self.items]]
        lone = self.knapsack.owner[self.items[alone]]
        prices[lone] = self.lp.reduced_costs[alone]
        return prices


def shares(knapsack: Knapsack) -> Floats:
    """Return the largest share of a capacity that each item takes, shape (items,)."""
    capacity = knapsack.capacity
    share = np.zeros(knapsack.num_items)
    for r, c in enumerate(capacity.tolist()):
        weight = knapsack.weight[:, r]
        part = weight / c if c > 0 else np.where(weight > 0, math.inf, 0.0)
        np.maximum(share, part, out=share)
    return share


def _first_columns(knapsack: Knapsack, usable: Bools) -> Ints:
    """Return three items of each group, or all items where there are not many more."""
    if knapsack.num_items <= 4 * knapsack.num_groups:
        return np.flatnonzero(usable)
    share = shares(knapsack)
    with np.errstate(divide="ignore", invalid="ignore"):
        density = np.where(share > 0, knapsack.profit / share, np.inf)
    groups = np.flatnonzero(np.diff(knapsack.group_starts)).astype(np.int64)
    found = [
        best_items(knapsack, np.where(usable, worth, -math.inf), groups)
        for worth in (knapsack.profit, density, -share)
    ]
    items = np.unique(np.concatenate(found))
    return items[usable[items]]


def best_items(knapsack: Knapsack, worth: Floats, groups: Ints) -> Ints:
    """Return the first item of largest worth in each of the groups, none of them empty."""
    starts = knapsack.group_starts
    filled = np.flatnonzero(np.diff(starts))
    if not len(groups):
        return np.empty(0, dtype=np.int64)
    most = np.full(knapsack.num_groups, np.nan)
    most[filled] = np.maximum.reduceat(worth, starts[filled])
    equal = np.flatnonzero(worth == most[knapsack.owner])
    owners, first = np.unique(knapsack.owner[equal], return_index=True)
    return np.asarray(equal[first][np.isin(owners, groups)], dtype=np.int64)


def only_items(knapsack: Knapsack, items: Ints) -> Knapsack:
    """Return the knapsack of some items, in increasing order; groups keep their numbers."""
    if len(items) == knapsack.num_items:
        return knapsack
    return replace(
        knapsack,
        profit=knapsack.profit[items],
        weight=knapsack.weight[items],
        owner=knapsack.owner[items],
    )


def _has_empty_group(knapsack: Knapsack) -> bool:
    return bool((np.diff(knapsack.group_starts) == 0).any())


def _groups_served(knapsack: Knapsack, usable: Bools) -> bool:
    """Return True if every group that must have an item has one that fits alone."""
    if not knapsack.exactly_one:
        return True
    return len(np.unique(knapsack.owner[usable])) == knapsack.num_groups
