r"""Check that no choice brings more than a bound: all choices that prices leave, one by one.

At prices :math:`\lambda \ge 0` of the rows every option o of a group, an item or nothing, is worth
:math:`\pi_o - \lambda^\top a_o`, and loses :math:`\ell_o \ge 0` against the best option of its
group. With L the Lagrangian bound, a choice that leaves the capacity s brings exactly

.. math::
    L - \sum_{\text{groups}} \ell_o - \lambda^\top s .

So a choice of profit P or more loses at most :math:`L - P`. Groups are decided one after the other,
those whose second-best option loses most first, and a partial choice is left

* if it loses more than that,
* if what it leaves of a row is less than the groups left take at least,
* if it cannot reach P at further prices :math:`\mu`: with v its profit and :math:`\rho` the
  capacity left, :math:`v + \mu^\top \rho + \sum_{\text{left}} \max_o (\pi_o - \mu^\top a_o) < P`.

Any prices are right; bad ones only leave more choices. All numbers are whole, and thousands of
partial choices are handled together as arrays of 64-bit integers. No sum overflows: all are
differences of sums whose parts are added up beforehand in Python's integers, see `_refuse_large`.
This shares nothing with the search (`enumeration.py`), which runs in doubles and compiled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import mul
from typing import NamedTuple

import numpy as np

from gadgetopt.numbers.arrays import Ints

#: Numbers that a check may compute, about a nanosecond each: one for every option of a partial
#: choice that is tried, and for every row of what is left so many, and one for every vector of
#: further prices. Tuned: `benchmarks/constants.py`.
MOST_STEPS, STEPS_A_ROW = 20_000_000_000, 16
#: Numbers in the partial choices that are handled together. Tuned: `benchmarks/constants.py`.
BLOCK_NUMBERS = 1 << 17
#: No sum of the parts of a number may be larger. By definition.
LARGEST_SUM = 2**60

#: Profit and weights of an option in whole numbers.
Option = tuple[int, Sequence[int]]


class TooManyChoices(ValueError):
    """More partial choices are left than a check may visit."""


@dataclass(frozen=True)
class Prices:
    """Prices of the rows in whole numbers, in parts of the unit of profit.

    Attributes
    ----------
    scale : int
        A price of this much is one unit of profit for one unit of weight.
    main : sequence of int, one for each row
    further : sequence of (int, sequence of int)
        Numbers of groups left from which on partial choices are also bounded at these prices, until
        those of a smaller number take over. Groups with one option within the gap count as decided.
    """

    scale: int
    main: Sequence[int]
    further: Sequence[tuple[int, Sequence[int]]] = ()

    @property
    def all(self) -> list[Sequence[int]]:
        """All vectors of prices."""
        return [self.main, *(prices for _, prices in self.further)]


class Level(NamedTuple):
    """A group to decide: profits, losses, and weights of its options, shape (options, rows)."""

    profit: Ints
    loss: Ints
    weight: Ints


class Core(NamedTuple):
    """What is left to decide: groups with several options that lose no more than the gap.

    Attributes
    ----------
    gap : int
        What a choice may lose; negative if none is left.
    levels : list of Level
        By falling loss of their second-best option.
    left : list of int
        What the other groups leave of the rows, perhaps less than nothing.
    """

    gap: int
    levels: list[Level]
    left: list[int]


class _Block(NamedTuple):
    """Partial choices of one depth: what each has lost, and what it leaves of the rows."""

    depth: int
    lost: Ints
    left: Ints


def largest_profit(
    groups: Sequence[Sequence[Option]],
    capacity: Sequence[int],
    prices: Prices,
    at_least: int,
    most_steps: int = MOST_STEPS,
) -> int | None:
    """Return the largest profit of a choice of one option in each group, if it is large enough.

    Parameters
    ----------
    groups : sequence of sequences of (int, sequence of int)
        Profit and weights of every option, weights not negative; "nothing" is an option where it is
        allowed.
    capacity : sequence of int, one for each row
    prices : Prices
    at_least : int
        Least profit of interest, not negative.
    most_steps : int

    Returns
    -------
    int or None
        None if no choice brings as much.

    Raises
    ------
    TooManyChoices
    ValueError
        If there is not one price for each row, one is negative, or numbers are too large.
    """
    found = core(groups, capacity, prices, at_least)
    if found is None or found.gap < 0:
        return None
    return _Exhaustion(found, prices, at_least, most_steps).best()


def core(
    groups: Sequence[Sequence[Option]], capacity: Sequence[int], prices: Prices, at_least: int
) -> Core | None:
    """Return what is left to decide; None if there is no choice at all.

    Raises
    ------
    ValueError
        As for `largest_profit`.
    """
    if prices.scale < 1 or at_least < 0:
        raise ValueError("the scale of the prices, or the least profit, is not positive")
    for vector in prices.all:
        if len(vector) != len(capacity):
            raise ValueError(f"{len(vector)} prices for {len(capacity)} rows")
        if min(vector, default=0) < 0:
            raise ValueError("a price is negative")
    if min(capacity, default=0) < 0 or not all(groups):
        return None
    # More than the heaviest options of all groups take is never needed.
    heaviest = [sum(max(w[r] for _, w in of) for of in groups) for r in range(len(capacity))]
    room = list(map(min, capacity, heaviest))
    _refuse_large(groups, room, prices)
    priced = [
        [prices.scale * p - sum(map(mul, prices.main, w)) for p, w in options] for options in groups
    ]
    best = [max(worth) for worth in priced]
    gap = sum(map(mul, prices.main, room)) + sum(best) - prices.scale * at_least
    left, levels = room, []
    for options, worth, top in zip(groups, priced, best, strict=True):
        kept = [(p, top - x, w) for (p, w), x in zip(options, worth, strict=True) if top - x <= gap]
        if len(kept) == 1:
            left = [a - b for a, b in zip(left, kept[0][2], strict=True)]
        elif kept:
            profit, loss, weight = (np.array(x, dtype=np.int64) for x in zip(*kept, strict=True))
            levels.append(Level(profit, loss, weight.reshape(len(kept), len(room))))
    levels.sort(key=lambda level: -int(np.partition(level.loss, 1)[1]))
    return Core(gap, levels, left)


def _refuse_large(groups: Sequence[Sequence[Option]], room: Sequence[int], prices: Prices) -> None:
    """Refuse numbers whose sums might not fit 64 bits.

    Every number computed below is a sum of at most four of: profits of one option of each group
    times the scale, priced weights of one option of each group, priced capacities. Where nothing
    weighs or brings anything, prices and scale are numbers of their own.
    """
    profit = prices.scale * sum(max(abs(p) for p, _ in options) for options in groups)
    dearest = [max(vector[r] for vector in prices.all) for r in range(len(room))]
    weight = sum(max(sum(map(mul, dearest, w)) for _, w in options) for options in groups)
    plain = sum(max(sum(w) for _, w in options) for options in groups)
    alone = prices.scale + max(dearest, default=0)
    if profit + weight + sum(map(mul, dearest, room)) + plain + sum(room) + alone > LARGEST_SUM:
        raise ValueError("profits, weights or prices have too many digits for 64 bits")


class _Exhaustion:
    """All choices whose losses fit the gap, depth by depth in blocks."""

    def __init__(self, found: Core, prices: Prices, at_least: int, most_steps: int):
        self.gap, self.levels, left = found
        self.at_least, self.scale, self.steps_left = at_least, prices.scale, most_steps
        self.main = np.array(prices.main, dtype=np.int64)
        self.root = np.array(left, dtype=np.int64)[:, None]
        rows = len(left)
        least = np.array([level.weight.min(axis=0) for level in self.levels]).reshape(-1, rows)
        #: What the groups from each depth on take at least, shape (depths + 1, rows).
        self.least = _sums_of_the_rest(least.astype(np.int64))
        most = self._rest(self.main)
        #: Further prices by groups left: difference to the main ones, and what the groups from each
        #: depth on add more.
        self.further: dict[int, list[tuple[Ints, Ints]]] = {}
        for groups_left, vector in prices.further:
            other = np.array(vector, dtype=np.int64)
            more = self._rest(other) - most
            self.further.setdefault(groups_left, []).append((other - self.main, more))

    def _rest(self, prices: Ints) -> Ints:
        """Return the most that the groups from each depth on add at some prices."""
        worth = [int((self.scale * p - w @ prices).max()) for p, _, w in self.levels]
        return _sums_of_the_rest(np.array(worth, dtype=np.int64))

    def best(self) -> int | None:
        """Return the largest profit of a choice that is large enough."""
        best = None
        stack = [_Block(0, np.zeros(1, dtype=np.int64), self.root)]
        if (self.root[:, 0] < self.least[0]).any():
            return None
        while stack:
            block = stack.pop()
            if block.depth == len(self.levels):
                spare = self.gap - block.lost - self.main @ block.left
                over = int(spare.max(initial=-1))
                if over >= 0:
                    best = self.at_least + over // self.scale
                    # From here on only a better choice is of interest.
                    self.gap -= (best + 1 - self.at_least) * self.scale
                    self.at_least = best + 1
                continue
            for part in self._parts(block):
                after = self._next(part)
                if len(after.lost):
                    stack.append(after)
        return best

    def _parts(self, block: _Block) -> Iterator[_Block]:
        """Yield a block in parts whose next level is not too large."""
        numbers = (len(self.main) + 1) * len(self.levels[block.depth].loss)
        size = max(256, BLOCK_NUMBERS // numbers)
        for first in range(0, len(block.lost), size):
            last = first + size
            yield _Block(block.depth, block.lost[first:last], block.left[:, first:last])

    def _next(self, block: _Block) -> _Block:
        """Return all choices of an option of the next group that nothing rules out."""
        level, depth = self.levels[block.depth], block.depth + 1
        least = self.least[depth][:, None]
        lost, left = [], []
        for loss, weight in zip(level.loss, level.weight, strict=True):
            some = block.lost <= self.gap - loss
            remaining = block.left[:, some] - weight[:, None]
            fits = (remaining >= least).all(axis=0)
            lost.append((block.lost[some] + loss)[fits])
            left.append(remaining[:, fits])
        after = _Block(depth, np.concatenate(lost), np.concatenate(left, axis=1))
        begun = [known for known in self.further if known >= len(self.levels) - depth]
        further = self.further[min(begun)] if begun else []
        self.steps_left -= len(block.lost) * len(level.loss)
        self.steps_left -= after.left.size * (STEPS_A_ROW + len(further))
        if self.steps_left < 0:
            raise TooManyChoices("more choices are left than a check may visit")
        for difference, more in further:
            kept = after.lost <= self.gap + more[depth] + difference @ after.left
            after = _Block(depth, after.lost[kept], after.left[:, kept])
        return after


def _sums_of_the_rest(numbers: Ints) -> Ints:
    """Return the sums from every place to the end, and a final zero."""
    zero = np.zeros((1, *numbers.shape[1:]), dtype=np.int64)
    return np.concatenate([np.cumsum(numbers[::-1], axis=0)[::-1], zero])
