"""Schedules as tables and traces: which GPUs each stage of a job holds, in microticks."""

from __future__ import annotations

from collections.abc import Sequence

from gadgetopt.errors import InputError
from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.formats.timelines.files import Timelines
from gadgetopt.pieces.formats.timelines.spans import Span, by_number, number_in, whole_time
from gadgetopt.system.declaring import exporter

from ..evaluate import evaluate, job_ticks
from ..instance import ASrptInstance, ASrptSolution, ScheduledJob


def spans(instance: ASrptInstance, solution: ASrptSolution) -> list[Span]:
    """Return which GPUs each stage of a job holds, from the job's start to its end."""
    found = []
    for scheduled in sorted(solution.jobs, key=lambda scheduled: scheduled.job):
        start = scheduled.start_microtick
        end = start + job_ticks(instance, scheduled) * instance.total_gpus
        blocks = instance.job_types[instance.jobs[scheduled.job].job_type].block_of_stage
        for s, pairs in enumerate(scheduled.placement):
            found += [
                Span(
                    f"job {scheduled.job}",
                    start,
                    end,
                    f"server {m}",
                    x * blocks[s],
                    (),
                    f"stage {s}",
                )
                for m, x in pairs
            ]
    return found


def decision(instance: ASrptInstance, spans: Sequence[Span]) -> ASrptSolution:
    """Return the start and the mapping of every job."""
    jobs = []
    for j, found in enumerate(by_number(spans, "job", len(instance.jobs))):
        starts = {whole_time(span)[0] for span in found}
        if len(starts) != 1:
            raise InputError(f"job {j}: has {len(starts)} starts, expected one")
        job_type = instance.job_types[instance.jobs[j].job_type]
        count, blocks = len(job_type.replicas), job_type.block_of_stage
        stages: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        for span in found:
            stage = number_in(span.detail, "stage", f"job {j}: detail")
            if stage >= count:
                raise InputError(f"job {j}: detail: {span.detail!r}, but it has {count} stages")
            server = number_in(span.resource, "server", f"job {j}: resource")
            if span.count % blocks[stage]:
                raise InputError(
                    f"job {j}: {span.count} GPUs on server {server}, "
                    f"expected blocks of {blocks[stage]}"
                )
            stages[stage].append((server, span.count // blocks[stage]))
        jobs.append(
            ScheduledJob(job=j, start_microtick=starts.pop(), placement=tuple(map(tuple, stages)))
        )
    return ASrptSolution(jobs=tuple(jobs))


def without_predictor(instance: ASrptInstance, solution: ASrptSolution) -> ASrptSolution:
    """Return the solution without the name of what predicted the numbers of iterations."""
    return solution.model_copy(update={"predictor": None})


TIMELINES = Timelines("microtick", spans, decision, evaluate)


@exporter(
    suffixes=(".csv",),
    drops="the name of the predictor",
    kept="without_predictor",
)
def gantt(instance: ASrptInstance, solution: ASrptSolution) -> Exported:
    """Jobs on servers as a table, one line for each span of time."""
    return TIMELINES.gantt(instance, solution)


def read_gantt(instance: ASrptInstance, files: Exported) -> ASrptSolution:
    """Return the solution of a table."""
    return TIMELINES.read_gantt(instance, files)


@exporter(
    suffixes=(".json",),
    drops="the name of the predictor",
    kept="without_predictor",
)
def chrome_trace(instance: ASrptInstance, solution: ASrptSolution) -> Exported:
    """Jobs on servers as a trace that Perfetto shows."""
    return TIMELINES.trace(instance, solution)


def read_chrome_trace(instance: ASrptInstance, files: Exported) -> ASrptSolution:
    """Return the solution of a trace."""
    return TIMELINES.read_trace(instance, files)
