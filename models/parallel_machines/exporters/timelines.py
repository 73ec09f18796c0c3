"""Schedules as tables and traces: each machine's jobs one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from gadgetopt.errors import InputError
from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.formats.timelines.files import Timelines
from gadgetopt.pieces.formats.timelines.spans import Span, by_number, number_in
from gadgetopt.system.declaring import exporter

from ..evaluate import evaluate
from ..instance import ParallelMachinesInstance, ParallelMachinesSolution


def spans(instance: ParallelMachinesInstance, solution: ParallelMachinesSolution) -> list[Span]:
    """Return when each job runs; the jobs of a machine are in the order of their numbers."""
    free = [0] * instance.machines
    found = []
    for j, (machine, seconds) in enumerate(
        zip(solution.machine, instance.processing_s, strict=True)
    ):
        start = free[machine]
        free[machine] += seconds
        found.append(Span(f"job {j}", start, free[machine], f"machine {machine}"))
    return found


def decision(instance: ParallelMachinesInstance, spans: Sequence[Span]) -> ParallelMachinesSolution:
    """Return the machine of every job."""
    machines = []
    for j, found in enumerate(by_number(spans, "job", len(instance.processing_s))):
        if len(found) != 1:
            raise InputError(f"job {j}: is there {len(found)} times, expected once")
        machines.append(number_in(found[0].resource, "machine", f"job {j}: resource"))
    return ParallelMachinesSolution(machine=tuple(machines))


TIMELINES = Timelines("s", spans, decision, evaluate)


@exporter(suffixes=(".csv",))
def gantt(instance: ParallelMachinesInstance, solution: ParallelMachinesSolution) -> Exported:
    """Jobs on machines as a table, one line for each span of time."""
    return TIMELINES.gantt(instance, solution)


def read_gantt(instance: ParallelMachinesInstance, files: Exported) -> ParallelMachinesSolution:
    """Return the solution of a table."""
    return TIMELINES.read_gantt(instance, files)


@exporter(suffixes=(".json",))
def chrome_trace(
    instance: ParallelMachinesInstance, solution: ParallelMachinesSolution
) -> Exported:
    """Jobs on machines as a trace that Perfetto shows."""
    return TIMELINES.trace(instance, solution)


def read_chrome_trace(
    instance: ParallelMachinesInstance, files: Exported
) -> ParallelMachinesSolution:
    """Return the solution of a trace."""
    return TIMELINES.read_trace(instance, files)
