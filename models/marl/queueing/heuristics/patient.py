"""A rule of ours that lets a job wait where it, or a neighbour, would become too slow."""

from __future__ import annotations

from gadgetopt.errors import InputError
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...subproblems.orders import Order
from ..instance import QueueingInstance
from ..subproblems.queue import JobQueue
from ..subproblems.slots import plan


@method(kind="online", reference="this project")
def patient(
    instance: QueueingInstance, limits: Limits, *, order: Order = "srpt", patience: float = 1.5
) -> MethodOutcome:
    """`greedy_jct`, but a job waits where it or a neighbour would be too slow.

    Parameters
    ----------
    order : str
    patience : float
        A job starts if nothing runs, or if neither it nor a job on one of its servers then takes
        more than so many times its time of an iteration alone.

    Raises
    ------
    InputError
        If patience is less than 1.
    """
    if not patience >= 1:
        raise InputError(f"patience: {patience}, expected at least 1")
    clock = Clock(limits)
    solution = plan(instance, PatientQueue(instance, order, patience), clock)
    return MethodOutcome(
        solution=solution,
        limit_hit="time_s" if solution is None and clock.expired else None,
    )


class PatientQueue(JobQueue):
    """Jobs that wait until they find a good place.

    Parameters
    ----------
    instance : QueueingInstance
    order : str
    patience : float
        See `patient`.
    """

    def __init__(self, instance: QueueingInstance, order: Order, patience: float):
        super().__init__(instance, "greedy_jct", order, fixed_rng())
        self._patience = patience

    def admit(self) -> set[int]:
        """Start the waiting jobs that find a good place; return the servers that changed."""
        o, changed = self.occupancy, set[int]()
        for j in sorted(self.waiting, key=self._key):
            if not self._placer.place(j):
                continue
            near = {k for s in o.servers_of[j] for k in o.jobs_on[s]}
            slow = any(o.iteration_s(k) > self._patience * o.base_s[k] for k in near)
            if self.running and slow:
                self._placer.remove(j)
                continue
            self.waiting.remove(j)
            self.running.add(j)
            changed.update(o.servers_of[j])
        return changed
