"""The first witness: every plan, slot by slot, and small random instances to try it on."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from gadgetopt.models.marl.queueing.evaluate import evaluate, iterations_in_slot
from gadgetopt.models.marl.queueing.instance import (
    QueueingInstance,
    QueueingSolution,
    Running,
)
from gadgetopt.models.marl.subproblems.architecture import Network
from gadgetopt.models.marl.subproblems.cluster import Server
from gadgetopt.numbers.tolerance import Number
from gadgetopt.pieces.server_boards import Board

from ..placement.brute_force import small_jobs, small_table, spreads

Slot = tuple[Running, ...]


def best_plan(instance: QueueingInstance) -> tuple[Number, QueueingSolution] | None:
    """The least mean completion time of all plans and one that has it; None if there is none.

    After every slot the cheapest plan is kept of those that did the same iterations, cost being the
    slots that jobs were not finished at the end of; without migration, of those that left the same
    jobs in the same places too.
    """
    jobs = len(instance.jobs)
    slots = list(_slots(instance))
    plans: dict[tuple, tuple[int, tuple[Slot, ...]]] = {((0,) * jobs, ()): (0, ())}
    for k in range(instance.num_slots):
        after: dict[tuple, tuple[int, tuple[Slot, ...]]] = {}
        for (done, homes), (cost, plan) in plans.items():
            for running, iterations in slots:
                if any(instance.first_slots[r.job] > k for r in running):
                    continue
                if not instance.migration and not _stays(running, homes):
                    continue
                now = tuple(
                    min(job.iterations, d + iterations.get(j, 0))
                    for j, (job, d) in enumerate(zip(instance.jobs, done, strict=True))
                )
                left = sum(n < job.iterations for n, job in zip(now, instance.jobs, strict=True))
                home = () if instance.migration else _homes(instance, running, now)
                key = (now, home)
                if key not in after or cost + left < after[key][0]:
                    after[key] = (cost + left, (*plan, running))
        plans = after
    finished = tuple(job.iterations for job in instance.jobs)
    ended = [found for (done, _), found in plans.items() if done == finished]
    if not ended:
        return None
    solution = QueueingSolution(slots=min(ended, key=lambda found: found[0])[1])
    evaluation = evaluate(instance, solution)
    assert evaluation.feasible
    return evaluation.objective, solution


def _slots(instance: QueueingInstance) -> Iterator[tuple[Slot, dict[int, int]]]:
    """Every way to run jobs in one slot, and the iterations that each of them does."""
    ways = [[None, *spreads(job.num_tasks, len(instance.servers))] for job in instance.jobs]
    for chosen in itertools.product(*ways):
        running = tuple(
            Running(job=j, tasks=tuple((s, n) for s, n in enumerate(way) if n))
            for j, way in enumerate(chosen)
            if way is not None
        )
        if not _fits(instance, running):
            continue
        for seated in _seated(instance, running):
            seats = {r.job: dict(zip(dict(r.tasks), r.gpus, strict=False)) for r in seated}
            yield seated, iterations_in_slot(instance, seated, seats)


def _seated(instance: QueueingInstance, running: Slot) -> Iterator[Slot]:
    """The jobs of a slot with all GPUs that they can have, if there are boards."""
    if not instance.boards:
        yield running
        return
    sets = [
        itertools.product(
            *(
                itertools.combinations(
                    range(instance.servers[s].gpus), n * instance.jobs[r.job].gpus_per_task
                )
                for s, n in r.tasks
            )
        )
        for r in running
    ]
    for chosen in itertools.product(*sets):
        taken = [
            (s, g)
            for r, gpus in zip(running, chosen, strict=True)
            for (s, _), here in zip(r.tasks, gpus, strict=True)
            for g in here
        ]
        if len(set(taken)) == len(taken):
            yield tuple(
                r.model_copy(update={"gpus": gpus}) for r, gpus in zip(running, chosen, strict=True)
            )


def _fits(instance: QueueingInstance, running: Slot) -> bool:
    for s, server in enumerate(instance.servers):
        here = [(instance.jobs[r.job], dict(r.tasks).get(s, 0)) for r in running]
        if sum(n * job.gpus_per_task for job, n in here) > server.gpus:
            return False
        if sum(n * job.cpus_per_task for job, n in here) > server.cpus:
            return False
    return True


def _stays(running: Slot, homes: tuple) -> bool:
    now = {r.job: (r.tasks, r.gpus) for r in running}
    return all(now.get(j) == home for j, home in homes)


def _homes(instance: QueueingInstance, running: Slot, done: tuple) -> tuple:
    """Jobs that have started and are not finished, and where they are."""
    return tuple(
        (r.job, (r.tasks, r.gpus)) for r in running if done[r.job] < instance.jobs[r.job].iterations
    )


def small_instance(rng: np.random.Generator, *, migration: bool | None = None) -> QueueingInstance:
    """Two or three jobs on two servers, some slots; it may have no plan."""
    types = int(rng.integers(1, 3))
    servers = (Server(gpus=2, cpus=8), Server(gpus=2, cpus=8))
    slots = int(rng.integers(3, 6))
    jobs = tuple(
        job.model_copy(
            update={
                "iterations": int(rng.integers(5, 40)),
                "arrival_s": Fraction(int(rng.integers(0, 10 * (slots - 2)))),
            }
        )
        for job in small_jobs(rng, types, servers, int(rng.integers(1, 4)))
    )
    return QueueingInstance(
        servers=servers,
        jobs=jobs,
        interference=small_table(rng, types),
        per_task=bool(rng.random() < 0.2),
        slot_s=Fraction(10),
        num_slots=slots,
        migration=bool(rng.random() < 0.7) if migration is None else migration,
    )


def small_board(rng: np.random.Generator, gpus: int) -> Board:
    """Two sockets, the first with a switch or two; maybe an NVLink."""
    first = tuple(range(gpus - gpus // 2))
    split = rng.random() < 0.3 and len(first) > 1
    sockets = ((first[:1], first[1:]) if split else (first,), (tuple(range(len(first), gpus)),))
    u, v = rng.choice(gpus, size=2, replace=False).tolist()
    return Board(
        sockets=sockets,
        switch_gbytes_s=Fraction(12),
        socket_gbytes_s=Fraction(9),
        between_gbytes_s=Fraction(6),
        nvlinks=((u, v, Fraction(25)),) if rng.random() < 0.5 else (),
    )


def small_architecture(
    rng: np.random.Generator, *, migration: bool | None = None
) -> QueueingInstance:
    """Two or three servers with boards, a network, or both; it may have no plan."""
    types, slots = int(rng.integers(1, 3)), int(rng.integers(3, 5))
    gpus = [int(g) for g in rng.integers(2, 4, size=int(rng.integers(1, 4)))]
    boards = tuple(small_board(rng, g) for g in (2, 3)) if rng.random() < 0.8 else ()
    kind = str(rng.choice(["tree", "cube"]))
    network = Network(
        kind=kind,
        nic_gbytes_s=Fraction(int(rng.integers(4, 13))),
        hops=(2, 4, 6),
        oversubscription=(Fraction(1), Fraction(1), Fraction(int(rng.integers(1, 4)))),
        hop_s=Fraction(int(rng.integers(0, 30)), 1000),
    )
    network = network if not boards or rng.random() < 0.7 else None
    cube = ((0, 0, 0), (0, 1, 0), (1, 1, 1))
    servers = tuple(
        Server(
            gpus=g, cpus=8, rack=s, board=g - 2 if boards else 0,
            address=() if network is None else cube[s] if kind == "cube" else cube[s][:2],
        )
        for s, g in enumerate(gpus)
    )  # fmt: skip
    jobs = tuple(
        job.model_copy(
            update={
                "iterations": int(rng.integers(5, 30)),
                "arrival_s": Fraction(int(rng.integers(0, 10 * (slots - 2)))),
                "gradient_gbytes": Fraction(int(rng.integers(0, 60)), 10),
                **({} if network is None else {"rack_comm_s": 0, "cross_comm_s": 0}),
            }
        )
        for job in small_jobs(rng, types, servers, int(rng.integers(1, 4)))
    )
    return QueueingInstance(
        servers=servers,
        jobs=jobs,
        interference=small_table(rng, types),
        slot_s=Fraction(10),
        num_slots=slots,
        migration=bool(rng.random() < 0.5) if migration is None else migration,
        boards=boards,
        network=network,
    )
