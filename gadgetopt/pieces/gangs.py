"""GPUs by number for gangs that are scheduled by their numbers of GPUs on each server."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import Any


def assigned_gpus(
    server_gpus: Sequence[int],
    start: Sequence[Any],
    end: Sequence[Any],
    placement: Sequence[Mapping[int, int]],
) -> list[dict[int, tuple[int, ...]]]:
    """Return the GPUs of each gang: by server, their numbers on it from 0.

    Gangs are taken by start. On each server a gang gets the smallest run of free adjacent GPUs that
    holds it, else the free GPUs of lowest number. Gangs on a server are intervals in time, so a
    schedule within the capacities never runs out of GPUs, whichever are chosen.

    Parameters
    ----------
    server_gpus : sequence of int
    start, end : sequence of numbers
        A gang that ends when another starts has left by then.
    placement : sequence of mapping
        Of each gang: GPUs by server.
    """
    free = [set(range(capacity)) for capacity in server_gpus]
    ids: list[dict[int, tuple[int, ...]]] = [{} for _ in placement]
    running: list[tuple[Any, int]] = []
    for begun, j in sorted((begun, j) for j, begun in enumerate(start)):
        while running and running[0][0] <= begun:
            _, done = heapq.heappop(running)
            for s, held in ids[done].items():
                free[s].update(held)
        for s, count in placement[j].items():
            if count:
                ids[j][s] = _chosen(free[s], count)
                free[s].difference_update(ids[j][s])
        heapq.heappush(running, (end[j], j))
    return ids


def runs(ids: Sequence[int]) -> list[list[int]]:
    """Split ascending numbers into runs of neighbours."""
    found: list[list[int]] = []
    for g in ids:
        if found and found[-1][-1] == g - 1:
            found[-1].append(g)
        else:
            found.append([g])
    return found


def _chosen(free: set[int], count: int) -> tuple[int, ...]:
    """Choose GPUs from the smallest run of neighbours that is large enough, else the lowest."""
    fitting = [run for run in runs(sorted(free)) if len(run) >= count]
    pool = min(fitting, key=len) if fitting else sorted(free)
    return tuple(pool[:count])
