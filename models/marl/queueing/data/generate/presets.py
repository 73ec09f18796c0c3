"""Presets: jobs that arrive as a Poisson process."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from gadgetopt.system.declaring import generator

from ....subproblems.random_jobs import (
    racks_of,
    random_job,
    table,
)
from ...instance import QueueingInstance

if TYPE_CHECKING:
    import numpy as np

    from ....subproblems.cluster import Job, Server

#: Share of the GPU-slots that jobs may need at half speed.
FULLEST = 0.7


@generator()
def tiny(
    rng: np.random.Generator, *, jobs: int = 3, servers: int = 2, gpus: int = 2, slots: int = 6
) -> QueueingInstance:
    """A few jobs, for enumeration."""
    return poisson(
        rng,
        jobs=jobs,
        servers_per_rack=servers,
        gpus=gpus,
        types=2,
        slots=slots,
        slots_per_job=1.5,
        slots_between=0.7,
        tasks=(1, 1, 2),
    )


@generator()
def quickstart(rng: np.random.Generator, *, jobs: int = 6, servers: int = 2) -> QueueingInstance:
    """A few jobs whose order matters.

    Return an instance on which the order matters and every exact method is fast.
    """
    return poisson(rng, jobs=jobs, servers_per_rack=servers, gpus=2, slots=12, slots_between=0.3)


@generator()
def paper(
    rng: np.random.Generator, *, jobs: int = 10, servers: int = 2, slots: int = 14
) -> QueueingInstance:
    """Jobs that arrive at a small cluster as a Poisson process (reconstructed).

    Return jobs that arrive at a small cluster as a Poisson process (reconstructed).
    """
    return poisson(rng, jobs=jobs, servers_per_rack=servers, slots=slots, slots_between=0.3)


@generator()
def poisson(
    rng: np.random.Generator,
    *,
    jobs: int = 6,
    racks: int = 1,
    servers_per_rack: int = 3,
    gpus: int = 4,
    types: int = 4,
    slot_s: int = 300,
    slots: int = 12,
    slots_per_job: float = 2.0,
    slots_between: float = 0.5,
    tasks: tuple[int, ...] = (1, 1, 2, 2, 4),
    migration: bool = True,
) -> QueueingInstance:
    """Jobs that arrive as a Poisson process, on racks of equal servers.

    A job arrives every `slots_between` slots on average, and takes `slots_per_job` slots alone on
    average, from half to one and a half times as many. Jobs that would not end in time at half
    speed, or that the cluster has no time for, are left out.
    """
    servers = racks_of(racks, servers_per_rack, gpus, 4 * gpus)
    return arriving(
        rng,
        servers,
        jobs=jobs,
        types=types,
        slot_s=slot_s,
        slots=slots,
        slots_per_job=slots_per_job,
        slots_between=slots_between,
        tasks=tasks,
        migration=migration,
    )


def arriving(
    rng: np.random.Generator,
    servers: tuple[Server, ...],
    *,
    jobs: int,
    slots: int,
    slots_between: float,
    types: int = 4,
    slot_s: int = 300,
    slots_per_job: float = 2.0,
    tasks: tuple[int, ...] = (1, 1, 2, 2, 4),
    migration: bool = True,
) -> QueueingInstance:
    """Return the jobs of `poisson` on any servers without addresses."""
    interference = table(rng, types)
    room = sum(server.gpus for server in servers)
    kept: list[Job] = []
    arrival_s, work = 0, 0.0
    for _ in range(jobs):
        job = random_job(rng, types, [n for n in tasks if n <= room] or [1])
        length_s = slot_s * slots_per_job * float(rng.uniform(0.5, 1.5))
        iterations = max(1, round(length_s / float(job.base_iteration_s)))
        job = job.model_copy(update={"iterations": iterations, "arrival_s": Fraction(arrival_s)})
        arrival_s += round(float(rng.exponential(slots_between * slot_s)))
        slowest_s = job.base_iteration_s * 2 + job.cross_comm_s
        need = math.ceil(iterations / max(1, int(slot_s // slowest_s)))
        first = math.ceil(job.arrival_s / slot_s)
        work += need * job.num_tasks
        if first + need > slots or work > FULLEST * room * slots:
            work -= need * job.num_tasks
            continue
        kept.append(job)
    return QueueingInstance(
        servers=servers,
        jobs=tuple(kept),
        interference=interference,
        slot_s=Fraction(slot_s),
        num_slots=slots,
        migration=migration,
    )
