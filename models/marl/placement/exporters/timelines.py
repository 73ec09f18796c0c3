"""Placements as tables and traces: the tasks of each job on each server until it completes."""

from __future__ import annotations

from collections.abc import Sequence

from gadgetopt.errors import InputError
from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.formats.timelines.files import Timelines
from gadgetopt.pieces.formats.timelines.spans import Span, by_number, number_in
from gadgetopt.system.declaring import exporter

from ..evaluate import evaluate, job_times
from ..instance import PlacementInstance, PlacementSolution


def spans(instance: PlacementInstance, solution: PlacementSolution) -> list[Span]:
    """Return the tasks of every job on its servers; all jobs start at 0."""
    return [
        Span(f"job {j}", 0, time.completion_s, f"server {server}", tasks)
        for j, (time, pairs) in enumerate(
            zip(job_times(instance, solution), solution.tasks, strict=True)
        )
        for server, tasks in pairs
    ]


def decision(instance: PlacementInstance, spans: Sequence[Span]) -> PlacementSolution:
    """Return the tasks of every job on its servers."""
    tasks: list[dict[int, int]] = []
    for j, found in enumerate(by_number(spans, "job", len(instance.jobs))):
        on: dict[int, int] = {}
        for span in found:
            server = number_in(span.resource, "server", f"job {j}: resource")
            if server in on:
                raise InputError(f"job {j}: is on server {server} twice")
            on[server] = span.count
        tasks.append(on)
    return PlacementSolution.of(tasks)


TIMELINES = Timelines("s", spans, decision, evaluate)


@exporter(suffixes=(".csv",))
def gantt(instance: PlacementInstance, solution: PlacementSolution) -> Exported:
    """Tasks on servers as a table, one line for each span of time."""
    return TIMELINES.gantt(instance, solution)


def read_gantt(instance: PlacementInstance, files: Exported) -> PlacementSolution:
    """Return the solution of a table."""
    return TIMELINES.read_gantt(instance, files)


@exporter(suffixes=(".json",))
def chrome_trace(instance: PlacementInstance, solution: PlacementSolution) -> Exported:
    """Tasks on servers as a trace that Perfetto shows."""
    return TIMELINES.trace(instance, solution)


def read_chrome_trace(instance: PlacementInstance, files: Exported) -> PlacementSolution:
    """Return the solution of a trace."""
    return TIMELINES.read_trace(instance, files)
