"""What is known of jobs: of those that arrive, and of those that have completed."""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from dataclasses import dataclass

from ..instance import ASrptInstance

#: Prediction for a job while no job at all has completed. Tuned: `benchmarks/constants.py`.
FIRST_GUESS = 1000


@dataclass(frozen=True, slots=True)
class Arrival:
    """What is known of a job when it arrives; -1 stands for unknown.

    Attributes
    ----------
    job : int
        Its index.
    group_id, user_id, job_type, num_gpus, batch_size : int
    release_s : float
    stated_iterations : int or None
        A prediction that came with the job.
    """

    job: int
    group_id: int
    user_id: int
    job_type: int
    num_gpus: int
    batch_size: int
    release_s: float
    stated_iterations: int | None


def arrival_of(instance: ASrptInstance, job: int) -> Arrival:
    """Return what is known of a job when it arrives."""
    known = instance.jobs[job]
    return Arrival(
        job=job,
        group_id=known.group_id,
        user_id=known.user_id,
        job_type=known.job_type,
        num_gpus=int(instance.gpus[job]),
        batch_size=-1 if known.batch_size is None else known.batch_size,
        release_s=float(known.release_tick * instance.tick_s),
        stated_iterations=known.predicted_iterations,
    )


class Seen:
    """Iterations of completed jobs, and their statistics at any moment."""

    def __init__(self) -> None:
        self._sorted: list[int] = []
        self._total = 0
        self.last: int = 0

    def __len__(self) -> int:
        return len(self._sorted)

    def add(self, iterations: int) -> None:
        """Add a job that has completed after those added before."""
        insort(self._sorted, iterations)
        self._total += iterations
        self.last = iterations

    @property
    def mean(self) -> float:
        """Mean over the jobs; there is at least one."""
        return self._total / len(self._sorted)

    @property
    def median(self) -> float:
        """Median over the jobs; there is at least one."""
        middle = len(self._sorted) // 2
        if len(self._sorted) % 2:
            return self._sorted[middle]
        return (self._sorted[middle - 1] + self._sorted[middle]) / 2


class Completed:
    """Iterations of all completed jobs, and of those of each group."""

    def __init__(self) -> None:
        self.all: Seen = Seen()
        self._of_group: defaultdict[int, Seen] = defaultdict(Seen)

    def add(self, arrival: Arrival, iterations: int) -> None:
        """Add a completed job."""
        self.all.add(iterations)
        if arrival.group_id >= 0:
            self._of_group[arrival.group_id].add(iterations)

    def group(self, arrival: Arrival) -> Seen:
        """Return what is known of the job's group, which may be nothing."""
        return self._of_group.get(arrival.group_id) or Seen()
