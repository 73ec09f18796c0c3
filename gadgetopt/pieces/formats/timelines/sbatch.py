"""Schedules of jobs on hosts as lines for Slurm's sbatch, one a job.

The options are as recalled of Slurm's manual: `--begin=now+SECONDS`, `--time=MINUTES`, `--nodelist`
with `--gres=gpu:N` on each host, ` : ` between parts of a job with other counts. They were not run
here. A line says when a job may begin and where; Slurm starts it when these hosts are free.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from gadgetopt.errors import InputError

#: Seconds of a minute. By definition.
MINUTE_S = 60

_HEAD = """\
#!/bin/sh
# Lines for Slurm, as recalled of its manual and not run: begin no earlier, on these hosts.
# The limit of time is the planned time in minutes, rounded up.
"""
_LINE = re.compile(
    r"sbatch --job-name=job_(\d{1,9}) --begin=now\+(\d{1,18}) --time=(\d{1,18})"
    r"(?: --comment='([^']*)')? (.*) job_\1\.sh",
    re.ASCII,
)
_PART = re.compile(r"--nodes=(\d{1,9}) --nodelist=([\w,]+) --gres=gpu:(\d{1,18})", re.ASCII)
_HOST = re.compile(r"server(\d{1,9})", re.ASCII)


@dataclass(frozen=True)
class JobLine:
    """A job, when it may begin, for how long it runs, and its GPUs on each server.

    Attributes
    ----------
    job : int
    start_s, length_s : Fraction
    gpus : mapping
        By server.
    comment : str
        What else the decision says.
    """

    job: int
    start_s: Fraction
    length_s: Fraction
    gpus: Mapping[int, int]
    comment: str = ""


def write_sbatch(jobs: Sequence[JobLine], unit: str, unit_s: Fraction) -> str:
    """Return the lines of jobs, by their starts.

    Raises
    ------
    InputError
        If a start is not a whole number of seconds, which is all that Slurm knows.
    """
    lines = [f"# A {unit} is {unit_s} s."]
    for job in sorted(jobs, key=lambda job: (job.start_s, job.job)):
        if job.start_s.denominator != 1:
            raise InputError(
                f"sbatch: job {job.job} starts at {job.start_s} s; Slurm counts whole seconds, "
                f"choose a length of the {unit} for which starts are whole"
            )
        lines.append(_line(job))
    return _HEAD + "\n".join(lines) + "\n"


def minutes(job: JobLine) -> int:
    """Return a job's limit of time."""
    return max(1, -(-job.length_s // MINUTE_S))


def _line(job: JobLine) -> str:
    parts = []
    for count in sorted(set(job.gpus.values())):
        hosts = [f"server{s}" for s, gpus in sorted(job.gpus.items()) if gpus == count]
        parts.append(f"--nodes={len(hosts)} --nodelist={','.join(hosts)} --gres=gpu:{count}")
    comment = f" --comment='{job.comment}'" if job.comment else ""
    return (
        f"sbatch --job-name=job_{job.job} --begin=now+{job.start_s} --time={minutes(job)}"
        f"{comment} {' : '.join(parts)} job_{job.job}.sh"
    )


def read_sbatch(text: str, unit: str, count: int) -> tuple[list[tuple[JobLine, int]], Fraction]:
    """Return the jobs in their order with their limits in minutes, and the seconds of the unit.

    Raises
    ------
    InputError
        If a line is not one that `write_sbatch` writes, or a job is missing or there twice.
    """
    number = "[1-9][0-9]{0,17}"
    said = re.search(
        rf"^# A {re.escape(unit)} is ({number}(?:/{number})?) s\.$", text, re.MULTILINE
    )
    if said is None:
        raise InputError(f"line 4: expected how long a {unit} is, such as '# A {unit} is 60 s.'")
    found: dict[int, tuple[JobLine, int]] = {}
    for n, line in enumerate(text.splitlines(), start=1):
        if line.startswith("#") or not line.strip():
            continue
        job, limit = _read_line(line, f"line {n}")
        if job.job in found or job.job >= count:
            raise InputError(f"line {n}: job {job.job}: is there twice, or is none of {count} jobs")
        found[job.job] = job, limit
    missing = sorted(set(range(count)) - set(found))
    if missing:
        raise InputError(f"job {missing[0]}: is missing")
    return [found[j] for j in range(count)], Fraction(said[1])


def _read_line(line: str, where: str) -> tuple[JobLine, int]:
    said = _LINE.fullmatch(line)
    if said is None:
        raise InputError(f"{where}: expected 'sbatch --job-name=job_0 --begin=now+0 --time=1 ...'")
    gpus: dict[int, int] = {}
    for part in said[5].split(" : "):
        given = _PART.fullmatch(part)
        if given is None:
            raise InputError(f"{where}: {part!r}, expected --nodes, --nodelist and --gres=gpu:N")
        hosts = given[2].split(",")
        if len(hosts) != int(given[1]):
            raise InputError(f"{where}: --nodes={given[1]}, but {len(hosts)} hosts")
        for host in hosts:
            name = _HOST.fullmatch(host)
            if name is None or int(name[1]) in gpus:
                raise InputError(
                    f"{where}: host {host!r}, expected server0, server1, ... once each"
                )
            gpus[int(name[1])] = int(given[3])
    start, limit = int(said[2]), int(said[3])
    return JobLine(int(said[1]), Fraction(start), Fraction(0), gpus, said[4] or ""), limit


def check_limits(read: Sequence[tuple[JobLine, int]], jobs: Sequence[JobLine]) -> None:
    """Hold the limits of time of lines against those of the decision that they say.

    Raises
    ------
    InputError
        If one differs.
    """
    for (line, limit), job in zip(read, sorted(jobs, key=lambda job: job.job), strict=True):
        if limit != minutes(job):
            raise InputError(
                f"job {line.job}: --time={limit}, but it runs for {minutes(job)} minutes"
            )
