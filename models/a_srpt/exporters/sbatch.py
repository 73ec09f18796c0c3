"""Schedules as lines for Slurm's sbatch.

Slurm has no stages; the comment of a line says how many replicas of each stage are on which server,
such as '0@2x4 1@3x1': four of stage 0 on server 2, one of stage 1 on server 3.
"""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction

from gadgetopt.errors import InputError
from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.formats.timelines.sbatch import (
    JobLine,
    check_limits,
    read_sbatch,
    write_sbatch,
)
from gadgetopt.system.declaring import exporter

from ..evaluate import evaluate, job_ticks
from ..instance import ASrptInstance, ASrptSolution, ScheduledJob
from .timelines import without_predictor

_PLACED = re.compile(r"(\d{1,9})@(\d{1,9})x([1-9]\d{0,9})", re.ASCII)


@exporter(suffixes=(".sh",), drops="the name of the predictor", kept=without_predictor)
def write(instance: ASrptInstance, solution: ASrptSolution) -> Exported:
    """Lines for Slurm's sbatch, as recalled of its manual."""
    text = write_sbatch(_jobs(instance, solution), "tick", instance.tick_s)
    return Exported({".sh": text}, ("not run: the options are as recalled of Slurm's manual",))


def _jobs(instance: ASrptInstance, solution: ASrptSolution) -> list[JobLine]:
    found = []
    for scheduled in solution.jobs:
        gpus: Counter[int] = Counter()
        blocks = instance.job_types[instance.jobs[scheduled.job].job_type].block_of_stage
        placed = []
        for s, pairs in enumerate(scheduled.placement):
            for server, replicas in pairs:
                gpus[server] += blocks[s] * replicas
                placed.append(f"{s}@{server}x{replicas}")
        start_s = Fraction(scheduled.start_microtick, instance.total_gpus) * instance.tick_s
        length_s = job_ticks(instance, scheduled) * instance.tick_s
        found.append(JobLine(scheduled.job, start_s, length_s, gpus, " ".join(placed)))
    return found


def read_back(instance: ASrptInstance, exported: Exported) -> ASrptSolution:
    """Return the starts and mappings that the lines say.

    Raises
    ------
    InputError
        If they are no lines of a schedule of this instance.
    """
    read, unit_s = read_sbatch(exported.text(".sh"), "tick", len(instance.jobs))
    if unit_s != instance.tick_s:
        raise InputError(f"line 4: a tick is {unit_s} s, expected {instance.tick_s}")
    solution = ASrptSolution(jobs=tuple(_scheduled(instance, line) for line, _ in read))
    if evaluate(instance, solution).feasible:
        jobs = _jobs(instance, solution)
        for line, job in zip((line for line, _ in read), jobs, strict=True):
            if line.gpus != job.gpus:
                raise InputError(f"job {line.job}: its hosts are not those of its comment")
        check_limits(read, jobs)
    return solution


def _scheduled(instance: ASrptInstance, line: JobLine) -> ScheduledJob:
    where = f"job {line.job}"
    microticks = line.start_s / instance.tick_s * instance.total_gpus
    if microticks.denominator != 1:
        raise InputError(f"{where}: begins after {microticks} microticks, expected whole ones")
    count = len(instance.job_types[instance.jobs[line.job].job_type].replicas)
    stages: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for text in line.comment.split():
        said = _PLACED.fullmatch(text)
        if said is None or int(said[1]) >= count:
            raise InputError(f"{where}: --comment: {text!r}, expected such as '0@2x4'")
        stages[int(said[1])].append((int(said[2]), int(said[3])))
    return ScheduledJob(
        job=line.job,
        start_microtick=int(microticks),
        placement=tuple(map(tuple, stages)),
    )
