"""Which GPUs of a board the tasks of a job have, where a plan does not say it.

A job that goes on with the same tasks on the same servers keeps its GPUs. The others, in the order
of their numbers, get on each server the free GPUs with the fastest ring, and of several such sets
the first.
"""

from __future__ import annotations

from collections.abc import Sequence

from gadgetopt.pieces.server_boards import fastest

from ...subproblems.architecture import Seats
from ..instance import QueueingInstance, Running


def seated(
    instance: QueueingInstance,
    running: Sequence[Running],
    before: dict[int, tuple[Running, Seats]],
) -> dict[int, Seats]:
    """Return the GPUs of the jobs of a slot, with those of the slot before.

    Parameters
    ----------
    instance : QueueingInstance
        With boards.
    running : sequence of Running
        As many tasks as the servers have GPUs for, at most.
    before : dict
        What ran in the slot before, by job, and its GPUs.
    """
    found: dict[int, Seats] = {}
    taken: dict[int, set[int]] = {}
    for r in running:
        if r.job in before and sorted(before[r.job][0].tasks) == sorted(r.tasks):
            found[r.job] = before[r.job][1]
            for s, gpus in found[r.job].items():
                taken.setdefault(s, set()).update(gpus)
    for r in sorted(running, key=lambda r: r.job):
        if r.job in found:
            continue
        seats = found[r.job] = {}
        for s, n in r.tasks:
            busy = taken.setdefault(s, set())
            board = instance.boards[instance.servers[s].board]
            free = [g for g in range(board.gpus) if g not in busy]
            seats[s] = fastest(board, free, n * instance.jobs[r.job].gpus_per_task)
            busy.update(seats[s])
    return found
