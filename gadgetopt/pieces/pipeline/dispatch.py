"""Schedules by events: machines without an order serve what comes first.

A machine without an order takes the block that has been ready longest; among equally long ones
backward blocks first, then the smaller microbatch. With tails it takes the ready block after which
most time has to pass. Every event costs O(log(M S)).
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence

from gadgetopt.pieces.pipeline.shop import Shop
from gadgetopt.pieces.pipeline.simulator import DeadlockError, Schedule

Tails = tuple[Sequence[Sequence[int]], Sequence[Sequence[int]]]


def dispatch(
    shop: Shop,
    orders: Sequence[Sequence[int] | None],
    tails: Tails | None = None,
    released: Sequence[int] | None = None,
) -> Schedule:
    """Return the schedule of machines of which only some have an order.

    Parameters
    ----------
    shop : Shop
    orders : sequence of (sequence of int or None)
        Order of each machine q = 0..2S-2; None for first come, first served. A stage without an
        order holds back forwards while `max_in_flight` microbatches are in flight.
    tails : pair of tables, optional
        For forward and backward blocks, by machine and microbatch m - 1: the larger goes first.
    released : sequence of int, optional
        Moment before which no block starts on each machine; 0 by default.

    Raises
    ------
    DeadlockError
        If blocks wait for each other.
    """
    run = _Dispatch(shop, orders, tails, released)
    run.to_the_end()
    return Schedule(shop, run.done, run.fwd_start, run.bwd_start)


def channels_first_come(stage_orders: Sequence[Sequence[int]]) -> list[Sequence[int] | None]:
    """Return the orders of all machines from those of the stages; channels have none."""
    return [order for n in stage_orders for order in (n, None)][:-1]


class _Dispatch:
    def __init__(
        self,
        shop: Shop,
        orders: Sequence[Sequence[int] | None],
        tails: Tails | None,
        released: Sequence[int] | None,
    ):
        self.released = released or [0] * shop.num_machines
        self.shop = shop
        self.tails = tails
        self.orders = orders
        self.last = shop.num_machines - 1
        count = shop.num_microbatches
        self.fwd_start = [[-1] * count for _ in range(self.last + 1)]
        self.bwd_start = [[-1] * count for _ in range(self.last + 1)]
        self.done: list[list[int]] = [[] for _ in range(self.last + 1)]
        self.ready: list[set[int]] = [set() for _ in range(self.last + 1)]
        #: Ready blocks of machines without an order, with the moment they became ready.
        self.forwards: list[deque[tuple[int, int]]] = [deque() for _ in range(self.last + 1)]
        self.backwards: list[deque[tuple[int, int]]] = [deque() for _ in range(self.last + 1)]
        #: The directions that are busy; 0 both or backward, 1 forward of a full duplex channel.
        self.busy: list[set[int]] = [set() for _ in range(self.last + 1)]
        self.in_flight = [0] * shop.num_stages
        self.position: dict[tuple[int, int], int] = {}
        self.lists: dict[tuple[int, int], list[int]] = {}
        for q, order in enumerate(orders):
            if order is not None:
                for lane in self.lanes(q):
                    self.lists[q, lane] = [m for m in order if self.lane(q, m) == lane]
                    self.position[q, lane] = 0
        self.events: list[tuple[int, int, int]] = []

    def lanes(self, q: int) -> tuple[int, ...]:
        """Return the independent servers of a machine."""
        return (0, 1) if self.shop.full_duplex and q % 2 else (0,)

    def lane(self, q: int, code: int) -> int:
        """Return the server of a block."""
        return 1 if self.shop.full_duplex and q % 2 and code > 0 else 0

    def to_the_end(self) -> None:
        """Run all events."""
        for m in range(1, self.shop.num_microbatches + 1):
            self.arrive(0, 0, m)
        self.start_all(0, {0})
        for q, moment in enumerate(self.released):
            if moment:
                heapq.heappush(self.events, (moment, q, 0))
        while self.events:
            now = self.events[0][0]
            touched: set[int] = set()
            while self.events and self.events[0][0] == now:
                _, q, code = heapq.heappop(self.events)
                touched |= self.finish(now, q, code)
            self.start_all(now, touched)
        waiting = [(q, code) for q in range(self.last + 1) for code in self.waiting_blocks(q)]
        if waiting:
            raise DeadlockError(waiting)

    def waiting_blocks(self, q: int) -> list[int]:
        """Return the next block of each server of a machine that is not done."""
        if self.orders[q] is None:
            return sorted(self.ready[q])[:1]
        heads = [(self.lists[q, lane], self.position[q, lane]) for lane in self.lanes(q)]
        return [order[k] for order, k in heads if k < len(order)]

    def arrive(self, now: int, q: int, code: int) -> None:
        """Make a block ready."""
        self.ready[q].add(code)
        if self.orders[q] is None:
            (self.forwards if code > 0 else self.backwards)[q].append((now, code))

    def finish(self, now: int, q: int, code: int) -> set[int]:
        """End a block; return the machines that may start something now."""
        if code == 0:  # the machine is released
            return {q}
        self.busy[q].discard(self.lane(q, code))
        if code > 0:
            to, following = (q + 1, code) if q < self.last else (q, -code)
        else:
            to, following = q - 1, code
            if q % 2 == 0:
                self.in_flight[q // 2] -= 1
        if to >= 0:
            self.arrive(now, to, following)
        return {q, max(to, 0)}

    def start_all(self, now: int, machines: set[int]) -> None:
        """Start what can start on these machines."""
        for q in sorted(machines):
            if now < self.released[q]:
                continue
            for lane in self.lanes(q):
                if lane in self.busy[q]:
                    continue
                code = self.next_block(q, lane)
                if code is not None:
                    self.start(now, q, lane, code)

    def next_block(self, q: int, lane: int) -> int | None:
        """Return the block that a free server takes, or None if it has to wait."""
        if self.orders[q] is not None:
            order, k = self.lists[q, lane], self.position[q, lane]
            if k == len(order) or order[k] not in self.ready[q]:
                return None
            self.position[q, lane] += 1
            return order[k]
        forward, backward = self.forwards[q], self.backwards[q]
        if len(self.lanes(q)) == 2:
            queue = forward if lane else backward
            return queue.popleft()[1] if queue else None
        full = q % 2 == 0 and self.in_flight[q // 2] >= self.shop.max_in_flight[q // 2]
        can_forward = bool(forward) and not full
        if backward and not (can_forward and self.forward_first(q, forward[0], backward[0])):
            return backward.popleft()[1]
        return forward.popleft()[1] if can_forward else None

    def forward_first(self, q: int, forward: tuple[int, int], backward: tuple[int, int]) -> bool:
        """Return True if of the first ready blocks of both directions the forward one is next."""
        if self.tails is None:
            return forward[0] < backward[0]
        return self.tails[0][q][forward[1] - 1] > self.tails[1][q][-backward[1] - 1]

    def start(self, now: int, q: int, lane: int, code: int) -> None:
        """Start a block."""
        shop, m = self.shop, abs(code)
        self.busy[q].add(lane)
        self.ready[q].discard(code)
        self.done[q].append(code)
        if code > 0:
            self.fwd_start[q][m - 1] = now
            if q % 2 == 0:
                self.in_flight[q // 2] += 1
        else:
            self.bwd_start[q][m - 1] = now
        heapq.heappush(self.events, (now + (shop.fwd if code > 0 else shop.bwd)[q], q, code))
