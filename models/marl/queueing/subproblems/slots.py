"""A plan in slots by a queue: jobs start at the beginning of slots and stay until they end."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.search.clock import Clock

from ...subproblems.architecture import Seats
from ...subproblems.contents import Slowdowns
from ...subproblems.occupancy import Occupancy
from ..instance import QueueingInstance, QueueingSolution, Running
from .queue import JobQueue
from .seats import seated

#: Seconds of a job without a ring. By definition.
_NOTHING = Fraction(0)


class SlotRates:
    """Whole iterations of a job in a slot, exactly; equal situations are computed once."""

    def __init__(self, instance: QueueingInstance):
        self._instance = instance
        self._slowdowns = Slowdowns(instance, ())
        self._known: dict[tuple[int, Fraction, int, Fraction], int] = {}

    def iterations(self, occupancy: Occupancy, j: int, inside_s: Fraction = _NOTHING) -> int:
        """Return how many iterations a running job can do in a slot.

        Parameters
        ----------
        occupancy : Occupancy
        j : int
        inside_s : Fraction, optional
            What an iteration pays for its rings inside servers.
        """
        instance, job = self._instance, self._instance.jobs[j]
        there = occupancy.servers_of[j]
        slowdown = max(
            self._slowdowns.among(job.type, self._neighbours(occupancy, j, s)) for s in there
        )
        span = instance.span(there)
        key = (j, slowdown, span, inside_s)
        if key not in self._known:
            comm_s = max(instance.span_s(j, span), inside_s)
            iteration_s = job.base_iteration_s * (1 + slowdown) + comm_s
            self._known[key] = int(instance.slot_s // iteration_s)
        return self._known[key]

    def _neighbours(self, occupancy: Occupancy, j: int, s: int) -> tuple[int, ...]:
        counts = [0] * self._instance.num_types
        for k, n in occupancy.jobs_on[s].items():
            if k != j:
                counts[occupancy.kind[k]] += n if self._instance.per_task else 1
        return tuple(counts)


def plan(instance: QueueingInstance, queue: JobQueue, clock: Clock) -> QueueingSolution | None:
    """Return the plan that a queue makes; None if a job is not finished in time, or time is up."""
    rates = SlotRates(instance)
    arrivals: dict[int, list[int]] = {}
    for j, slot in enumerate(instance.first_slots):
        arrivals.setdefault(slot, []).append(j)
    open_jobs = len(instance.jobs)
    slots: list[tuple[Running, ...]] = []
    gpu_s = [float(job.num_tasks * job.gpus_per_task * instance.slot_s) for job in instance.jobs]
    before: dict[int, tuple[Running, Seats]] = {}
    for k in range(instance.num_slots):
        if not open_jobs or clock.expired:
            break
        queue.waiting.update(arrivals.get(k, ()))
        queue.admit()
        slots.append(
            tuple(
                Running(job=j, tasks=tuple(sorted(queue.occupancy.servers_of[j].items())))
                for j in sorted(queue.running)
            )
        )
        rings = _rings(instance, slots[-1], before) if instance.boards else {}
        done = {
            j: rates.iterations(queue.occupancy, j, rings.get(j, _NOTHING)) for j in queue.running
        }
        for j, iterations in done.items():
            queue.left[j] -= iterations
            queue.attained_gpu_s[j] += gpu_s[j]
            if queue.left[j] <= 0:
                queue.finish(j)
                open_jobs -= 1
    return None if open_jobs else QueueingSolution(slots=tuple(slots))


def _rings(
    instance: QueueingInstance,
    running: tuple[Running, ...],
    before: dict[int, tuple[Running, Seats]],
) -> dict[int, Fraction]:
    """Return what each job of a slot pays for its rings; `before` then has who is on which GPUs."""
    seats = seated(instance, running, before)
    before.clear()
    before.update({r.job: (r, seats[r.job]) for r in running})
    return {j: instance.inside_s(j, of_job) for j, of_job in seats.items()}
