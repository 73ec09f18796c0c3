"""An instance with all its options as tasks of machines, some of which are chosen.

A machine is a device, a copy engine, a link, or what executes AllReduces. A forward is kept, or
dropped and recomputed, or copied to the host and back; a backward is split or fused; a forward and
a backward may be a pair. Each is a choice, and a task is executed if one of its choices is made. A
task fixes events, such as the end of a forward, and events wait for each other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from ..cells import Cell, Operation
from ..instance import PipelineSchedulesInstance, PipelineSchedulesSolution

#: A kind, and the number of a device, channel or stage.
Machine = tuple[str, int]
#: What begins or ends, such as "F ends"; stage and microbatch.
Event = tuple[str, int, int]


@dataclass(frozen=True)
class Task:
    """What a machine may execute.

    Attributes
    ----------
    machine : Machine
    duration : int
        In ticks.
    starts, ends : tuple of Event
        The events at its start and its end.
    choices : tuple of int
        It is executed if one of them is made; none: always.
    cell : Cell
        In the order of a device, or of a link.
    takes, frees : int
        Memory of the device, from the start and from the end on.
    spans : Machine
        The machine whose iteration it belongs to.
    """

    machine: Machine
    duration: int
    starts: tuple[Event, ...]
    ends: tuple[Event, ...]
    choices: tuple[int, ...] = ()
    cell: Cell = ()
    takes: int = 0
    frees: int = 0
    spans: Machine = ("", 0)


@dataclass
class Tasks:
    """All tasks of an instance, and what they wait for.

    Attributes
    ----------
    tasks : list of Task
    groups : list of list of int
        Of the choices of each group one is made.
    waits : list of (Event, Event, int)
        The first is no sooner than so many ticks after the second.
    copies : list of (int, Event, Event)
        A copy, and begin and end of what gives order for it: a device's copies are done in turn.
    capacity : tuple of int or None
        Of each device.
    period : bool
    """

    tasks: list[Task] = field(default_factory=list)
    groups: list[list[int]] = field(default_factory=list)
    waits: list[tuple[Event, Event, int]] = field(default_factory=list)
    copies: list[tuple[int, Event, Event]] = field(default_factory=list)
    capacity: tuple[int, ...] | None = None
    period: bool = False
    num_choices: int = 0

    @cached_property
    def events(self) -> list[Event]:
        """All events, sorted."""
        fixed = (event for task in self.tasks for event in (*task.starts, *task.ends))
        waiting = (event for b, a, _ in self.waits for event in (b, a))
        return sorted({*fixed, *waiting})

    @cached_property
    def machines(self) -> dict[Machine, list[int]]:
        """The tasks of each machine."""
        found: dict[Machine, list[int]] = {}
        for n, task in enumerate(self.tasks):
            found.setdefault(task.machine, []).append(n)
        return found

    @cached_property
    def work(self) -> int:
        """All tasks one after another: no makespan of orders that end is longer."""
        return sum(task.duration for task in self.tasks) + sum(lag for *_, lag in self.waits)

    @property
    def horizon(self) -> int:
        """A time by which everything may end.

        For a period, a machine begins at most so much after another as a path from begin to end is
        long.
        """
        return self.work * (len(self.machines) if self.period else 1)

    @property
    def most_denominator(self) -> int:
        """The largest denominator, in ticks, of a makespan or period of any orders."""
        return len({task.spans for task in self.tasks}) if self.period else 1

    def scaled(self, factor: int) -> Tasks:
        """Return the tasks with ticks that are so many times shorter."""
        return replace(
            self,
            tasks=[replace(task, duration=task.duration * factor) for task in self.tasks],
            waits=[(b, a, lag * factor) for b, a, lag in self.waits],
        )

    def excluded(self, a: Task, b: Task) -> bool:
        """Return True if two tasks are never executed both."""
        return any(
            set(a.choices) <= set(group) and set(b.choices) <= set(group)
            for group in self.groups
            if a.choices and b.choices and not set(a.choices) & set(b.choices)
        )


def has_options(instance: PipelineSchedulesInstance) -> bool:
    """Return True if devices may do more than F, I and W, or AllReduces take turns."""
    names = ("recompute_act_bytes", "offload_s", "fused_saving_s")
    more = any(getattr(stage, name) is not None for stage in instance.stages for name in names)
    chunks = max(map(len, instance.stages_of_device)) > 1
    return more or bool(instance.overlaps) or (not instance.allreduce_overlap and chunks)


def tasks_of(instance: PipelineSchedulesInstance) -> Tasks:
    """Return the tasks of an instance."""
    return _Builder(instance).build()


class _Builder:
    def __init__(self, instance: PipelineSchedulesInstance):
        self.instance = instance
        memory = instance.memory_bytes
        self.found = Tasks(
            capacity=None if memory is None else tuple(map(self._units, memory)),
            period=instance.objective == "period",
        )
        # Of stage and microbatch: the choices of its forward, by what becomes of it; and all of
        # its backward.
        self.kept: dict[tuple[int, int], dict[str, list[int]]] = {}
        self.backward: dict[tuple[int, int], list[int]] = {}

    def build(self) -> Tasks:
        pairs = self.instance.overlaps
        for s, j in self._all():
            self.kept[s, j] = {how: [] for how in self._ways(s)}
            self.backward[s, j] = []
        for s, j in self._all():
            self._add_forward(s, j)
            self._add_backward(s, j)
        for pair in pairs:
            ticks, r, s = self._ticks(pair.duration_s), pair.forward_stage, pair.backward_stage
            for k in range(self.instance.microbatches[r]):
                for j in range(self.instance.microbatches[s]):
                    if (r, k) != (s, j):
                        self._add_pair(r, k, s, j, ticks)
        for s, j in self._all():
            self._add_regained(s, j)
            self._connect(s, j)
            choices = itertools.chain(*self.kept[s, j].values())
            self.found.groups += [list(choices), self.backward[s, j]]
        self._add_allreduces()
        for route in self.instance.stages_of_route:  # microbatches are alike
            for j in range(1, self.instance.microbatches[route[0]]):
                self._wait(("F starts", route[0], j), ("F starts", route[0], j - 1))
        return self.found

    def _all(self) -> Iterator[tuple[int, int]]:
        for s, count in enumerate(self.instance.microbatches):
            for j in range(count):
                yield s, j

    def _ticks(self, seconds: Fraction | None) -> int:
        return int((seconds or 0) * self.instance.ticks_per_s)

    def _units(self, amount: Fraction | None) -> int:
        return int((amount or 0) * self.instance.units_per_byte)

    def _ways(self, s: int) -> list[str]:
        stage = self.instance.stages[s]
        ways = ["keep"]
        ways += ["drop"] if stage.recompute_act_bytes is not None else []
        return ways + (["copy"] if stage.offload_s is not None else [])

    def _choice(self, *groups: list[int]) -> tuple[int]:
        number = self.found.num_choices
        self.found.num_choices += 1
        for group in groups:
            group.append(number)
        return (number,)

    def _wait(self, event: Event, other: Event, lag: int = 0) -> None:
        self.found.waits.append((event, other, lag))

    def _add(self, task: Task) -> int:
        if not task.spans[0]:
            task = replace(task, spans=task.machine)
        self.found.tasks.append(task)
        return len(self.found.tasks) - 1

    def _taken(self, s: int, how: str) -> int:
        stage = self.instance.stages[s]
        return self._units(stage.recompute_act_bytes if how == "drop" else stage.act_bytes)

    def _device(self, s: int) -> Machine:
        return "device", self.instance.stages[s].device

    def _add_forward(self, s: int, j: int) -> None:
        for how, choices in self.kept[s, j].items():
            self._add(
                Task(
                    self._device(s),
                    self._ticks(self.instance.stages[s].fwd_s),
                    (("F starts", s, j),),
                    (("F ends", s, j),),
                    self._choice(choices),
                    (Operation(s, "F", j),),
                    takes=self._taken(s, how),
                )
            )

    def _add_backward(self, s: int, j: int) -> None:
        stage, device = self.instance.stages[s], self._device(s)
        a, g = self._units(stage.act_bytes), self._units(stage.weight_act_bytes)
        i, w = self._ticks(stage.input_grad_s), self._ticks(stage.weight_grad_s)
        begin, end, done = ("B starts", s, j), ("I ends", s, j), ("W ends", s, j)
        split = self._choice(self.backward[s, j])
        self._add(Task(device, i, (begin,), (end,), split, (Operation(s, "I", j),), frees=a - g))
        begins_w = ("W starts", s, j)
        self._add(Task(device, w, (begins_w,), (done,), split, (Operation(s, "W", j),), frees=g))
        self._wait(begins_w, end)
        if stage.fused_saving_s is not None:
            fused = self._choice(self.backward[s, j])
            ticks, cell = i + w - self._ticks(stage.fused_saving_s), (Operation(s, "B", j),)
            self._add(Task(device, ticks, (begin,), (end, done), fused, cell, frees=a))

    def _add_pair(self, r: int, k: int, s: int, j: int, ticks: int) -> None:
        """Add the pair of forward k on stage r and backward j on stage s."""
        frees = self._units(self.instance.stages[s].act_bytes)
        for how, choices in self.kept[r, k].items():
            self._add(
                Task(
                    self._device(r),
                    ticks,
                    (("F starts", r, k), ("B starts", s, j)),
                    (("F ends", r, k), ("I ends", s, j), ("W ends", s, j)),
                    self._choice(choices, self.backward[s, j]),
                    (Operation(r, "F", k), Operation(s, "B", j)),
                    self._taken(r, how),
                    frees,
                )
            )

    def _add_regained(self, s: int, j: int) -> None:
        """Add the recomputation of a forward, and its copies to the host and back."""
        stage, device = self.instance.stages[s], self._device(s)
        forward, backward = ("F ends", s, j), ("B starts", s, j)
        drop = tuple(self.kept[s, j].get("drop", ()))
        if drop:
            begin, end = ("R starts", s, j), ("R ends", s, j)
            takes = self._taken(s, "keep") - self._taken(s, "drop")
            ticks, cell = self._ticks(stage.fwd_s), (Operation(s, "R", j),)
            self._add(Task(device, ticks, (begin,), (end,), drop, cell, takes=takes))
            self._wait(begin, forward)
            self._wait(backward, end)
        copy = tuple(self.kept[s, j].get("copy", ()))
        if copy:
            self._add_copies(s, j, copy)

    def _add_copies(self, s: int, j: int, copy: tuple[int, ...]) -> None:
        device, ticks = self._device(s), self._ticks(self.instance.stages[s].offload_s)
        engine, a = ("copies", device[1]), self._taken(s, "keep")
        out, back, out_cell, back_cell = (
            [(f"{name} starts", s, j), (f"{name} ends", s, j)]
            for name in ("copy", "copy back", "O", "L")
        )
        n = self._add(Task(engine, ticks, (out[0],), (out[1],), copy))
        self.found.copies.append((n, ("F starts", s, j), ("F ends", s, j)))
        n = self._add(Task(engine, ticks, (back[0],), (back[1],), copy))
        self.found.copies.append((n, back_cell[0], back_cell[1]))
        o, wait = (Operation(s, "O", j),), (Operation(s, "L", j),)
        self._add(Task(device, 0, (out_cell[0],), (out_cell[1],), copy, o, frees=a))
        self._add(Task(device, 0, (back_cell[0],), (back_cell[1],), copy, wait, takes=a))
        for event, other in (
            (out[0], ("F ends", s, j)),
            (out_cell[0], out[1]),
            (back_cell[0], out_cell[1]),
            (back[0], back_cell[1]),
            (("B starts", s, j), back[1]),
        ):
            self._wait(event, other)

    def _connect(self, s: int, j: int) -> None:
        self._wait(("B starts", s, j), ("F ends", s, j))
        before, after = self.instance.previous_stage[s], self.instance.next_stage[s]
        if before is not None:
            self._send("F", before, s, j)
        if after is not None:
            self._send("I", after, s, j)

    def _send(self, kind: str, source: int, target: int, j: int) -> None:
        """Let a stage wait for what another sends it."""
        stages = self.instance.stages
        event = ("F starts" if kind == "F" else "B starts", target, j)
        sent = (f"{kind} ends", source, j)
        near = stages[source].device == stages[target].device
        lag = 0 if near else self._ticks(stages[min(source, target)].transfer_s)
        if near or self.instance.links == "lag":
            self._wait(event, sent, lag)
            return
        channels = self.instance.channels
        machine = ("link", channels.index(self.instance.channel(source, target)))
        begin, end = (f"{kind} is sent", source, j), (f"{kind} arrives", source, j)
        self._add(Task(machine, lag, (begin,), (end,), cell=(Operation(source, kind, j),)))
        self._wait(begin, sent)
        self._wait(event, end)

    def _add_allreduces(self) -> None:
        stages, groups = self.instance.stages, [s.weight_group for s in self.instance.stages]
        for s, stage in enumerate(stages):
            device = self._device(s)
            place = s if self.instance.allreduce_overlap else device[1]
            begin, end = ("A starts", s, 0), ("A ends", s, 0)
            ticks = self._ticks(stage.allreduce_s)
            self._add(Task(("allreduce", place), ticks, (begin,), (end,), spans=device))
            for r, group in enumerate(groups):
                if r == s or (group is not None and group == groups[s]):
                    for j in range(self.instance.microbatches[r]):
                        self._wait(begin, ("W ends", r, j))


def orders_of(
    instance: PipelineSchedulesInstance, tasks: Sequence[Task], sequence: Iterable[int]
) -> PipelineSchedulesSolution:
    """Return the orders of tasks that are executed, given sorted for each machine."""
    devices: list[list[Cell]] = [[] for _ in range(instance.num_devices)]
    links: list[list[Cell]] = [[] for _ in instance.channels]
    for n in sequence:
        kind, number = tasks[n].machine
        if kind in ("device", "link"):
            (devices if kind == "device" else links)[number].append(tasks[n].cell)
    return PipelineSchedulesSolution.of(devices, links or None)
