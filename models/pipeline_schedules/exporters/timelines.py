"""Schedules as tables and traces: the cells of devices and what their channels carry, in seconds.

Copies to the host and AllReduces are shown and say nothing that a reader needs. A cell B that is I
and then W is shown as these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from gadgetopt.errors import InputError
from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.formats.timelines.files import Timelines
from gadgetopt.pieces.formats.timelines.spans import Span, number_in
from gadgetopt.system.declaring import exporter

from ..evaluate import evaluate
from ..instance import PipelineSchedulesInstance, PipelineSchedulesSolution
from ..timing import timing_of

DEVICE = "device"


def spans(instance: PipelineSchedulesInstance, solution: PipelineSchedulesSolution) -> list[Span]:
    """Return when each step of a program runs."""
    timing = timing_of(instance, solution)
    program = timing.program

    def made(steps: Sequence[int], resource: str) -> Iterator[Span]:
        for step in steps:
            times = (timing.starts[step], timing.end(step))
            start, end = (_seconds(instance, ticks) for ticks in times)
            yield Span(program.names[step], start, end, resource)

    found: list[Span] = []
    for d, steps in enumerate(program.devices):
        found += made(steps, f"{DEVICE} {d}")
    for (source, target), steps in zip(instance.channels, timing.channels, strict=True):
        found += made(steps, f"link from {source} to {target}")
    for d, (copies, allreduces) in enumerate(zip(program.copies, program.allreduces, strict=True)):
        found += made(copies, f"copies of {DEVICE} {d}")
        found += made(allreduces, f"AllReduce of {DEVICE} {d}")
    return [span for span in found if span.end > span.start or span.resource.startswith(DEVICE)]


def _seconds(instance: PipelineSchedulesInstance, ticks: int) -> Fraction:
    return Fraction(ticks, instance.ticks_per_s)


def decision(
    instance: PipelineSchedulesInstance, spans: Sequence[Span]
) -> PipelineSchedulesSolution:
    """Return the orders of devices and channels."""
    orders: list[list[str]] = [[] for _ in range(instance.num_devices)]
    links: dict[str, list[str]] = {f"link from {d} to {e}": [] for d, e in instance.channels}
    for span in sorted(spans, key=lambda span: span.start):  # equal starts keep their order
        if span.resource in links:
            links[span.resource].append(span.job)
        elif span.resource.startswith(f"{DEVICE} "):
            device = number_in(span.resource, DEVICE, "resource")
            if device >= instance.num_devices:
                raise InputError(f"{span.resource}: there are {instance.num_devices}")
            orders[device].append(span.job)
        elif " of " not in span.resource:
            raise InputError(f"resource: {span.resource!r}, expected a device or a link of it")
    return PipelineSchedulesSolution(
        orders=tuple(map(tuple, orders)),
        link_orders=tuple(map(tuple, links.values())) if links else None,
    )


TIMELINES = Timelines("s", spans, decision, evaluate)


@exporter(suffixes=(".csv",))
def gantt(instance: PipelineSchedulesInstance, solution: PipelineSchedulesSolution) -> Exported:
    """Cells of devices as a table, one line for each span of time."""
    return TIMELINES.gantt(instance, solution)


def read_gantt(instance: PipelineSchedulesInstance, files: Exported) -> PipelineSchedulesSolution:
    """Return the solution of a table."""
    return TIMELINES.read_gantt(instance, files)


@exporter(suffixes=(".json",))
def chrome_trace(
    instance: PipelineSchedulesInstance, solution: PipelineSchedulesSolution
) -> Exported:
    """Cells of devices as a trace that Perfetto shows."""
    return TIMELINES.trace(instance, solution)


def read_chrome_trace(
    instance: PipelineSchedulesInstance, files: Exported
) -> PipelineSchedulesSolution:
    """Return the solution of a trace."""
    return TIMELINES.read_trace(instance, files)
