"""Schedules as tables and traces: the tasks of each job on each server, in slots.

Where a plan names the GPUs of a job on a board, they stand in the name of the server.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from gadgetopt.errors import InputError
from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.formats.timelines.files import Timelines
from gadgetopt.pieces.formats.timelines.places import place_name, place_of
from gadgetopt.pieces.formats.timelines.spans import Span, by_number, joined, whole_time
from gadgetopt.system.declaring import exporter

from ..evaluate import evaluate
from ..instance import QueueingInstance, QueueingSolution, Running

#: The tasks of a job on a server in a slot, and the GPUs that they name there, or None.
Place: TypeAlias = tuple[int, tuple[int, ...] | None]


def spans(instance: QueueingInstance, solution: QueueingSolution) -> list[Span]:
    """Return the tasks of each job on each server, and on its GPUs, equal slots joined."""
    return joined(
        [
            Span(f"job {running.job}", k, k + 1, place_name(server, gpus), tasks)
            for k, slot in enumerate(solution.slots)
            for running in slot
            for (server, tasks), gpus in itertools.zip_longest(running.tasks, running.gpus)
        ]
    )


def decision(instance: QueueingInstance, spans: Sequence[Span]) -> QueueingSolution:
    """Return what runs in each slot, on the GPUs that are named."""
    slots: list[list[Running]] = [[] for _ in range(instance.num_slots)]
    for j, found in enumerate(by_number(spans, "job", len(instance.jobs))):
        places: dict[int, dict[int, Place]] = {}
        for span in found:
            server, gpus = place_of(span.resource, f"job {j}: resource")
            start, end = whole_time(span)
            if start < 0 or end > instance.num_slots:
                raise InputError(f"job {j}: runs from {start} to {end}, beyond the slots")
            here = span.count, gpus
            for slot in range(start, end):
                if places.setdefault(slot, {}).setdefault(server, here) != here:
                    raise InputError(f"job {j}: is on server {server} twice in slot {slot}")
        for slot, on in places.items():
            slots[slot].append(_running(j, on))
    while slots and not slots[-1]:
        slots.pop()
    return QueueingSolution(slots=tuple(map(tuple, slots)))


def _running(job: int, on: Mapping[int, Place]) -> Running:
    """Return a job in a slot; if it names GPUs on one server only, it has none on the others."""
    places = sorted(on.items())
    named = any(gpus is not None for _, (_, gpus) in places)
    return Running(
        job=job,
        tasks=tuple((server, tasks) for server, (tasks, _) in places),
        gpus=tuple(gpus or () for _, (_, gpus) in places) if named else (),
    )


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
