r"""Shortest orders of a plan's blocks by branch and bound, in whole numbers and without a solver.

Some optimal schedule serves microbatches by index on every block type (`orders`), so the order of a
machine is a path: how many forward blocks come before each backward block. A *corridor* holds the
least and the largest such number, for every machine and backward block. Asked for schedules that
end before a moment T,

- every block gets a head and a tail: along its route, and after, or before, all blocks that the
  corridor puts on that side of it, which their machine serves one at a time;
- a forward and a backward block of one machine have only one order if the other one would take T
  or longer; so the corridor narrows, heads and tails grow, and so on until nothing changes;
- no schedule is left if a head, a block and its tail take T or longer, if blocks wait for each
  other, or if Jackson's preemptive schedule of a machine's blocks ends at T or later;
- if some pair of blocks still has two orders, both are tried.

On the last stage a microbatch's two blocks follow each other: exchanging a forward block that lies
between them with the backward block delays nothing. Tails are the heads of the shop in reversed
time, where a backward block is the forward block of its machine.

Narrowing by pairs is the immediate selection of J. Carlier and E. Pinson, *An algorithm for solving
the job-shop problem*, Management Science 35 (1989).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.pieces.pipeline.exact_orders.order_loops import earliest
from gadgetopt.pieces.pipeline.exact_orders.windows import (
    MOST_SEQUENCED,
    OrdersFound,
    Sequenced,
    longest_schedule,
    path_orders,
)
from gadgetopt.pieces.pipeline.orders import OrderLists
from gadgetopt.pieces.pipeline.shop import Shop
from gadgetopt.pieces.pipeline.simulator import simulate
from gadgetopt.pieces.preemption import preemptive_makespan
from gadgetopt.search.clock import Clock

#: Blocks that are looked at before loops are compiled, and the largest sums that they may hold.
#: Tuned: `benchmarks/constants.py`.
MOST_PLAIN, MOST_COMPILED = 5_000, 2**62
#: One row of numbers for each machine q = 0..2S-2.
Rows = list[list[int]]


@dataclass(frozen=True)
class Corridor:
    """How many forward blocks come before each backward block; shapes (2S-1, M).

    Attributes
    ----------
    few, most : list of list of int
        Rising along each row. On a channel of full duplex they mean nothing.
    """

    few: Rows
    most: Rows

    def copy(self) -> Corridor:
        """Return a corridor that can be narrowed for itself."""
        return Corridor([list(row) for row in self.few], [list(row) for row in self.most])

    def turned(self) -> Corridor:
        """Return the corridor of reversed time, where the last forward is the first backward."""
        return Corridor(_turned(self.few), _turned(self.most))


@dataclass(frozen=True)
class _Starts:
    """Earliest starts of all blocks; shapes (2S-1, M)."""

    fwd: Rows
    bwd: Rows


def shortest_orders(
    shop: Shop, below: int, most_work: int, clock: Clock | None = None
) -> OrdersFound:
    """Return the shortest orders among those that end before a moment, or show that there are none.

    Parameters
    ----------
    shop : Shop
    below : int
        In units of the shop.
    most_work : int
        Blocks of corridors after which the search gives up.
    clock : Clock, optional
        The search gives up when it has expired.
    """
    if shop.num_microbatches <= MOST_SEQUENCED:
        return Sequenced(shop, below).search(below, most_work, clock)
    blocks = 2 * shop.num_machines * shop.num_microbatches
    longest = longest_schedule(shop)  # no head is larger
    best: OrderLists | None = None
    waiting, work = [whole_corridor(shop)], 0
    parts: list[tuple[int, ...]] = []
    while waiting:
        if work + blocks > most_work or (clock is not None and clock.expired):
            return OrdersFound(best, False, work, parts)
        corridor = waiting.pop()
        work += blocks
        compiled = COMPILED and work > MOST_PLAIN and longest < MOST_COMPILED
        narrowed = _narrowed(shop, corridor, below, compiled)
        pair = narrowed and _widest_pair(shop, corridor, *narrowed)
        parts.append(pair or ())
        if narrowed is None:
            continue
        if pair is not None:
            waiting += _halves(corridor, *pair)
            continue
        best = path_orders(shop, corridor.few)
        below = simulate(shop, best).makespan
    return OrdersFound(best, True, work, parts)


def whole_corridor(shop: Shop) -> Corridor:
    """Return the corridor of all orders by index that `max_in_flight` allows."""
    count, last = shop.num_microbatches, shop.num_machines - 1
    few = [list(range(1, count + 1)) for _ in range(last + 1)]
    most = [[count] * count for _ in range(last + 1)]
    for n, cap in enumerate(shop.max_in_flight):
        most[2 * n] = [min(count, j + cap) for j in range(count)]
    most[last] = [min(a, b) for a, b in zip(few[last], most[last], strict=True)]
    return Corridor(few, most)


def _turned(rows: Rows) -> Rows:
    """Return, of the last forward to the first, how many backwards are after it."""
    turned = []
    for row in rows:
        count = len(row)
        turned.append([count - bisect_right(row, i) for i in reversed(range(count))])
    return turned


def _shared(shop: Shop, q: int) -> bool:
    return not (shop.full_duplex and q % 2)


def _earliest(
    shop: Shop,
    corridor: Corridor,
    fwd: Sequence[int],
    bwd: Sequence[int],
    released: Sequence[int],
    compiled: bool,
) -> _Starts | None:
    """Return earliest starts in the corridor, None if blocks wait for each other.

    Parameters
    ----------
    shop : Shop
        Which machines serve one block at a time.
    corridor : Corridor
    fwd, bwd : sequence of int
        Times of the blocks of each machine, in this direction of time.
    released : sequence of int
        Moment before which a machine serves no block.
    compiled : bool
        Whether to compute with 64 bits.
    """
    shared = [_shared(shop, q) for q in range(shop.num_machines)]
    if compiled:
        numbers = [np.array(x) for x in (fwd, bwd, released, shared, corridor.few, corridor.most)]
        heads = np.zeros((2, *numbers[-1].shape), dtype=np.int64)
        if not earliest(*numbers, *heads):
            return None
        return _Starts(*heads.tolist())
    rows = [[[0] * shop.num_microbatches for _ in shared] for _ in range(2)]
    plain = earliest.plain
    done = plain(fwd, bwd, released, shared, corridor.few, corridor.most, *rows)
    return _Starts(*rows) if done else None


def _narrowed(
    shop: Shop, corridor: Corridor, below: int, compiled: bool
) -> tuple[_Starts, _Starts] | None:
    """Narrow a corridor; return heads and tails, None if it holds no schedule that is short enough.

    Tails are of reversed time: rows begin with the last microbatch, and `fwd` is of backwards.
    """
    none = [0] * shop.num_machines
    while True:
        heads = _earliest(shop, corridor, shop.fwd, shop.bwd, none, compiled)
        turned = corridor.turned()
        tails = _earliest(shop, turned, shop.bwd, shop.fwd, shop.allreduce, compiled)
        if heads is None or tails is None:
            return None
        changed = False
        for q in range(shop.num_machines):
            blocks = _blocks(shop, heads, tails, q)
            if any(head + time + tail >= below for row in blocks for head, time, tail in row):
                return None
            if _shared(shop, q):
                narrower = _narrow(corridor.few[q], corridor.most[q], *blocks, below)
                if narrower is None:
                    return None
                changed = changed or narrower
        if not changed:
            break
    for q in range(shop.num_machines):
        fwd, bwd = _blocks(shop, heads, tails, q)
        for served in [fwd + bwd] if _shared(shop, q) else [fwd, bwd]:
            if preemptive_makespan(served) >= below:
                return None
    return heads, tails


Blocks = list[tuple[int, int, int]]


def _blocks(shop: Shop, heads: _Starts, tails: _Starts, q: int) -> tuple[Blocks, Blocks]:
    """Return head, time and tail of a machine's forward and backward blocks."""
    fwd = [(h, shop.fwd[q], t) for h, t in zip(heads.fwd[q], tails.bwd[q][::-1], strict=True)]
    bwd = [(h, shop.bwd[q], t) for h, t in zip(heads.bwd[q], tails.fwd[q][::-1], strict=True)]
    return fwd, bwd


