"""Schedules as tables and traces: which GPUs each job holds, in slots."""

from __future__ import annotations

from collections.abc import Sequence

from gadgetopt.errors import InputError
from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.formats.timelines.files import Timelines
from gadgetopt.pieces.formats.timelines.spans import Span, by_number, number_in, whole_time
from gadgetopt.system.declaring import exporter

from ..evaluate import evaluate, simulate
from ..instance import SjfBcoInstance, SjfBcoSolution


def spans(instance: SjfBcoInstance, solution: SjfBcoSolution) -> list[Span]:
    """Return which GPUs each job holds, from its start until it releases them."""
    ends = solution.completion_slot or simulate(instance, solution).completion
    found = []
    for j, (start, end, placement) in enumerate(
        zip(solution.start_slot, ends, solution.placement, strict=True)
    ):
        named = solution.gpu_ids[j] if solution.gpu_ids is not None else {}
        for server, gpus in sorted(placement.items()):
            if gpus:
                said = tuple(named.get(server, ()))
                found.append(Span(f"job {j}", start, end or 0, f"server {server}", gpus, said))
    return found


def decision(instance: SjfBcoInstance, spans: Sequence[Span]) -> SjfBcoSolution:
    """Return the start and the GPUs of every job, and when it releases them."""
    starts, ends, placement, gpu_ids = [], [], [], []
    for j, found in enumerate(by_number(spans, "job", len(instance.jobs))):
        times = {whole_time(span) for span in found}
        if len(times) != 1:
            raise InputError(f"job {j}: has {len(times)} starts and ends, expected one of each")
        (start, end) = times.pop()
        servers = [number_in(span.resource, "server", f"job {j}: resource") for span in found]
        if len(set(servers)) < len(servers):
            raise InputError(f"job {j}: is on a server twice")
        starts.append(start)
        ends.append(end)
        placement.append({s: span.count for s, span in zip(servers, found, strict=True)})
        gpu_ids.append({s: span.units for s, span in zip(servers, found, strict=True)})
    named = any(units for job in gpu_ids for units in job.values())
    return SjfBcoSolution(
        start_slot=tuple(starts),
        placement=tuple(placement),
        completion_slot=tuple(ends),
        gpu_ids=tuple(gpu_ids) if named else None,
    )


TIMELINES = Timelines("slot", spans, decision, evaluate)


@exporter(suffixes=(".csv",))
def gantt(instance: SjfBcoInstance, solution: SjfBcoSolution) -> Exported:
    """Jobs on servers as a table, one line for each span of time."""
    return TIMELINES.gantt(instance, solution)


def read_gantt(instance: SjfBcoInstance, files: Exported) -> SjfBcoSolution:
    """Return the solution of a table."""
    return TIMELINES.read_gantt(instance, files)


@exporter(suffixes=(".json",))
def chrome_trace(instance: SjfBcoInstance, solution: SjfBcoSolution) -> Exported:
    """Jobs on servers as a trace that Perfetto shows."""
    return TIMELINES.trace(instance, solution)


def read_chrome_trace(instance: SjfBcoInstance, files: Exported) -> SjfBcoSolution:
    """Return the solution of a trace."""
    return TIMELINES.read_trace(instance, files)
