r"""Shortest orders of a plan's blocks by branch and bound on windows, in whole numbers.

Asked for schedules that end before a moment T, every block has a *window*: an earliest start and a
latest end. Corridors, of how many forward blocks come before each backward block, are those of
`order_search`. Both are narrowed until nothing changes:

- along routes, and by index;
- on every machine by its *sequences*. As each direction is served by index, what a machine has done
  is i forward and j backward blocks; the earliest end of them, over all sequences that keep to
  windows and corridor, follows by dynamic programming, and so does the latest moment for what is
  left. Windows and corridor are narrowed to what lies on some sequence. If there is none, nothing
  is left: this is the problem $1 | r_j, d_j | -$ without preemption, which is easy for two chains.

If some pair of blocks still has two orders, both are tried.

Times too long for 64 bits are rounded down to ticks. What is closed so is closed, as no schedule
takes longer in ticks; what is left at last is timed exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Bools, Ints
from gadgetopt.pieces.pipeline.exact_orders.window_loops import narrowed, pair_to_divide
from gadgetopt.pieces.pipeline.orders import OrderLists
from gadgetopt.pieces.pipeline.shop import Shop
from gadgetopt.pieces.pipeline.simulator import DeadlockError, simulate
from gadgetopt.search.clock import Clock

#: Most microbatches: tables hold the square of their number.
#: Tuned: `benchmarks/pipeline_profiles.py`.
MOST_SEQUENCED = 512
#: Ticks of the moment asked for, and the longest schedule that is served without rounding.
#: By definition.
TICKS, MOST_EXACT = 2**58, 2**60
#: Halvings of what a bound by windows alone may still rise by; parts of the way from there to the
#: incumbent at which orders are looked for, and corridors each time.
#: Tuned: `benchmarks/pipeline_profiles.py`.
FINE, DIVES, DIVE_NODES = 8, (64, 45, 32, 22, 16, 11, 8, 4, 2), 150


@dataclass(frozen=True)
class OrdersFound:
    """What a search for orders came to.

    Attributes
    ----------
    orders : list of list of int or None
        Orders of the shortest schedule found that ends before the moment asked for.
    complete : bool
        True if no schedule is shorter than `orders` or, if there are none, than was asked for.
    work : int
        Blocks of all corridors looked at.
    parts : list of tuple of int
        Machine, backward and forward block of each pair both of whose orders were tried, first the
        forward block behind; empty for a corridor that was not divided.
    """

    orders: OrderLists | None
    complete: bool
    work: int
    parts: list[tuple[int, ...]]


@dataclass(frozen=True)
class _Windows:
    """What is left of a shop's schedules; arrays as in `narrowed`."""

    few: Ints
    most: Ints
    starts: Ints
    ends: Ints

    def copy(self) -> _Windows:
        return _Windows(self.few.copy(), self.most.copy(), self.starts.copy(), self.ends.copy())


