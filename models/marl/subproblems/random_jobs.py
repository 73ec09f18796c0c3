"""Random tables of interference, jobs and clusters (reconstructed).

Four types, slowdowns from 0.05 to 0.6 in steps of 0.01; jobs of 1, 1, 2, 2 or 4 tasks of one GPU
and 2, 3 or 4 CPUs, of 200 to 2000 iterations of 0.2 to 1 s, which take 0.02 to 0.1 s longer in a
rack and 0.1 to 0.5 s longer across racks.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gadgetopt.errors import InputError

from .cluster import Job, Server

if TYPE_CHECKING:
    import numpy as np

#: Of how many tasks a job is, each as likely. By definition.
TASKS = (1, 1, 2, 2, 4)
#: Gradients of a job, in hundredths of a GByte: from a small network to a large one. By definition.
GRADIENTS = (5, 150)


def table(
    rng: np.random.Generator, types: int, least: float = 0.05, most: float = 0.6
) -> tuple[tuple[Fraction, ...], ...]:
    """Return a random table of interference, in hundredths."""
    low, high = round(100 * least), round(100 * most)
    if not 0 <= low <= high:
        raise InputError(f"most_interference: {most}, expected at least {least}")
    drawn = rng.integers(low, high + 1, size=(types, types)).tolist()
    return tuple(tuple(Fraction(a, 100) for a in row) for row in drawn)


def jobs_for(
    rng: np.random.Generator,
    servers: Sequence[Server],
    *,
    jobs: int,
    types: int,
    load: float = 1.0,
    tasks: Sequence[int] = TASKS,
) -> tuple[Job, ...]:
    """Return random jobs; those that the GPUs, times the load, have no room for are left out."""
    if jobs < 0:
        raise InputError(f"jobs: {jobs}, expected at least 0")
    room = load * sum(server.gpus for server in servers)
    kept: list[Job] = []
    for _ in range(jobs):
        job = random_job(rng, types, tasks)
        need = job.num_tasks * job.gpus_per_task
        if need <= room:
            kept.append(job)
            room -= need
    return tuple(kept)


def random_job(
    rng: np.random.Generator,
    types: int,
    tasks: Sequence[int] = TASKS,
    iterations: tuple[int, int] = (200, 2000),
    **given: Any,
) -> Job:
    """Return a random job; `given` fields are not drawn."""
    return Job(
        type=int(rng.integers(types)),
        num_tasks=int(rng.choice(list(tasks))),
        gpus_per_task=1,
        cpus_per_task=int(rng.integers(2, 5)),
        iterations=int(rng.integers(iterations[0], iterations[1] + 1)),
        base_iteration_s=Fraction(int(rng.integers(20, 101)), 100),
        rack_comm_s=Fraction(int(rng.integers(20, 101)), 1000),
        cross_comm_s=Fraction(int(rng.integers(100, 501)), 1000),
        **given,
    )


def with_gradients(
    rng: np.random.Generator, jobs: Sequence[Job], **changed: Any
) -> tuple[Job, ...]:
    """Return jobs with random gradients; `changed` fields are others, too."""
    drawn = rng.integers(GRADIENTS[0], GRADIENTS[1] + 1, size=len(jobs)).tolist()
    return tuple(
        job.model_copy(update={"gradient_gbytes": Fraction(h, 100), **changed})
        for job, h in zip(jobs, drawn, strict=True)
    )


def racks_of(
    racks: int, servers_per_rack: int, gpus: int = 4, cpus: int = 16
) -> tuple[Server, ...]:
    """Return racks of equal servers."""
    for name, value in (("racks", racks), ("servers_per_rack", servers_per_rack)):
        if value < 1:
            raise InputError(f"{name}: {value}, expected at least 1")
    return tuple(
        Server(gpus=gpus, cpus=cpus, rack=r) for r in range(racks) for _ in range(servers_per_rack)
    )


def fat_tree_of(ports: int, gpus: int = 4, cpus: int = 16) -> tuple[Server, ...]:
    """Return the servers of a fat tree: k pods of k/2 edge switches, each a rack of k/2 servers."""
    if ports < 2 or ports % 2:
        raise InputError(f"ports: {ports}, expected an even number of at least 2")
    return racks_of(ports * ports // 2, ports // 2, gpus, cpus)
