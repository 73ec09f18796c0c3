"""List scheduling: the operation that can start first runs next; ties are broken by a rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ..cells import Cell, Operation
from ..instance import PipelineSchedulesInstance

#: A rank of an operation among those that can start at the same time; the least runs.
Rank = Callable[[Operation], tuple[int, ...]]
#: True if an operation may start, given when, and when the next F or I of each device could.
Rule = Callable[["ListSchedule", int, Operation, Mapping[int, int]], bool]


@dataclass
class ListSchedule:
    """Devices that are filled one operation after the other, in ticks.

    A forward starts only if its device then has room for the same microbatch on its later stages,
    so that memory never stops all devices of a route.

    Attributes
    ----------
    most_in_flight : sequence of int
        Of each stage: forwards whose I is not done.
    fused : bool
        True if I and W of a microbatch are one cell B.
    """

    instance: PipelineSchedulesInstance
    most_in_flight: Sequence[int]
    fused: bool
    free: list[int] = field(init=False)
    ticks: dict[tuple[int, str], int] = field(init=False)
    ends: dict[Operation, int] = field(init=False, default_factory=dict)
    orders: list[list[Cell]] = field(init=False)

    def __post_init__(self) -> None:
        self.free = [0] * self.instance.num_devices
        self.orders = [[] for _ in self.free]
        self._next = {(s, kind): 0 for s in range(len(self.instance.stages)) for kind in "FIW"}
        self._levels = [0] * self.instance.num_devices
        per_s, bytes_ = self.instance.ticks_per_s, self.instance.units_per_byte
        self.ticks = {
            (s, kind): int(value * per_s)
            for s, stage in enumerate(self.instance.stages)
            for kind, value in (
                ("F", stage.fwd_s),
                ("I", stage.input_grad_s),
                ("W", stage.weight_grad_s),
                ("c", stage.transfer_s),
            )
        }
        self._bytes = [
            (int(s.act_bytes * bytes_), int(s.weight_act_bytes * bytes_))
            for s in self.instance.stages
        ]
        self._later = [self._of_later_stages(s) for s in range(len(self._bytes))]
        room = self.instance.memory_bytes
        self._room = None if room is None else [int(x * bytes_) for x in room]
        self._choices: list[list[tuple[int, Operation]]] = [[] for _ in self.free]
        for device in range(len(self.free)):
            self._choose(device)

    def _of_later_stages(self, s: int) -> int:
        """Return the bytes of a microbatch on the later stages of the same device and route."""
        total, r = 0, self.instance.next_stage[s]
        while r is not None:
            if self.instance.stages[r].device == self.instance.stages[s].device:
                total += self._bytes[r][0]
            r = self.instance.next_stage[r]
        return total

    def run(self, rank: Rank, rule: Rule | None = None) -> list[list[Cell]] | None:
        """Return the cells of each device, None if memory or the limits leave nothing to run.

        A rule may put off an operation as long as another one can run.
        """
        for _ in range(self._steps()):
            choices = self.choices()
            if not choices:
                return None
            kept = choices
            if rule is not None:
                arrivals = self._arrivals(choices)
                kept = [choice for choice in choices if rule(self, *choice, arrivals)] or choices
            start, _, op = min((start, rank(op), op) for start, op in kept)
            self._append(op, start)
        return self.orders

    def choices(self) -> list[tuple[int, Operation]]:
        """Return the operations whose predecessors are done, and when each can start."""
        return [choice for choices in self._choices for choice in choices]

    def _choose(self, device: int) -> None:
        """Bring the choices of a device up to date."""
        self._choices[device] = [
            (max(ready, self.free[device]), op)
            for op in self._candidates(device)
            if (ready := self._ready(op)) is not None
        ]

    def _arrivals(self, choices: Sequence[tuple[int, Operation]]) -> dict[int, int]:
        """Return when the first F or I can start on each device that has one."""
        found: dict[int, int] = {}
        for start, op in choices:
            if op.kind != "W":
                device = self.instance.stages[op.stage].device
                found[device] = min(start, found.get(device, start))
        return found

    def _steps(self) -> int:
        kinds = 2 if self.fused else 3
        return kinds * sum(self.instance.microbatches)

    def _candidates(self, device: int) -> list[Operation]:
        return [
            Operation(s, kind, j)
            for s in self.instance.stages_of_device[device]
            for kind in ("FI" if self.fused else "FIW")
            if (j := self._next[s, kind]) < self.instance.microbatches[s]
        ]

    def _ready(self, op: Operation) -> int | None:
        """Return when an operation can start, None if not yet known or memory forbids it."""
        s, kind, j = op
        if kind == "W":
            return self.ends.get(op._replace(kind="I"))
        near = self.instance.previous_stage[s] if kind == "F" else self.instance.next_stage[s]
        ready = 0
        if kind == "I":
            if (end := self.ends.get(op._replace(kind="F"))) is None:
                return None
            ready = end
        elif not self._fits(s):
            return None
        if near is not None:
            if (end := self.ends.get(Operation(near, kind, j))) is None:
                return None
            ready = max(ready, end + self._transfer(min(s, near), s, near))
        return ready

    def _transfer(self, first: int, s: int, near: int) -> int:
        stages = self.instance.stages
        return 0 if stages[s].device == stages[near].device else self.ticks[first, "c"]

    def _fits(self, s: int) -> bool:
        if self._next[s, "F"] - self._next[s, "I"] >= self.most_in_flight[s]:
            return False
        if self._room is None:
            return True
        device = self.instance.stages[s].device
        return self._levels[device] + self._bytes[s][0] + self._later[s] <= self._room[device]

    def _append(self, op: Operation, start: int) -> None:
        s, kind, _ = op
        device, (held, weight) = self.instance.stages[s].device, self._bytes[s]
        end = start + self.ticks[s, kind]
        self.ends[op], self._next[s, kind] = end, self._next[s, kind] + 1
        if kind == "I" and self.fused:
            self.orders[device].append((op._replace(kind="B"),))
            end += self.ticks[s, "W"]
            self._levels[device] -= held
        else:
            self.orders[device].append((op,))
            freed = {"F": -held, "I": held - weight, "W": weight}[kind]
            self._levels[device] -= freed
        self.free[device] = end
        near = (self.instance.previous_stage[s], self.instance.next_stage[s])
        for d in {device, *(self.instance.stages[r].device for r in near if r is not None)}:
            self._choose(d)