class Sequenced:
    """A shop whose schedules before a moment are searched.

    Parameters
    ----------
    shop : Shop
        Of at most `MOST_SEQUENCED` microbatches.
    below : int
        The latest moment that is asked about, in units.
    """

    def __init__(self, shop: Shop, below: int):
        self.shop = shop
        self._divisor: int = 1
        if longest_schedule(shop) >= MOST_EXACT:
            self._divisor = max(1, -(-below // TICKS))
        self.fwd, self.bwd, self.allreduce = (
            np.array([min(x // self._divisor, MOST_EXACT) for x in row], dtype=np.int64)
            for row in (shop.fwd, shop.bwd, shop.allreduce)
        )
        size, count = shop.num_machines, shop.num_microbatches
        full = shop.full_duplex
        self.shared: Bools = np.array([not (full and q % 2) for q in range(size)])
        self._room = np.zeros((2, count + 1, count + 1), dtype=np.int64)
        loads = shop.loads
        self._busiest = max(range(size), key=lambda q: loads[q] * bool(self.shared[q]))
        self.blocks: int = 2 * size * count

    def everything(self) -> _Windows:
        """Return all orders by index that `max_in_flight` allows, and windows without an end."""
        size, count = self.shop.num_machines, self.shop.num_microbatches
        few = np.tile(np.arange(1, count + 1), (size, 1))
        most = np.full((size, count), count)
        for n, cap in enumerate(self.shop.max_in_flight):
            most[2 * n] = np.minimum(count, np.arange(count) + cap)
        most[-1] = np.minimum(few[-1], most[-1])
        starts = np.zeros((2, size, count), dtype=np.int64)
        return _Windows(few, most, starts, np.full_like(starts, 2 * MOST_EXACT))

    def narrow(self, left: _Windows, below: int) -> bool:
        """Narrow what is left to schedules before a moment; return False if there are none."""
        moment = min(-(-below // self._divisor), MOST_EXACT + 1)  # no schedule takes so long
        limits = np.maximum(moment - 1 - self.allreduce, -1)
        return bool(
            narrowed(
                self.fwd,
                self.bwd,
                limits,
                self.shared,
                left.few,
                left.most,
                left.starts,
                left.ends,
                self._room,
            )
        )

    def pair(self, left: _Windows) -> tuple[int, int, int] | None:
        """Return a pair both of whose orders are to be tried; None if all orders are known."""
        tables = self.shared, left.few, left.most, left.starts, left.ends
        q, j, i = map(int, pair_to_divide(self.fwd, self.bwd, *tables, self._busiest))
        return None if q < 0 else (q, j, i)

    def none_before(self, low: int, high: int, clock: Clock | None = None) -> int:
        """Return a moment before which no orders end, about the last one that windows prove.

        Parameters
        ----------
        low, high : int
            Such a moment, and one beyond which it is not asked for.
        clock : Clock, optional
        """
        if high <= low or not self.narrow(self.everything(), high):
            return max(low, high)
        apart = (high - low) >> FINE
        while high - low > max(1, apart) and not (clock is not None and clock.expired):
            middle = (low + high) // 2
            if self.narrow(self.everything(), middle):
                high = middle
            else:
                low = middle
        return low

    def dive(self, low: int, below: int, clock: Clock | None = None) -> OrderLists | None:
        """Return orders that end before a moment, if some are found soon.

        Where a moment is hardly late enough, windows leave little, and what they leave is good: so
        orders are looked for there first.

        Parameters
        ----------
        low, below : int
            A moment before which no orders end, and the one asked for.
        clock : Clock, optional
        """
        for part in DIVES:
            moment = min(below, low + max(1, (below - low) // part))
            found = self.search(moment, DIVE_NODES * self.blocks, clock, first=True)
            if found.orders is not None:
                return found.orders
        return None

    def search(
        self, below: int, most_work: int, clock: Clock | None, *, first: bool = False
    ) -> OrdersFound:
        """Return the shortest orders that end before a moment, or show that there are none.

        Parameters
        ----------
        below : int
        most_work : int
            Blocks of corridors after which the search gives up.
        clock : Clock, optional
        first : bool
            Whether the first orders that are found are enough.
        """
        best: OrderLists | None = None
        waiting, work = [self.everything()], 0
        parts: list[tuple[int, ...]] = []
        while waiting:
            if work + self.blocks > most_work or (clock is not None and clock.expired):
                return OrdersFound(best, False, work, parts)
            left = waiting.pop()
            work += self.blocks
            pair = None
            if self.narrow(left, below):
                pair = self.pair(left)
                if pair is None:
                    orders = path_orders(self.shop, left.few.tolist())
                    makespan = self._makespan(orders)
                    if makespan is not None and makespan < below:
                        best, below = orders, makespan
                        if first:
                            return OrdersFound(best, False, work, parts)
            parts.append(pair or ())
            if pair is not None:
                waiting += _halves(left, *pair)
        return OrdersFound(best, True, work, parts)

    def _makespan(self, orders: OrderLists) -> int | None:
        """Return the makespan of orders; None if blocks wait for each other."""
        try:
            return simulate(self.shop, orders).makespan
        except DeadlockError:
            return None


def longest_schedule(shop: Shop) -> int:
    """Return the makespan of serving one block at a time, in units."""
    blocks = shop.num_microbatches * (sum(shop.fwd) + sum(shop.bwd))
    return blocks + max(shop.allreduce)


def _halves(left: _Windows, q: int, j: int, i: int) -> list[_Windows]:
    """Return what is left with a forward before a backward block, and with it after that."""
    ahead, behind = left, left.copy()
    np.maximum(ahead.few[q, j:], i + 1, out=ahead.few[q, j:])
    np.minimum(behind.most[q, : j + 1], i, out=behind.most[q, : j + 1])
    return [ahead, behind]


def path_orders(shop: Shop, few: Sequence[Sequence[int]]) -> OrderLists:
    """Return the orders of a corridor that holds one path for each machine."""
    count = shop.num_microbatches
    orders = []
    for q, row in enumerate(few):
        order, done = [], 0
        for j, k in enumerate([count] * count if shop.full_duplex and q % 2 else row):
            order += [*range(done + 1, k + 1), -j - 1]
            done = max(done, k)
        orders.append([*order, *range(done + 1, count + 1)])
    return orders
