"""List schedules: a device that is free executes, by a rule, an operation that is there.

Published schedules that are built for the times at hand differ in the rule, and so do the
heuristics.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence

from ..cells import Cell, Operation
from ..shop import Shop

#: A rank of an operation among those that are there; the least runs.
Rank = Callable[[Operation], tuple[int, ...]]


class ListSchedule(ABC):
    """Devices that are filled as time goes on; `chosen` is the rule.

    A forward begins only if its device then has room for the same microbatch on its later stages,
    so that memory never stops all devices of a route.

    Parameters
    ----------
    shop : Shop
    in_flight : sequence of int, optional
        Of each stage: forwards that it may be ahead of its I's; None: as memory allows.
    fused : bool
        True if a device executes I and W of a microbatch as one B.

    Attributes
    ----------
    cells : list of list of Cell
        Of each device so far.
    done : dict
        Of a stage and a kind: how many operations have begun.
    pending : list of int
        Of each device: W's whose I is done.
    idle : list of int
        Of each device: ticks between its operations so far.
    """

    def __init__(self, shop: Shop, in_flight: Sequence[int] | None = None, *, fused: bool = False):
        self.shop, self.in_flight, self.fused = shop, in_flight, fused
        devices, stages = range(len(shop.on_device)), range(len(shop.device))
        self.cells: list[list[Cell]] = [[] for _ in devices]
        self.done = {(s, kind): 0 for s in stages for kind in "FIW"}
        # When operations are there, those that their device has not begun yet.
        self._there: dict[tuple[int, str], deque[int]] = {key: deque() for key in self.done}
        for route in shop.routes:
            self._there[route[0], "F"].extend([0] * shop.microbatches[route[0]])
        self.pending, self.idle, self._level, self._free = ([0] * len(devices) for _ in range(4))
        self._events = [(0, d) for d in devices]
        # Room for the later stages of one microbatch on the device, so that it can go on.
        self._reserve = [
            sum(shop.a[q] for q in shop.on_device[shop.device[s]] if s < q <= shop.route_of[s][-1])
            for s in stages
        ]

    @abstractmethod
    def chosen(self, device: int, now: int) -> Operation | None:
        """Return what a free device executes now, None if it waits for the next operation."""

    def run(self) -> list[list[Cell]] | None:
        """Return the cells of each device; None if memory or the rule stops all before the end."""
        while self._events:
            now, d = heapq.heappop(self._events)
            if self._free[d] <= now:
                op = self.chosen(d, now)
                if op is not None:
                    self._execute(d, op, now)
        kinds = 2 if self.fused else 3
        done = sum(map(len, self.cells))
        return self.cells if done == kinds * sum(self.shop.microbatches) else None

    def next(self, s: int, kind: str) -> Operation:
        """Return the next operation of a stage."""
        return Operation(s, kind, self.done[s, kind])

    def arrival(self, s: int, kind: str) -> int | None:
        """Return when the next operation of a stage is there, None if that is not known yet."""
        times = self._there[s, kind]
        return times[0] if times else None

    def fits(self, s: int) -> bool:
        """Return True if there is room for a forward of a stage."""
        shop, d = self.shop, self.shop.device[s]
        ahead = self.done[s, "F"] - self.done[s, "I"]
        if self.in_flight is not None and ahead >= self.in_flight[s]:
            return False
        if shop.capacity is None:
            return True
        return self._level[d] + shop.a[s] + self._reserve[s] <= shop.capacity[d]

    def arrivals(self, device: int, kinds: str) -> Iterator[tuple[int, Operation]]:
        """Yield the next operations of a device that have room, and when they are there."""
        for s in self.shop.on_device[device]:
            for kind in kinds:
                time = self.arrival(s, kind)
                if time is not None and (kind != "F" or self.fits(s)):
                    yield time, self.next(s, kind)

    def oldest_weight(self, device: int) -> Operation | None:
        """Return the W of the first I among those that a device could execute."""
        return min(self.arrivals(device, "W"))[1] if self.pending[device] else None

    def _execute(self, d: int, op: Operation, now: int) -> None:
        shop, (s, kind, _) = self.shop, op
        if self.cells[d]:
            self.idle[d] += now - self._free[d]
        self._there[s, kind].popleft()
        self.done[s, kind] += 1
        end = now + {"F": shop.f, "I": shop.i, "W": shop.w}[kind][s]
        if kind == "F":
            self._level[d] += shop.a[s]
            if s + 1 in shop.route_of[s]:
                self._arrives(s + 1, "F", end + shop.lag[s])
            else:
                self._arrives(s, "I", end)
        elif kind == "I":
            self._level[d] -= shop.a[s] - shop.g[s]
            if s - 1 in shop.route_of[s]:
                self._arrives(s - 1, "I", end + shop.lag[s - 1])
            if self.fused:
                op = op._replace(kind="B")
                end += shop.w[s]
                self._level[d] -= shop.g[s]
            else:
                self._there[s, "W"].append(end)
                self.pending[d] += 1
        else:
            self._level[d] -= shop.g[s]
            self.pending[d] -= 1
        self.cells[d].append((op,))
        self._free[d] = end
        heapq.heappush(self._events, (end, d))

    def _arrives(self, s: int, kind: str, time: int) -> None:
        self._there[s, kind].append(time)
        heapq.heappush(self._events, (time, self.shop.device[s]))


class Ranked(ListSchedule):
    """Of the operations that are there, the one of least rank runs."""

    def __init__(
        self,
        shop: Shop,
        rank: Rank,
        in_flight: Sequence[int] | None = None,
        *,
        fused: bool = False,
    ):
        super().__init__(shop, in_flight, fused=fused)
        self.rank = rank

    def chosen(self, device: int, now: int) -> Operation | None:
        """Return the operation of least rank among those that are there."""
        there = [op for time, op in self.arrivals(device, "FIW") if time <= now]
        return min(there, key=lambda op: (self.rank(op), op), default=None)
