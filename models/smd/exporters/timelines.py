"""Allocations as tables and traces: the workers and servers of each job until it completes.

All admitted jobs start at 0; where their workers and servers run is not decided.
"""

from __future__ import annotations

from collections.abc import Sequence

from gadgetopt.errors import InputError
from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.formats.timelines.files import Timelines
from gadgetopt.pieces.formats.timelines.spans import Span, by_number
from gadgetopt.system.declaring import exporter

from ..evaluate import completion_time_s, evaluate
from ..instance import Allocation, SmdInstance, SmdSolution

#: What a span's count counts.
ROLES = ("workers", "servers")


def spans(instance: SmdInstance, solution: SmdSolution) -> list[Span]:
    """Return the workers and the servers of every admitted job."""
    found = []
    for i, (job, given) in enumerate(zip(instance.jobs, solution.jobs, strict=True)):
        if given.admit:
            end = completion_time_s(job, given)
            for role, count in zip(ROLES, (given.num_workers, given.num_ps), strict=True):
                found.append(Span(f"job {i}", 0, end, role, count))
    return found


def decision(instance: SmdInstance, spans: Sequence[Span]) -> SmdSolution:
    """Return the workers and servers of every job; jobs without any are not admitted."""
    jobs = []
    for i, found in enumerate(by_number(spans, "job", len(instance.jobs))):
        counts = dict.fromkeys(ROLES, 0)
        for span in found:
            if span.resource not in ROLES:
                raise InputError(
                    f"job {i}: resource: {span.resource!r}, expected workers or servers"
                )
            if counts[span.resource]:
                raise InputError(f"job {i}: its {span.resource} are there twice")
            counts[span.resource] = span.count
        workers, servers = counts.values()
        jobs.append(Allocation(admit=bool(found), num_workers=workers, num_ps=servers))
    return SmdSolution(jobs=tuple(jobs))


TIMELINES = Timelines("s", spans, decision, evaluate)


@exporter(suffixes=(".csv",))
def gantt(instance: SmdInstance, solution: SmdSolution) -> Exported:
    """Workers and servers of jobs as a table, one line for each span of time."""
    return TIMELINES.gantt(instance, solution)


def read_gantt(instance: SmdInstance, files: Exported) -> SmdSolution:
    """Return the solution of a table."""
    return TIMELINES.read_gantt(instance, files)


@exporter(suffixes=(".json",))
def chrome_trace(instance: SmdInstance, solution: SmdSolution) -> Exported:
    """Workers and servers of jobs as a trace that Perfetto shows."""
    return TIMELINES.trace(instance, solution)


def read_chrome_trace(instance: SmdInstance, files: Exported) -> SmdSolution:
    """Return the solution of a trace."""
    return TIMELINES.read_trace(instance, files)
