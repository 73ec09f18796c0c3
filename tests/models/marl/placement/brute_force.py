"""The first witness: every placement, and small random instances to try it on."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from gadgetopt.models.marl.placement.evaluate import evaluate
from gadgetopt.models.marl.placement.instance import PlacementInstance, PlacementSolution
from gadgetopt.models.marl.subproblems.cluster import Job, Measured, Server
from gadgetopt.numbers.tolerance import Number
from gadgetopt.pieces.server_boards import Board


def optimum(instance: PlacementInstance) -> Number | None:
    """The least mean completion time of all placements; None if there is none."""
    return min(
        (evaluate(instance, solution).objective for solution in placements(instance)), default=None
    )


def placements(instance: PlacementInstance) -> Iterator[PlacementSolution]:
    """Every placement that the evaluator accepts."""
    ways = [list(spreads(job.num_tasks, len(instance.servers))) for job in instance.jobs]
    for chosen in itertools.product(*ways):
        if _fits(instance, chosen):
            solution = PlacementSolution.of([dict(enumerate(way)) for way in chosen])
            assert evaluate(instance, solution).feasible
            yield solution


def seated_optimum(instance: PlacementInstance) -> Number | None:
    """The least mean completion time of all placements with all GPUs of all jobs, on boards."""
    return min(
        (
            evaluate(instance, solution.model_copy(update={"gpus": gpus})).objective
            for solution in placements(instance)
            for gpus in _gpu_sets(instance, solution)
        ),
        default=None,
    )


def _gpu_sets(
    instance: PlacementInstance, solution: PlacementSolution
) -> Iterator[tuple[tuple[tuple[int, ...], ...], ...]]:
    """Every way to give the jobs of a placement disjoint sets of GPUs."""
    pairs = [(j, s, n) for j, on in enumerate(solution.tasks) for s, n in on]
    choices = [
        itertools.combinations(range(instance.servers[s].gpus), n * instance.jobs[j].gpus_per_task)
        for j, s, n in pairs
    ]
    for chosen in itertools.product(*choices):
        taken = [(s, g) for (_, s, _), gpus in zip(pairs, chosen, strict=True) for g in gpus]
        if len(taken) == len(set(taken)):
            sets = iter(chosen)
            yield tuple(tuple(next(sets) for _ in on) for on in solution.tasks)


def boarded(rng: np.random.Generator) -> PlacementInstance:
    """A few jobs with gradients on two servers with boards of two to four GPUs, some NVLinks."""
    boards = tuple(small_board(rng, gpus) for gpus in (2, 3, 4))
    kinds = rng.integers(0, 3, size=2).tolist()
    racks = int(rng.integers(1, 3))
    servers = tuple(
        Server(gpus=2 + kind, cpus=8, rack=s % racks, board=kind) for s, kind in enumerate(kinds)
    )
    types = int(rng.integers(1, 3))
    jobs = tuple(
        job.model_copy(update={"gradient_gbytes": hundredths(rng, 0, 300)})
        for job in small_jobs(rng, types, servers, int(rng.integers(1, 4)))
    )
    return PlacementInstance(
        servers=servers, jobs=jobs, interference=small_table(rng, types), boards=boards
    )


def small_board(rng: np.random.Generator, gpus: int) -> Board:
    """Two sockets, the first with one switch or two, and maybe an NVLink."""
    first = tuple(range(gpus - gpus // 2))
    split = len(first) > 1 and rng.random() < 0.5
    u, v = rng.choice(gpus, size=2, replace=False).tolist()
    return Board(
        sockets=((first[:1], first[1:]) if split else (first,), (tuple(range(len(first), gpus)),)),
        switch_gbytes_s=Fraction(int(rng.integers(8, 17))),
        socket_gbytes_s=Fraction(int(rng.integers(6, 13))),
        between_gbytes_s=Fraction(int(rng.integers(2, 9))),
        nvlinks=((u, v, Fraction(25)),) if rng.random() < 0.5 else (),
    )


def spreads(tasks: int, servers: int) -> Iterator[tuple[int, ...]]:
    """Every way to put tasks on servers."""
    if servers == 1:
        yield (tasks,)
        return
    for here in range(tasks + 1):
        for rest in spreads(tasks - here, servers - 1):
            yield (here, *rest)


def _fits(instance: PlacementInstance, chosen: tuple[tuple[int, ...], ...]) -> bool:
    for s, server in enumerate(instance.servers):
        both = list(zip(instance.jobs, chosen, strict=True))
        if sum(way[s] * job.gpus_per_task for job, way in both) > server.gpus:
            return False
        if sum(way[s] * job.cpus_per_task for job, way in both) > server.cpus:
            return False
    return True


def small_instance(rng: np.random.Generator, *, additive: bool = False) -> PlacementInstance:
    """A few jobs on two or three servers: racks, unequal servers, CPUs that matter, measurements.

    It may have no placement.
    """
    types = int(rng.integers(1, 4))
    racks = int(rng.integers(1, 3))
    servers = tuple(
        Server(gpus=int(rng.integers(1, 4)), cpus=int(rng.integers(3, 9)), rack=s % racks)
        for s in range(int(rng.integers(2, 4)))
    )
    if rng.random() < 0.5:
        servers = tuple(server.model_copy(update={"gpus": 2, "cpus": 8}) for server in servers)
    per_task = bool(rng.random() < 0.3)
    jobs = small_jobs(rng, types, servers, int(rng.integers(1, 5)))
    measured = ()
    if not additive and rng.random() < 0.3:
        neighbours = tuple(rng.integers(0, 2, size=types).tolist())
        if any(neighbours):
            measured = (
                Measured(
                    victim=int(rng.integers(types)),
                    neighbours=neighbours,
                    slowdown=hundredths(rng, 0, 100),
                ),
            )
    return PlacementInstance(
        servers=servers,
        jobs=jobs,
        interference=small_table(rng, types),
        per_task=per_task,
        measured=measured,
    )


def small_table(rng: np.random.Generator, types: int) -> tuple[tuple[Fraction, ...], ...]:
    """Slowdowns from 0 to 0.8."""
    return tuple(tuple(hundredths(rng, 0, 80) for _ in range(types)) for _ in range(types))


def small_jobs(
    rng: np.random.Generator, types: int, servers: tuple[Server, ...], number: int
) -> tuple[Job, ...]:
    """Jobs of up to three tasks, none larger than the empty cluster."""
    jobs = []
    for _ in range(number):
        gpus, cpus = int(rng.integers(0, 3)), int(rng.integers(0, 3))
        room = sum(
            min(s.gpus // gpus if gpus else 9, s.cpus // cpus if cpus else 9) for s in servers
        )
        if not room:
            continue
        rack_s = hundredths(rng, 0, 10)
        jobs.append(
            Job(
                type=int(rng.integers(types)),
                num_tasks=min(room, int(rng.integers(1, 4))),
                gpus_per_task=gpus,
                cpus_per_task=cpus,
                iterations=int(rng.integers(1, 20)),
                base_iteration_s=hundredths(rng, 20, 100),
                rack_comm_s=rack_s,
                cross_comm_s=rack_s + hundredths(rng, 0, 40),
            )
        )
    return tuple(jobs)


def hundredths(rng: np.random.Generator, least: int, most: int) -> Fraction:
    """A random number of hundredths."""
    return Fraction(int(rng.integers(least, most + 1)), 100)
