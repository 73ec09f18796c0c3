"""Schedules as lines for Slurm's sbatch."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.formats.timelines.sbatch import (
    JobLine,
    check_limits,
    read_sbatch,
    write_sbatch,
)
from gadgetopt.system.declaring import exporter

from ..evaluate import evaluate, simulate
from ..instance import SjfBcoInstance, SjfBcoSolution


def kept(instance: SjfBcoInstance, solution: SjfBcoSolution, slot_s: float) -> SjfBcoSolution:
    """Return the solution without the numbers of GPUs and stated completions."""
    return solution.model_copy(update={"gpu_ids": None, "completion_slot": None})


@exporter(
    suffixes=(".sh",),
    drops="which GPUs of a server a job holds, and stated completions",
    help={"slot_s": "length of a slot, which the instance does not say"},
)
def write(instance: SjfBcoInstance, solution: SjfBcoSolution, slot_s: float = 60.0) -> Exported:
    """Lines for Slurm's sbatch, as recalled of its manual."""
    if not 0 < slot_s < 10**9:
        raise InputError(f"sbatch: slot_s {slot_s}; expected more than 0 and less than 1e9")
    unit_s = decimal_rational(float(slot_s))
    text = write_sbatch(_jobs(instance, solution, unit_s), "slot", unit_s)
    return Exported({".sh": text}, ("not run: the options are as recalled of Slurm's manual",))


def _jobs(instance: SjfBcoInstance, solution: SjfBcoSolution, unit_s: Fraction) -> list[JobLine]:
    ends = simulate(instance, solution).completion
    rows = enumerate(zip(solution.start_slot, ends, solution.placement, strict=True))
    return [
        JobLine(
            j,
            start * unit_s,
            ((end or start) - start) * unit_s,
            {server: gpus for server, gpus in placement.items() if gpus},
        )
        for j, (start, end, placement) in rows
    ]


def read_back(instance: SjfBcoInstance, exported: Exported) -> SjfBcoSolution:
    """Return the starts and GPUs that the lines say.

    Raises
    ------
    InputError
        If they are no lines of a schedule of this instance.
    """
    read, unit_s = read_sbatch(exported.text(".sh"), "slot", len(instance.jobs))
    starts = []
    for line, _ in read:
        slots = line.start_s / unit_s
        if slots.denominator != 1:
            raise InputError(f"job {line.job}: begins after {slots} slots, expected whole slots")
        starts.append(int(slots))
    solution = SjfBcoSolution(
        start_slot=tuple(starts), placement=tuple(dict(line.gpus) for line, _ in read)
    )
    if evaluate(instance, solution).feasible:
        check_limits(read, _jobs(instance, solution, unit_s))
    return solution
