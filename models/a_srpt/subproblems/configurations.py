r"""Configurations of jobs: how many GPUs on which servers, and how long the job then takes.

Servers matter to a job only through its GPUs :math:`q_m = \sum_s t_s x_{s,m}`. For a partition
:math:`\lambda` of them that whole blocks fill, :math:`\alpha(\lambda)` is the optimum of the
mapping problem with these capacities and :math:`d(\lambda)` its ticks; (F) is then the choice of a
start and of one q, any arrangement of a partition on the servers, for every job.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.knapsack.bins import arrangements

from ..instance import ASrptInstance, ASrptSolution, ScheduledJob
from ..mapping import Counts, fastest_mapping, sparse

#: GPUs on every server.
Row = tuple[int, ...]


@dataclass(frozen=True)
class Configuration:
    """GPUs of a job on every server, and its duration then."""

    gpus: Row
    ticks: int


class Configurations:
    """Configurations of the jobs of an instance, computed once per job type.

    Parameters
    ----------
    instance : ASrptInstance
    most : int
        Most configurations of a job.

    Raises
    ------
    ModelRefused
        If a job has more, or a mapping problem is too large to be solved.
    """

    def __init__(self, instance: ASrptInstance, most: int = 5000):
        self.instance = instance
        self._mapped: dict[tuple[int, Row], tuple[Counts, int]] = {}
        self._rows: dict[int, list[tuple[Row, int]]] = {}
        for job in instance.jobs:
            if job.job_type not in self._rows:
                self._rows[job.job_type] = self._of_type(job.job_type, most)

    def of(self, job: int) -> list[Configuration]:
        """Return the configurations of a job, the fastest first."""
        rows = self._rows[self.instance.jobs[job].job_type]
        return [Configuration(row, self.instance.ticks(job, units)) for row, units in rows]

    def fastest(self, job: int) -> list[Configuration]:
        """Return the configurations in which a job takes its shortest duration."""
        ticks = int(self.instance.min_ticks[job])
        return [c for c in self.of(job) if c.ticks == ticks]

    def solution(self, start_tick: Sequence[int], rows: Sequence[Row]) -> ASrptSolution:
        """Return the schedule with these starts and GPUs on every server."""
        G, jobs = self.instance.total_gpus, self.instance.jobs
        return ASrptSolution(
            jobs=tuple(
                ScheduledJob(
                    job=j,
                    start_microtick=G * start,
                    placement=sparse(self._placed(jobs[j].job_type, row)),
                )
                for j, (start, row) in enumerate(zip(start_tick, rows, strict=True))
            )
        )

    def _of_type(self, job_type: int, most: int) -> list[tuple[Row, int]]:
        """Return the rows of a job type, the fastest first: its blocks are placed size by size."""
        capacities = self.instance.gpus_per_server
        found: dict[Row, None] = {(0,) * len(capacities): None}
        for size, count in self.instance.job_types[job_type].blocks:
            larger, found = found, {}
            for row in larger:
                room = [(c - x) // size for c, x in zip(capacities, row, strict=True)]
                # Fewer blocks than there is room for have no fewer places than one block has.
                many = count < sum(room) and sum(1 for c in room if c) > most
                for counts in arrangements(count, room):
                    found[tuple(x + size * n for x, n in zip(row, counts, strict=True))] = None
                    if many or len(found) > most:
                        raise ModelRefused(
                            f"job_types[{job_type}]: more than {most} ways to place it on the "
                            "servers"
                        )
        rows = sorted(found, reverse=True)
        every = [(row, self._fastest(job_type, _parts(row))[1]) for row in rows]
        return sorted(every, key=lambda entry: entry[1])

    def _fastest(self, job_type: int, parts: Row) -> tuple[Counts, int]:
        key = (job_type, parts)
        if key not in self._mapped:
            unit = self.instance.job_types[job_type].block_unit
            room = [x // unit for x in parts]
            mapped = fastest_mapping(self.instance.times[job_type], room)
            if not mapped.proven:
                raise ModelRefused(
                    f"job_types[{job_type}]: its fastest mapping onto {parts} takes too long"
                )
            self._mapped[key] = mapped.counts, mapped.units
        return self._mapped[key]

    def _placed(self, job_type: int, row: Row) -> Counts:
        """Return the fastest mapping with these GPUs on every server."""
        used = sorted((m for m, x in enumerate(row) if x), key=lambda m: -row[m])
        counts, _ = self._fastest(job_type, _parts(row))
        placed = []
        for stage in counts:
            on = dict(zip(used, stage, strict=True))
            placed.append(tuple(on.get(m, 0) for m in range(len(row))))
        return tuple(placed)


def _parts(row: Row) -> Row:
    return tuple(sorted((x for x in row if x), reverse=True))
