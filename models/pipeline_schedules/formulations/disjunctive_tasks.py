r"""The disjunctive model of all options: which tasks are executed, and which is before which.

Sets: tasks a of machines, with durations :math:`p_a`; choices, of each group of which one is made;
events, fixed by tasks. Variables: :math:`y_c = 1` if choice c is made, so that
:math:`r_a = \sum_c y_c` or 1 tells whether a is executed; starts :math:`t_a`; times :math:`v_e` of
events; :math:`x_{ab} = 1` if a and b are executed and a is before b; Z; for a period the begins
:math:`\sigma_m` of machines.

.. math::
    \min\ & Z                                                                            \\
    & \sum_c y_c = 1 \text{ for each group}                                        \tag{N1} \\
    & v_e = t_a \text{ or } t_a + p_a \text{ if } r_a = 1, \quad
      v_e \ge v_{e'} + \text{lag}                                                  \tag{N2} \\
    & r_a + r_b - 1 \le x_{ab} + x_{ba} \le 1, \quad x_{ab} \le r_a, r_b           \tag{N3} \\
    & t_b \ge t_a + p_a - H (1 - x_{ab})                                           \tag{N4} \\
    & \Delta^+_b r_b + \sum_a (\Delta^+_a - \Delta^-_a) x_{ab} \le K_d
      \quad \forall b \text{ that takes memory}                                    \tag{N5} \\
    & v_{e'} \ge v_e - H (1 - x_{ab}) \text{ for copies, of what gives order for them} \tag{N6} \\
    & Z \ge t_a + p_a - \sigma_m - H (1 - r_a), \quad
      \sigma_m \le t_a + H (1 - r_a)                                               \tag{N7}
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.pyomo_numbers import coefficient

from ..instance import PipelineSchedulesInstance, PipelineSchedulesSolution
from .tasks import Task, Tasks, orders_of, tasks_of

#: Pairs of tasks; beyond, the model is too large to be of use. Tuned: `benchmarks/constants.py`.
MOST_PAIRS = 50_000


def build_tasks(instance: PipelineSchedulesInstance) -> pyo.ConcreteModel:
    """Build the model of an instance with all its options."""
    tasks = tasks_of(instance)
    pairs = list(_pairs(tasks))
    if len(pairs) > MOST_PAIRS:
        raise ModelRefused(f"routes: {len(pairs)} pairs of tasks, at most {MOST_PAIRS}")
    H, every, number = tasks.horizon, range(len(tasks.tasks)), {}
    m = pyo.ConcreteModel("disjunctive_tasks")
    m.y = pyo.Var(range(tasks.num_choices), domain=pyo.Binary, doc="the choice is made")
    m.t = pyo.Var(every, bounds=(0, H), doc="starts, ticks")
    m.v = pyo.Var(range(len(tasks.events)), bounds=(0, H), doc="events, ticks")
    m.x = pyo.Var(pairs, domain=pyo.Binary, doc="both are executed, the first before the second")
    m.Z = pyo.Var(bounds=(0, H), doc="makespan or period, ticks")
    number = {event: n for n, event in enumerate(tasks.events)}

    m.one = pyo.ConstraintList(doc="(N1): one choice of each group")
    for group in tasks.groups:
        m.one.add(sum(m.y[c] for c in group) == 1)
    m.fix = pyo.ConstraintList(doc="(N2): tasks that are executed fix events")
    for a, task in enumerate(tasks.tasks):
        slack = H * (1 - _executed(m, task))
        for event, time in (
            *((event, m.t[a]) for event in task.starts),
            *((event, m.t[a] + task.duration) for event in task.ends),
        ):
            m.fix.add(m.v[number[event]] - time <= slack)
            m.fix.add(time - m.v[number[event]] <= slack)
    m.wait = pyo.ConstraintList(doc="(N2): events wait for events")
    for event, other, lag in tasks.waits:
        m.wait.add(m.v[number[event]] >= m.v[number[other]] + lag)
    _add_orders(m, tasks, pairs, H)
    _add_memory(m, tasks)
    _add_copies(m, tasks, H)
    _add_length(m, tasks, H)
    tick = coefficient(Fraction(1, instance.ticks_per_s))
    m.objective = pyo.Objective(expr=tick * m.Z, doc="makespan or period, s")
    return m


def _executed(m: pyo.ConcreteModel, task: Task) -> Any:
    """Return 1 if a task is executed, as an expression of the choices."""
    return sum(m.y[c] for c in task.choices) if task.choices else 1


def _pairs(tasks: Tasks) -> Iterator[tuple[int, int]]:
    """Yield the pairs of tasks of a machine that may be executed both, in both orders."""
    for mine in tasks.machines.values():
        for a, b in itertools.combinations(mine, 2):
            if not tasks.excluded(tasks.tasks[a], tasks.tasks[b]):
                yield from ((a, b), (b, a))


def _add_orders(m: pyo.ConcreteModel, tasks: Tasks, pairs: list[tuple[int, int]], H: int) -> None:
    """Add (N3) and (N4)."""
    m.order = pyo.ConstraintList(doc="(N3), (N4): of two tasks one is first, the other waits")
    for a, b in pairs:
        first, second = tasks.tasks[a], tasks.tasks[b]
        m.order.add(m.t[b] >= m.t[a] + first.duration - H * (1 - m.x[a, b]))
        for task in (first, second):
            if task.choices:
                m.order.add(m.x[a, b] <= _executed(m, task))
        if a < b:
            both = _executed(m, first) + _executed(m, second) - 1
            m.order.add(m.x[a, b] + m.x[b, a] >= both)
            m.order.add(m.x[a, b] + m.x[b, a] <= 1)


def _add_memory(m: pyo.ConcreteModel, tasks: Tasks) -> None:
    """Add (N5)."""
    m.memory = pyo.ConstraintList(doc="(N5): memory suffices when a task takes some")
    for d, capacity in enumerate(tasks.capacity or ()):
        mine = tasks.machines["device", d]
        for b in mine:
            task = tasks.tasks[b]
            level = sum(
                (tasks.tasks[a].takes - tasks.tasks[a].frees) * m.x[a, b]
                for a in mine
                if (a, b) in m.x
            )
            if task.takes:  # a forward, or what regains its results: always chosen
                m.memory.add(task.takes * _executed(m, task) + level <= capacity)


def _add_copies(m: pyo.ConcreteModel, tasks: Tasks, H: int) -> None:
    """Add (N6)."""
    number = {event: n for n, event in enumerate(tasks.events)}
    m.turn = pyo.ConstraintList(doc="(N6): copies in the order of what gives order for them")
    for (a, _, done), (b, begin, _) in itertools.permutations(tasks.copies, 2):
        if (a, b) in m.x:
            m.turn.add(m.v[number[begin]] >= m.v[number[done]] - H * (1 - m.x[a, b]))


def _add_length(m: pyo.ConcreteModel, tasks: Tasks, H: int) -> None:
    """Add (N7)."""
    spans = sorted({task.spans for task in tasks.tasks})
    place = {machine: n for n, machine in enumerate(spans)}
    m.begin = pyo.Var(range(len(spans)), bounds=(0, H if tasks.period else 0), doc="begins, ticks")
    m.length = pyo.ConstraintList(doc="(N7): Z lasts from the begin of a machine to its last end")
    for a, task in enumerate(tasks.tasks):
        slack, begin = H * (1 - _executed(m, task)), m.begin[place[task.spans]]
        m.length.add(m.Z + begin + slack >= m.t[a] + task.duration)
        if tasks.period:
            m.length.add(begin <= m.t[a] + slack)


def decode_tasks(
    m: pyo.ConcreteModel, instance: PipelineSchedulesInstance
) -> PipelineSchedulesSolution:
    """Return the orders of the tasks that are executed; x decides what starts together."""
    tasks = tasks_of(instance).tasks
    executed = [
        a for a, task in enumerate(tasks) if pyo.value(_executed(m, task)) > 0.5 and task.cell
    ]
    before = dict.fromkeys(range(len(tasks)), 0)
    for a, b in m.x:
        before[b] += pyo.value(m.x[a, b]) > 0.5
    return orders_of(instance, tasks, sorted(executed, key=before.__getitem__))
