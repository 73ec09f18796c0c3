r"""Search of single items near the linear relaxation, by the loss of what deviates from it.

The relaxation takes some items whole, leaves others out, and takes at most :math:`m` in part. With
its duals :math:`\lambda`, a packing that decides a set :math:`D` of the whole ones otherwise, and
leaves :math:`s_r` of row :math:`r`, has the profit

.. math:: L(\lambda) - \sum_{j \in D} \ell_j - \sum_r \lambda_r s_r,

where :math:`\ell_j` is the absolute reduced profit. In good packings of many rows the room that is
left costs much of the gap and :math:`D` little. So all sets :math:`D` whose losses sum to at most a
budget are gone through, each with the best of the :math:`2^m` choices of the items taken in part,
and the budget grows. It is a heuristic until the budget is the gap (our own).
"""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.compiled import compiled
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.pieces.knapsack.relaxation import Relaxation, reduced_profits, usable_items
from gadgetopt.search.clock import Clock

#: All choices of the items that the relaxation takes in part are listed; not beyond so many items.
#: Tuned: `benchmarks/constants.py`.
MOST_PARTIAL = 14
#: An item counts as taken in part if it is further than this from whole and from nothing.
#: Tuned: `benchmarks/constants.py`.
PARTIAL = 1e-9
#: The first budget, as part of the gap, and how it grows: the sets get about twice as many.
#: Tuned: `benchmarks/constants.py`.
FIRST_PART, GROWTH = 0.05, 1.1
#: Sets gone through between two looks at the clock. Tuned: `benchmarks/constants.py`.
STEP = 200_000
#: Most items of a set. Tuned: `benchmarks/constants.py`.
MOST_ITEMS = 64

#: Losses, changes of profit and of loads of the items that may deviate, by rising loss; prices.
Deviations = tuple[Floats, Floats, Floats, Floats]
#: Profits and weights of the choices of partial items, by falling profit.
Choices = tuple[Floats, Floats]


class NearRelaxation:
    """A search of packings near the relaxation that can be continued.

    Parameters
    ----------
    knapsack : Knapsack
        Every group has one item and may be left out.
    relaxation : Relaxation
        Solved to optimality.
    chosen : ndarray of int
        The incumbent, which fits.

    Attributes
    ----------
    chosen : ndarray of int
        The best choice so far.
    value : float
        Its profit.
    sets : int
        Sets of deviations gone through.
    """

    def __init__(self, knapsack: Knapsack, relaxation: Relaxation, chosen: Ints) -> None:
        assert relaxation.duals is not None
        self.knapsack = knapsack
        self.chosen: Ints = chosen
        self.value: float = knapsack.value(chosen)
        self.sets: int = 0
        self._limit: Floats = knapsack.capacity + knapsack.sum_tolerance
        self._bound = relaxation.bound
        usable = usable_items(knapsack)
        y = relaxation.y
        partial = usable & (y > PARTIAL) & (y < 1 - PARTIAL)
        self._partial = np.flatnonzero(partial)
        whole = np.flatnonzero(usable & ~partial)
        reduced = reduced_profits(knapsack, relaxation.duals)[whole]
        sign = np.where(y[whole] > 0.5, -1.0, 1.0)
        losses = np.maximum(0.0, -sign * reduced)
        order = np.argsort(losses, kind="stable")
        self._whole, sign = whole[order], sign[order]
        self._start = self._whole[sign < 0]
        self._deviations: Deviations = (
            losses[order],
            sign * knapsack.profit[self._whole],
            np.ascontiguousarray(sign[:, None] * knapsack.weight[self._whole]),
            np.asarray(relaxation.duals, dtype=np.float64),
        )

    @property
    def lists_choices(self) -> bool:
        """True if the choices of the items taken in part can be listed."""
        return len(self._partial) <= MOST_PARTIAL

    def run(self, clock: Clock) -> None:
        """Raise the budget until the time is up, or no set of a larger loss can be better."""
        choices, subsets = self._choices()
        budget = FIRST_PART * (self._bound - self.value)
        while not clock.expired and budget < GROWTH * (self._bound - self.value):
            self._go_through(budget, choices, subsets, clock)
            budget *= GROWTH

    def _choices(self) -> tuple[Choices, Ints]:
        """Return the choices of partial items by falling profit, and the bits of each."""
        bits = (np.arange(2 ** len(self._partial))[:, None] >> np.arange(len(self._partial))) & 1
        profit = bits @ self.knapsack.profit[self._partial]
        order = np.argsort(-profit, kind="stable")
        weight = bits @ self.knapsack.weight[self._partial]
        return (profit[order], np.ascontiguousarray(weight[order])), bits[order]

    def _go_through(self, budget: float, choices: Choices, subsets: Ints, clock: Clock) -> None:
        """Go through all sets within a budget, as far as the time goes."""
        left = self._limit - self.knapsack.weight[self._start].sum(axis=0)
        state = np.zeros(MOST_ITEMS + 2, dtype=np.int64)
        profit = self.knapsack.value(self._start)
        while not clock.expired:
            sets, choice, ended, profit = _visit(
                self._deviations, choices, state, left, profit, budget, self.value, STEP
            )
            self.sets += sets
            if choice >= 0:
                self._keep(state, subsets[choice])
            if ended:
                return

    def _keep(self, state: Ints, bits: Ints) -> None:
        """Keep the packing of a set and a choice if it fits and is better, summed anew."""
        deviating = self._whole[state[2 : 2 + state[0]]]
        packed = np.setxor1d(self._start, deviating)
        chosen = np.sort(np.concatenate([packed, self._partial[bits == 1]]))
        value = self.knapsack.value(chosen)
        if value > self.value and np.all(self.knapsack.weight[chosen].sum(axis=0) <= self._limit):
            self.chosen, self.value = chosen, value


