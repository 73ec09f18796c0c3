r"""The constraint program of all options: which tasks are executed, and when.

Variables: a literal for each choice; a start for each task, executed if one of its choices is made;
a time for each event; and Z.

.. math::
    \min\ & Z                                                                      \tag{O1} \\
    & \text{of each group of choices one is made}                                  \tag{O2} \\
    & \text{a task that is executed fixes the events of its start and end}         \tag{O3} \\
    & e \ge e' + \text{lag for an event e that waits for } e'                      \tag{O4} \\
    & \text{no overlap of the tasks of a machine}                                  \tag{O5} \\
    & \text{reservoir: what tasks take and free of a device's memory}              \tag{O6} \\
    & \text{copies of a device are done in the order of what gives order for them} \tag{O7} \\
    & Z \ge \text{the end of each task, less the first start of its machine for a period} \tag{O8}

That microbatches are in order (C6) costs something here: they may differ in their choices. So only
forwards of the first stage are in order, as microbatches are alike.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

from ortools.sat.python import cp_model

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.solvers.cpsat import value_of

from ..instance import PipelineSchedulesInstance, PipelineSchedulesSolution
from ..shop import MOST_TICKS, MOST_UNITS
from .tasks import Event, Machine, Task, Tasks, orders_of

#: Tasks that take no time: those that free memory come before those that take it.
_RANK = {"O": 0, "L": 1}


class TasksModel:
    """The variables, and one method per family of constraints.

    Parameters
    ----------
    tasks : Tasks
    most : int
        Z is at most this.
    """

    def __init__(self, tasks: Tasks, most: int):
        self.tasks, self.horizon = tasks, tasks.horizon
        if self.horizon >= MOST_TICKS:
            raise ModelRefused(f"routes: times of {self.horizon} ticks together, too many digits")
        if tasks.capacity is not None and sum(t.takes for t in tasks.tasks) >= MOST_UNITS:
            raise ModelRefused("memory_bytes: too many digits")
        self.model: cp_model.CpModel = cp_model.CpModel()
        model = self.model
        self.chosen = [model.new_bool_var(f"choice {n}") for n in range(tasks.num_choices)]
        self.event: dict[Event, cp_model.IntVar] = {
            event: model.new_int_var(0, self.horizon, str(event)) for event in tasks.events
        }
        self.executed = [self._executed(task) for task in tasks.tasks]
        self.start = [
            model.new_int_var(0, self.horizon, f"start {n}") for n in range(len(tasks.tasks))
        ]
        self.length: cp_model.IntVar = model.new_int_var(0, most, "Z")
        self.one_of_each_group()
        self.tasks_fix_events()
        self.events_wait()
        self.machines_execute_one_task_at_a_time()
        self.memory_suffices()
        self.copies_are_done_in_turn()
        self.length_spans_every_machine()

    def _executed(self, task: Task) -> cp_model.IntVar | None:
        """Return the literal of a task; None if it is always executed."""
        if not task.choices:
            return None
        if len(task.choices) == 1:
            return self.chosen[task.choices[0]]
        literal = self.model.new_bool_var("executed")
        self.model.add(sum(self.chosen[n] for n in task.choices) == literal)
        return literal

    def _literals(self, *numbers: int) -> list[cp_model.IntVar]:
        found = (self.executed[n] for n in numbers)
        return [literal for literal in found if literal is not None]

    def end(self, n: int) -> cp_model.LinearExpr:
        """Return when a task ends."""
        return self.start[n] + self.tasks.tasks[n].duration

    def one_of_each_group(self) -> None:
        """(O2)."""
        for group in self.tasks.groups:
            self.model.add_exactly_one(self.chosen[n] for n in group)

    def tasks_fix_events(self) -> None:
        """(O3)."""
        for n, task in enumerate(self.tasks.tasks):
            for event in task.starts:
                same = self.model.add(self.event[event] == self.start[n])
                same.only_enforce_if(self._literals(n))
            for event in task.ends:
                same = self.model.add(self.event[event] == self.end(n))
                same.only_enforce_if(self._literals(n))

    def events_wait(self) -> None:
        """(O4)."""
        for event, other, lag in self.tasks.waits:
            self.model.add(self.event[event] >= self.event[other] + lag)

    def machines_execute_one_task_at_a_time(self) -> None:
        """(O5)."""
        for mine in self.tasks.machines.values():
            intervals = []
            for n in mine:
                start, ticks, name = self.start[n], self.tasks.tasks[n].duration, f"run {n}"
                literal = self.executed[n]
                intervals.append(
                    self.model.new_fixed_size_interval_var(start, ticks, name)
                    if literal is None
                    else self.model.new_optional_fixed_size_interval_var(
                        start, ticks, literal, name
                    )
                )
            self.model.add_no_overlap(intervals)

    def memory_suffices(self) -> None:
        """(O6)."""
        if self.tasks.capacity is None:
            return
        for d, capacity in enumerate(self.tasks.capacity):
            times: list[cp_model.LinearExprT] = []
            changes: list[int] = []
            active: list[cp_model.IntVar | bool] = []
            for n in self.tasks.machines["device", d]:
                task, literal = self.tasks.tasks[n], self.executed[n]
                for time, change in ((self.start[n], task.takes), (self.end(n), -task.frees)):
                    if change:
                        times.append(time)
                        changes.append(change)
                        active.append(True if literal is None else literal)
            if changes:
                self.model.add_reservoir_constraint_with_active(times, changes, active, 0, capacity)

    def copies_are_done_in_turn(self) -> None:
        """(O7)."""
        tasks, model = self.tasks.tasks, self.model
        for (p, first, done), (q, begin, end) in itertools.combinations(self.tasks.copies, 2):
            if tasks[p].machine != tasks[q].machine:
                continue
            before, literals = model.new_bool_var("before"), self._literals(p, q)
            for literal, a, b, ordered, ordering in (
                (before, p, q, done, begin),
                (before.negated(), q, p, end, first),
            ):
                both = [*literals, literal]
                model.add(self.start[b] >= self.end(a)).only_enforce_if(both)
                model.add(self.event[ordering] >= self.event[ordered]).only_enforce_if(both)

    def length_spans_every_machine(self) -> None:
        """(O8)."""
        begin: dict[Machine, cp_model.LinearExprT] = {}
        for n, task in enumerate(self.tasks.tasks):
            if task.spans not in begin:
                begin[task.spans] = (
                    self.model.new_int_var(0, self.horizon, "begin") if self.tasks.period else 0
                )
            spans = self.model.add(self.length >= self.end(n) - begin[task.spans])
            spans.only_enforce_if(self._literals(n))
            if self.tasks.period:
                begins = self.model.add(begin[task.spans] <= self.start[n])
                begins.only_enforce_if(self._literals(n))

    def decode(
        self, values: Floats, instance: PipelineSchedulesInstance
    ) -> PipelineSchedulesSolution:
        """Return the orders of the starts.

        What takes no time comes before what starts with it, and copies back in their order.
        """
        copied = {
            self.tasks.tasks[n].starts[0][1:]: values[self.start[n].index]
            for n, *_ in self.tasks.copies
            if self.tasks.tasks[n].starts[0][0] == "copy back starts"
        }

        def key(n: int) -> tuple[float, bool, int, float]:
            task = self.tasks.tasks[n]
            (op, *_) = task.cell
            back = copied.get((op.stage, op.microbatch), 0) if op.kind == "L" else 0
            start = values[self.start[n].index]
            return start, task.duration > 0, _RANK.get(op.kind, 2), back

        executed = [
            n
            for n, task in enumerate(self.tasks.tasks)
            if task.cell and all(value_of(values, x) for x in self._literals(n))
        ]
        return orders_of(instance, self.tasks.tasks, sorted(executed, key=key))


def question(tasks: Tasks, most: Fraction) -> TasksModel:
    """Return the model of schedules of at most so many ticks, exactly."""
    return TasksModel(tasks.scaled(most.denominator), most.numerator)
