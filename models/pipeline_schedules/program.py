"""What is executed for a decision: steps with durations, what each waits for, and in which order.

Steps are the operations of the cells, and with them transfers on links, copies to the host and
AllReduces. Devices, channels and copy engines execute theirs one at a time. Times are whole ticks
(`PipelineSchedulesInstance.ticks_per_s`).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from fractions import Fraction

from .cells import Cell, Operation, write_cell
from .instance import Channel, PipelineSchedulesInstance, PipelineSchedulesSolution

#: Stage and microbatch.
Key = tuple[int, int]


@dataclass
class Program:
    """Steps, numbered, and what they wait for.

    Attributes
    ----------
    names : list of str
    durations : list of int
    waits_for : list of list of (int, int)
        Of each step: steps that have to end before it starts, and the ticks between.
    devices, copies : list of list of int
        The steps of each device, and of its copy engine, in their order.
    channels : dict of list of int
        The steps of each channel, in no order.
    allreduces : list of list of int
        The AllReduces of each device's stages.
    """

    names: list[str] = field(default_factory=list)
    durations: list[int] = field(default_factory=list)
    waits_for: list[list[tuple[int, int]]] = field(default_factory=list)
    devices: list[list[int]] = field(default_factory=list)
    copies: list[list[int]] = field(default_factory=list)
    channels: dict[Channel, list[int]] = field(default_factory=dict)
    allreduces: list[list[int]] = field(default_factory=list)

    def add(self, name: str, duration: int, *waits_for: int) -> int:
        """Add a step that waits for others, and return its number."""
        self.names.append(name)
        self.durations.append(duration)
        self.waits_for.append([(step, 0) for step in waits_for])
        return len(self.names) - 1

    def waits(self) -> list[list[tuple[int, int]]]:
        """Return what each step waits for, the step before it on its machine included."""
        found = [list(waits) for waits in self.waits_for]
        for steps in (*self.devices, *self.copies):
            for before, after in itertools.pairwise(steps):
                found[after].append((before, 0))
        return found


class Builder:
    """Makes the program of orders that hold every operation once.

    Attributes
    ----------
    program : Program
    forward, gradient, weights : dict
        The step with which F, I and W of a stage and microbatch end.
    backward : dict
        The step with which I begins.
    regained : dict
        The recomputation or the copy back that I waits for.
    """

    def __init__(self, instance: PipelineSchedulesInstance, solution: PipelineSchedulesSolution):
        self.instance, self.solution = instance, solution
        self.program = Program(channels={channel: [] for channel in instance.channels})
        self.forward: dict[Key, int] = {}
        self.backward: dict[Key, int] = {}
        self.gradient: dict[Key, int] = {}
        self.weights: dict[Key, int] = {}
        self.regained: dict[Key, int] = {}
        self.copied: dict[Key, int] = {}
        self.together_s = {
            (pair.forward_stage, pair.backward_stage): pair.duration_s for pair in instance.overlaps
        }

    def build(self) -> Program:
        """Return the program."""
        for cells in self.solution.cells:
            self.program.devices.append([])
            self.program.copies.append([])
            copied = {(op.stage, op.microbatch) for cell in cells for op in cell if op.kind == "O"}
            for cell in cells:
                self._add_cell(cell, copied)
        for s, count in enumerate(self.instance.microbatches):
            for j in range(count):
                self._connect(s, j)
        self._add_allreduces()
        return self.program

    def _ticks(self, seconds: Fraction) -> int:
        return int(seconds * self.instance.ticks_per_s)

    def _step(self, name: str, seconds: Fraction) -> int:
        """Add the next step of the device at hand."""
        step = self.program.add(name, self._ticks(seconds))
        self.program.devices[-1].append(step)
        return step

    def _copy(self, name: str, stage: int, after: int) -> int:
        """Add the next step of the copy engine of the device at hand."""
        step = self.program.add(
            name, self._ticks(self.instance.stages[stage].offload_s or Fraction(0)), after
        )
        self.program.copies[-1].append(step)
        return step

    def _add_cell(self, cell: Cell, copied: set[Key]) -> None:
        op = cell[0]
        stage, key, name = self.instance.stages[op.stage], (op.stage, op.microbatch), str(op)
        if len(cell) == 2:
            after = cell[1]
            step = self._step(write_cell(cell), self.together_s[op.stage, after.stage])
            self._ends_backward(step, (after.stage, after.microbatch))
            self._ends_forward(step, key, copied)
        elif op.kind == "F":
            self._ends_forward(self._step(name, stage.fwd_s), key, copied)
        elif op.kind == "I":
            self.backward[key] = self.gradient[key] = self._step(name, stage.input_grad_s)
        elif op.kind == "W":
            self.weights[key] = self._step(name, stage.weight_grad_s)
        elif op.kind == "B" and stage.fused_saving_s is None:
            self._add_cell((op._replace(kind="I"),), copied)
            self._add_cell((op._replace(kind="W"),), copied)
        elif op.kind == "B":
            whole_s = stage.input_grad_s + stage.weight_grad_s - (stage.fused_saving_s or 0)
            self._ends_backward(self._step(name, whole_s), key)
        elif op.kind == "R":
            self.regained[key] = self._step(name, stage.fwd_s)
        elif op.kind == "O":
            step = self._step(name, Fraction(0))
            # In an order that lists O before its F, the device waits for ever.
            self.program.waits_for[step].append((self.copied.get(key, step), 0))
        else:
            self.regained[key] = self._copy(
                f"copy back {name}", op.stage, self._step(name, Fraction(0))
            )

    def _ends_forward(self, step: int, key: Key, copied: set[Key]) -> None:
        self.forward[key] = step
        if key in copied:
            self.copied[key] = self._copy(f"copy {Operation(key[0], 'O', key[1])}", key[0], step)

    def _ends_backward(self, step: int, key: Key) -> None:
        self.backward[key] = self.gradient[key] = self.weights[key] = step

    def _connect(self, s: int, j: int) -> None:
        """Let F, I and W of a microbatch on a stage wait for what they need."""
        waits_for = self.program.waits_for
        forward, backward = self.forward[s, j], self.backward[s, j]
        before, after = self.instance.previous_stage[s], self.instance.next_stage[s]
        if before is not None:
            waits_for[forward].append(self._received(before, s, "F", j))
        waits_for[backward].append((forward, 0))
        if after is not None:
            waits_for[backward].append(self._received(after, s, "I", j))
        if (s, j) in self.regained:
            waits_for[backward].append((self.regained[s, j], 0))
            waits_for[self.regained[s, j]].append((forward, 0))
        if self.weights[s, j] != self.gradient[s, j]:
            waits_for[self.weights[s, j]].append((self.gradient[s, j], 0))

    def _received(self, source: int, target: int, kind: str, j: int) -> tuple[int, int]:
        """Return the step after whose end a stage has what another sends it, and the ticks."""
        sent = (self.forward if kind == "F" else self.gradient)[source, j]
        stages = self.instance.stages
        if stages[source].device == stages[target].device:
            return sent, 0
        lag = self._ticks(stages[min(source, target)].transfer_s)
        if self.instance.links == "lag":
            return sent, lag
        step = self.program.add(str(Operation(source, kind, j)), lag, sent)
        self.program.channels[self.instance.channel(source, target)].append(step)
        return step, 0

    def _add_allreduces(self) -> None:
        """Add the AllReduce of each stage, after the last W of all stages of its weights."""
        stages = self.instance.stages
        sharing: dict[int, list[int]] = {}
        for s, stage in enumerate(stages):
            if stage.weight_group is not None:
                sharing.setdefault(stage.weight_group, []).append(s)
        for device, mine in enumerate(self.instance.stages_of_device):
            place = {step: k for k, step in enumerate(self.program.devices[device])}
            last = {
                s: max(place[self.weights[s, j]] for j in range(self.instance.microbatches[s]))
                for s in mine
            }
            found: list[int] = []
            for s in sorted(mine, key=last.__getitem__):
                group = stages[s].weight_group
                done = [
                    self.weights[r, j]
                    for r in (sharing[group] if group is not None else (s,))
                    for j in range(self.instance.microbatches[r])
                ]
                if found and not self.instance.allreduce_overlap:
                    done.append(found[-1])
                name = f"AllReduce of stage {s}"
                found.append(self.program.add(name, self._ticks(stages[s].allreduce_s), *done))
            self.program.allreduces.append(found)


def program_of(instance: PipelineSchedulesInstance, solution: PipelineSchedulesSolution) -> Program:
    """Return what is executed for orders that hold every operation once."""
    return Builder(instance, solution).build()