def _narrow(few: list[int], most: list[int], fwd: Blocks, bwd: Blocks, below: int) -> bool | None:
    """Narrow one machine's corridor by pairs of blocks; return if it did, None if none is left."""
    before = list(few), list(most)
    least, largest = 0, len(fwd)
    for j, (head, time, tail) in enumerate(bwd):
        few[j] = least = max(few[j], least)
        # Would the backward block before the forward block take too long?
        while few[j] < most[j]:
            _, forward, after = fwd[few[j]]
            if head + time + forward + after < below:
                break
            few[j] = least = few[j] + 1
        # And the forward block before the backward block?
        while few[j] < most[j]:
            ready, forward, _ = fwd[most[j] - 1]
            if ready + forward + time + tail < below:
                break
            most[j] -= 1
    for j in reversed(range(len(bwd))):
        most[j] = largest = min(most[j], largest)
        if few[j] > most[j]:
            return None
    return before != (few, most)


def _widest_pair(
    shop: Shop, corridor: Corridor, heads: _Starts, tails: _Starts
) -> tuple[int, int, int] | None:
    """Return machine, backward and forward block of the pair both of whose orders cost most."""
    best, pair = -1, None
    for q in range(shop.num_machines):
        if not _shared(shop, q):
            continue
        fwd, bwd = _blocks(shop, heads, tails, q)
        for j, (head, time, tail) in enumerate(bwd):
            for i in range(corridor.few[q][j], corridor.most[q][j]):
                ready, forward, after = fwd[i]
                costs = ready + forward + time + tail, head + time + forward + after
                cost = 10 * min(costs) + max(costs)
                if cost > best:
                    best, pair = cost, (q, j, i)
    return pair


def _halves(corridor: Corridor, q: int, j: int, i: int) -> list[Corridor]:
    """Return the corridors with a forward before a backward block, and with it after that."""
    ahead, behind = corridor.copy(), corridor.copy()
    row = ahead.few[q]
    row[j:] = [max(k, i + 1) for k in row[j:]]
    row = behind.most[q]
    row[: j + 1] = [min(k, i) for k in row[: j + 1]]
    return [ahead, behind]
