r"""The virtual machine: one machine that runs all jobs with preemption and guides the real cluster.

Job j enters at its release with :math:`g_j \tilde d_j` microticks of work (section 5.1: a tick has
as many microticks as the cluster has GPUs, so that all times are integers). Three rules:

- `srpt`: shortest remaining work first; minimises the sum of completions.
- `wspt`: largest weight per work first, work as it was at the release; for weights, at most twice
  the optimum (Schulz and Skutella).
- `wsrpt`: largest weight per remaining work first; no constant is proved for it.

Completions depend on releases and predictions only, never on the real cluster.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

RULES = ("srpt", "wspt", "wsrpt")


@dataclass(frozen=True, slots=True)
class _Job:
    release: int
    index: int
    work: int
    weight: Fraction


class VirtualMachine:
    """A preemptive machine that is driven forward in time, so that it can be used online.

    Parameters
    ----------
    rule : str
        One of `RULES`.

    Attributes
    ----------
    pieces : list of (int, int, int)
        What has been processed: start, end and job, in order of time.

    Notes
    -----
    O(log n) per job: only the key of the running job changes, and it is pushed back only when an
    arrival preempts it.
    """

    def __init__(self, rule: str = "srpt"):
        self._rule = rule
        self._waiting: list[tuple[int | Fraction, int, int, int, _Job]] = []
        self._running: _Job | None = None
        self._begun = self._end = 0
        self.pieces: list[tuple[int, int, int]] = []

    @property
    def next_completion(self) -> int | None:
        """When the running job ends if nothing arrives; None if the machine is idle."""
        return None if self._running is None else self._end

    def add(self, job: int, release: int, work: int, weight: Fraction = Fraction(1)) -> None:
        """Let a job arrive. Completions before its release have been taken already.

        Ties go by release, then by job.
        """
        arrival = self._entry(_Job(release, job, work, weight), work)
        heapq.heappush(self._waiting, arrival)
        running = self._running
        if running is None:
            self._start(release)
        elif self._end > release:
            rest = self._entry(running, self._end - release)
            if arrival < rest:
                heapq.heappush(self._waiting, rest)
                if self._begun < release:
                    self.pieces.append((self._begun, release, running.index))
                self._start(release)

    def complete(self) -> int:
        """Move to the next completion and return the job."""
        assert self._running is not None
        job = self._running.index
        self.pieces.append((self._begun, self._end, job))
        self._running = None
        if self._waiting:
            self._start(self._end)
        return job

    def _entry(self, job: _Job, rest: int) -> tuple[int | Fraction, int, int, int, _Job]:
        if self._rule == "srpt":
            return rest, job.release, job.index, rest, job
        work = job.work if self._rule == "wspt" else rest
        return -job.weight / work, job.release, job.index, rest, job

    def _start(self, now: int) -> None:
        _, _, _, rest, self._running = heapq.heappop(self._waiting)
        self._begun, self._end = now, now + rest


def virtual_run(
    release: Sequence[int],
    work: Sequence[int],
    weight: Sequence[Fraction] | None = None,
    rule: str = "srpt",
) -> tuple[list[int], list[tuple[int, int, int]]]:
    """Return when each job completes on the virtual machine, and its pieces, in microticks."""
    machine = VirtualMachine(rule)
    completion = [0] * len(release)
    for j in sorted(range(len(release)), key=lambda j: (release[j], j)):
        while (end := machine.next_completion) is not None and end <= release[j]:
            completion[machine.complete()] = end
        machine.add(j, release[j], work[j], weight[j] if weight is not None else Fraction(1))
    while (end := machine.next_completion) is not None:
        completion[machine.complete()] = end
    return completion, machine.pieces


def virtual_completions(
    release: Sequence[int],
    work: Sequence[int],
    weight: Sequence[Fraction] | None = None,
    rule: str = "srpt",
) -> list[int]:
    """Return when each job completes on the virtual machine, in microticks."""
    return virtual_run(release, work, weight, rule)[0]