@compiled
def _visit(
    deviations: Deviations,
    choices: Choices,
    state: Ints,
    left: Floats,
    profit: float,
    budget: float,
    least: float,
    most: int,
) -> tuple[int, int, bool, float]:
    """Go through sets in depth-first order until one is better, `most` are done, or all are.

    Parameters
    ----------
    state : ndarray of int
        Number of items in the set, the next to add, and the items: where to go on.
    left : ndarray of float, shape (rows,)
        Room that the set leaves; kept up with `state`.
    profit : float
        Profit of the set.
    budget, least : float
        Largest sum of losses, and the profit to beat.

    Returns
    -------
    (int, int, bool, float)
        Sets gone through, the choice that makes the last one better than `least` or -1, True if no
        sets are left, and the profit of the last one.
    """
    losses, gain, load, price = deviations
    size, following = state[0], state[1]
    loss = 0.0
    for k in range(size):
        loss += losses[state[2 + k]]
    sets = 0
    while sets < most:
        sets += 1
        # The empty set is looked at whenever the search begins or goes on from it.
        choice = _best_choice(choices, price, left, least - profit)
        if choice >= 0:
            state[0], state[1] = size, following
            return sets, choice, False, profit
        while following >= len(losses) or loss + losses[following] > budget or size == MOST_ITEMS:
            if size == 0:
                state[0], state[1] = size, following
                return sets, -1, True, profit
            size -= 1
            last = state[2 + size]
            loss -= losses[last]
            profit -= gain[last]
            for r in range(len(left)):
                left[r] += load[last, r]
            following = last + 1
        state[2 + size] = following
        size += 1
        loss += losses[following]
        profit += gain[following]
        for r in range(len(left)):
            left[r] -= load[following, r]
        following += 1
    state[0], state[1] = size, following
    return sets, -1, False, profit


@compiled
def _best_choice(choices: Choices, price: Floats, left: Floats, least: float) -> int:
    """Return the first choice of partial items that brings more than `least` and fits, or -1."""
    profits, weights = choices
    worth = 0.0
    for r in range(len(left)):
        if left[r] < 0:
            return -1
        worth += price[r] * left[r]
    # Items taken in part are worth their weight at the prices: what is worth more does not fit.
    worth += 1e-6 * (1.0 + abs(worth))
    if worth <= least:
        return -1
    low, high = 0, len(profits)
    while low < high:
        middle = (low + high) // 2
        if profits[middle] > worth:
            low = middle + 1
        else:
            high = middle
    for k in range(low, len(profits)):
        if profits[k] <= least:
            return -1
        r = 0
        while r < len(left) and weights[k, r] <= left[r]:
            r += 1
        if r == len(left):
            return k
    return -1
