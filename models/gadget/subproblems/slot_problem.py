r"""Problem of one slot: ring sizes and their placement, for given gains.

With :math:`z_{i,t-1}` worker-slots done, a ring of :math:`\kappa` workers gains

.. math::
    \pi_{i,\kappa} = u_i(z_{i,t-1} + \kappa) - u_i(z_{i,t-1}),

and the slot chooses rings of the largest total gain (10)-(12).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gadgetopt.numbers.arrays import Floats

from ..instance import Ring
from ..terms import JobTerms, Terms


@dataclass(frozen=True)
class SlotJob:
    """A job that may run in the slot.

    Attributes
    ----------
    job : JobTerms
    gain : array, shape (q_i + 1,)
        pi_{i, kappa} of rings of 0, 1, ..., q_i workers; the first is 0.
    """

    job: JobTerms
    gain: Floats

    @property
    def most(self) -> int:
        """q_i, the largest ring."""
        return len(self.gain) - 1


@dataclass(frozen=True)
class SlotProblem:
    """One slot: the network and the jobs that may run.

    Attributes
    ----------
    terms : Terms
    slot : int
    jobs : tuple of SlotJob
    """

    terms: Terms
    slot: int
    jobs: tuple[SlotJob, ...]


@dataclass(frozen=True)
class Mapping:
    """Placement of the ring of a job.

    Attributes
    ----------
    job : int
        Number of the job in the instance.
    workers : tuple of (int, int)
        Servers, by position in `Terms.servers`, with their numbers of workers.
    routes : tuple of tuple of int, optional
        As `Ring.routes`, for the ring that visits the servers in the order of `workers`; None on
        two-tier clusters.
    """

    job: int
    workers: tuple[tuple[int, int], ...]
    routes: tuple[tuple[int, ...], ...] | None = None

    @property
    def size(self) -> int:
        """kappa, the number of workers."""
        return sum(count for _, count in self.workers)


def slot_problem(
    terms: Terms,
    slot: int,
    done: Sequence[int],
    tables: Sequence[Floats] | None = None,
    largest: Sequence[int] | None = None,
    among: Iterable[int] | None = None,
) -> SlotProblem:
    r"""Return the problem of a slot after `done` worker-slots of every job.

    Parameters
    ----------
    terms : Terms
    slot : int
    done : sequence of int
        z_{i, t-1}.
    tables : sequence of array, optional
        Utilities to use in place of u_i, such as their concave envelopes.
    largest : sequence of int, optional
        The largest ring of each job that can be embedded alone, if known.
    among : iterable of int, optional
        The candidate jobs, if others are known to be done or not to have arrived.

    Notes
    -----
    The limit on a ring (reconstructed): :math:`q_i = \min \{N_i, K_i - z_{i,t-1}, \sum_s \min_r
    \lfloor C_s^r / l_i^r \rfloor\}`. Jobs with a limit of 0 are left out.
    """
    jobs = []
    for i in range(len(terms.jobs)) if among is None else among:
        job = terms.jobs[i]
        if job.arrival > slot:
            continue
        most = min(job.max_ring, job.max_total - done[i])
        if largest is not None:
            most = min(most, largest[i])
        if most <= 0:
            continue
        u = job.utility if tables is None else tables[i]
        jobs.append(SlotJob(job, u[done[i] : done[i] + most + 1] - u[done[i]]))
    return SlotProblem(terms, slot, tuple(jobs))


def ring(terms: Terms, slot: int, mapping: Mapping) -> Ring:
    """Return a mapping as the ring of a solution; workers of a server are consecutive."""
    nodes: list[int] = []
    for position, count in mapping.workers:
        nodes += [terms.servers[position]] * count
    return Ring(slot=slot, job=mapping.job, servers=tuple(nodes), routes=mapping.routes)
