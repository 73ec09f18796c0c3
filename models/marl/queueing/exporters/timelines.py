"""Schedules as tables and traces: the tasks of each job on each server, in slots."""

from __future__ import annotations

from collections.abc import Sequence

from gadgetopt.errors import InputError
from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.formats.timelines.files import Timelines
from gadgetopt.pieces.formats.timelines.spans import Span, by_number, joined, number_in, whole_time
from gadgetopt.system.declaring import exporter

from ..evaluate import evaluate
from ..instance import QueueingInstance, QueueingSolution, Running


def spans(instance: QueueingInstance, solution: QueueingSolution) -> list[Span]:
    """Return the tasks of each job on each server, equal slots joined."""
    return joined(
        [
            Span(f"job {running.job}", k, k + 1, f"server {server}", tasks)
            for k, slot in enumerate(solution.slots)
            for running in slot
            for server, tasks in running.tasks
        ]
    )


def decision(instance: QueueingInstance, spans: Sequence[Span]) -> QueueingSolution:
    """Return what runs in each slot."""
    slots: list[list[Running]] = [[] for _ in range(instance.num_slots)]
    for j, found in enumerate(by_number(spans, "job", len(instance.jobs))):
        tasks: dict[int, dict[int, int]] = {}
        for span in found:
            server = number_in(span.resource, "server", f"job {j}: resource")
            start, end = whole_time(span)
            if start < 0 or end > instance.num_slots:
                raise InputError(f"job {j}: runs from {start} to {end}, beyond the slots")
            for slot in range(start, end):
                if tasks.setdefault(slot, {}).setdefault(server, span.count) != span.count:
                    raise InputError(f"job {j}: is on server {server} twice in slot {slot}")
        for slot, on in tasks.items():
            slots[slot].append(Running(job=j, tasks=tuple(sorted(on.items()))))
    while slots and not slots[-1]:
        slots.pop()
    return QueueingSolution(slots=tuple(map(tuple, slots)))


TIMELINES = Timelines("slot", spans, decision, evaluate)


@exporter(suffixes=(".csv",))
def gantt(instance: QueueingInstance, solution: QueueingSolution) -> Exported:
    """Tasks on servers as a table, one line for each span of time."""
    return TIMELINES.gantt(instance, solution)


def read_gantt(instance: QueueingInstance, files: Exported) -> QueueingSolution:
    """Return the solution of a table."""
    return TIMELINES.read_gantt(instance, files)


@exporter(suffixes=(".json",))
def chrome_trace(instance: QueueingInstance, solution: QueueingSolution) -> Exported:
    """Tasks on servers as a trace that Perfetto shows."""
    return TIMELINES.trace(instance, solution)


def read_chrome_trace(instance: QueueingInstance, files: Exported) -> QueueingSolution:
    """Return the solution of a trace."""
    return TIMELINES.read_trace(instance, files)
