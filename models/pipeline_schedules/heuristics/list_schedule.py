"""List schedules: each device that is free executes, by a rule, an operation that is ready.

Rules differ in how many microbatches a device may have in flight, how many W's it keeps for later,
and whether it waits for an I that comes soon.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass

from ..cells import Operation
from ..formulations.decoding import duration
from ..shop import Shop


@dataclass(frozen=True)
class Rule:
    """How a device chooses.

    Attributes
    ----------
    in_flight : tuple of int, optional
        Of each stage: forwards that it may be ahead of its I's; None: as memory allows.
    kept : tuple of int, optional
        Of each device: W's that it keeps for later while there is anything else; None: all.
    forward_first : bool
        F before I where both are ready; else I before F.
    patience : tuple of int, optional
        Of each device: ticks that it waits for an I or F rather than begin a W that would delay it;
        None: not at all.
    late_stages_first : bool
        Of several stages of a device the later one before the earlier.
    """

    in_flight: tuple[int, ...] | None = None
    kept: tuple[int, ...] | None = None
    forward_first: bool = False
    patience: tuple[int, ...] | None = None
    late_stages_first: bool = True


class ListScheduler:
    """One run of a rule on a shop.

    Attributes
    ----------
    orders : list of list of Operation
        Of each device so far.
    """

    def __init__(self, shop: Shop, rule: Rule):
        self.shop, self.rule = shop, rule
        devices, stages = range(len(shop.on_device)), range(len(shop.device))
        self.orders: list[list[Operation]] = [[] for _ in devices]
        self.ready: dict[tuple[int, str], deque[int]] = {
            (s, kind): deque() for s in stages for kind in "FI"
        }
        self.pending: list[deque[Operation]] = [deque() for _ in devices]
        self.done: dict[tuple[int, str], int] = dict.fromkeys(self.ready, 0)
        self.level, self.free = ([0] * len(devices) for _ in range(2))
        self.events: list[tuple[int, int]] = []
        for route in shop.routes:
            self.ready[route[0], "F"].extend([0] * shop.microbatches[route[0]])
        # Room for the later stages of one microbatch on the device, so that it can go on.
        self.reserve = [
            sum(shop.a[q] for q in shop.on_device[shop.device[s]] if s < q <= shop.route_of[s][-1])
            for s in stages
        ]

    def run(self) -> list[list[Operation]] | None:
        """Return the orders; None if the rule comes to a stop before all is done."""
        devices = range(len(self.orders))
        self.events = [(0, d) for d in devices]
        while self.events:
            now, d = heapq.heappop(self.events)
            if self.free[d] <= now:
                op = self._chosen(d, now)
                if op is not None:
                    self._execute(d, op, now)
        done = sum(map(len, self.orders))
        return self.orders if done == 3 * sum(self.shop.microbatches) else None

    def _chosen(self, d: int, now: int) -> Operation | None:
        """Return what a free device executes now, if anything."""
        kinds = "FI" if self.rule.forward_first else "IF"
        pending = self.pending[d]
        if pending and self.rule.kept is not None and len(pending) > self.rule.kept[d]:
            return pending.popleft()
        stages = self.shop.on_device[d]
        soon = None
        blocked = False
        for kind in kinds:
            for s in reversed(stages) if self.rule.late_stages_first else stages:
                queue = self.ready[s, kind]
                if not queue:
                    continue
                fits = kind == "I" or self._fits(s)
                if fits and queue[0] <= now:
                    queue.popleft()
                    return self._next(s, kind)
                if fits:
                    soon = queue[0] if soon is None else min(soon, queue[0])
                blocked = blocked or (not fits and queue[0] <= now)
        if not pending:
            return None
        waits = self.rule.patience
        if not blocked and waits is not None and soon is not None:
            w = duration(self.shop, pending[0])
            if soon < now + w and soon - now <= waits[d]:
                return None
        return pending.popleft()

    def _next(self, s: int, kind: str) -> Operation:
        j = self.done[s, kind]
        self.done[s, kind] += 1
        return Operation(s, kind, j)

    def _fits(self, s: int) -> bool:
        """Return True if a forward of a stage may begin."""
        shop, d = self.shop, self.shop.device[s]
        ahead = self.done[s, "F"] - self.done[s, "I"]
        if self.rule.in_flight is not None and ahead >= self.rule.in_flight[s]:
            return False
        room = None if shop.capacity is None else shop.capacity[d] - self.level[d]
        return room is None or shop.a[s] + self.reserve[s] <= room

    def _execute(self, d: int, op: Operation, now: int) -> None:
        shop, s = self.shop, op.stage
        end = now + duration(shop, op)
        self.orders[d].append(op)
        self.free[d] = end
        heapq.heappush(self.events, (end, d))
        if op.kind == "F":
            self.level[d] += shop.a[s]
            if s + 1 in shop.route_of[s]:
                self._arrives(s + 1, "F", end + shop.lag[s])
            else:
                self._arrives(s, "I", end)
        elif op.kind == "I":
            self.level[d] -= shop.a[s] - shop.g[s]
            self.pending[d].append(Operation(s, "W", op.microbatch))
            if s - 1 in shop.route_of[s]:
                self._arrives(s - 1, "I", end + shop.lag[s - 1])
        else:
            self.level[d] -= shop.g[s]

    def _arrives(self, s: int, kind: str, time: int) -> None:
        self.ready[s, kind].append(time)
        heapq.heappush(self.events, (time, self.shop.device[s]))
