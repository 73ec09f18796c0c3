"""Moves of local search on an occupancy: each is kept if the jobs cost less after it.

Servers that are empty and alike are the same target, so one of them is tried.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from ...subproblems.occupancy import Occupancy

#: Relative improvement below which a move is rounding.
_LEAST = 1e-9
#: Ways to share the tasks of two servers that are tried at most.
MOST_SHARES = 4096


def targets(occupancy: Occupancy, servers: Iterable[int]) -> list[int]:
    """Return servers without the repetitions of empty ones that are alike."""
    seen, kept = set(), []
    for s in servers:
        if not occupancy.jobs_on[s]:
            key = occupancy.instance.servers[s]
            if key in seen:
                continue
            seen.add(key)
        kept.append(s)
    return kept


def improve_job(occupancy: Occupancy, j: int, servers: Iterable[int]) -> float:
    """Move or swap tasks of a job, to any of the servers, while it helps; return what is saved."""
    saved = 0.0
    candidates = targets(occupancy, servers)
    for a in list(occupancy.servers_of[j]):
        for b in candidates:
            if a == b or j not in occupancy.jobs_on[a]:
                continue
            saved += _relocate(occupancy, j, a, b)
            if j in occupancy.jobs_on[a]:
                saved += _swap(occupancy, j, a, b)
    return saved


def _relocate(occupancy: Occupancy, j: int, a: int, b: int) -> float:
    """Move a task of a job from a to b, or else all of them, if that helps."""
    room, here = occupancy.room(j, b), occupancy.jobs_on[a][j]
    jobs = {*occupancy.jobs_on[a], *occupancy.jobs_on[b]}
    before = occupancy.cost_of(jobs) if room else 0.0
    for n in {1, here}:
        if n > room:
            continue
        occupancy.put(j, a, -n)
        occupancy.put(j, b, n)
        saved = before - occupancy.cost_of(jobs)
        if saved > _LEAST * before:
            return saved
        occupancy.put(j, b, -n)
        occupancy.put(j, a, n)
    return 0.0


def _swap(occupancy: Occupancy, j: int, a: int, b: int) -> float:
    """Swap a task of job j on server a with one of another job on server b, if that helps."""
    jobs = {*occupancy.jobs_on[a], *occupancy.jobs_on[b]}
    before = occupancy.cost_of(jobs)
    for k in list(occupancy.jobs_on[b]):
        if k == j:
            continue
        occupancy.put(j, a, -1)
        occupancy.put(k, b, -1)
        if occupancy.room(j, b) and occupancy.room(k, a):
            occupancy.put(j, b)
            occupancy.put(k, a)
            saved = before - occupancy.cost_of(jobs)
            if saved > _LEAST * before:
                return saved
            occupancy.put(j, b, -1)
            occupancy.put(k, a, -1)
        occupancy.put(j, a)
        occupancy.put(k, b)
    return 0.0


def place_anew(occupancy: Occupancy, j: int, servers: Iterable[int]) -> float:
    """Take a job away and put it where all jobs cost least, task by task or all on one server."""
    was = dict(occupancy.servers_of[j])
    cost = occupancy.cost_of(_near(occupancy, was) | {j})
    occupancy.clear(j)
    without = cost - occupancy.cost_of(_near(occupancy, was))
    candidates = targets(occupancy, servers)
    best, least = was, without
    for many in {1, occupancy.instance.jobs[j].num_tasks}:
        added = _insert(occupancy, j, candidates, many)
        if added is not None and added < least:
            best, least = dict(occupancy.servers_of[j]), added
        occupancy.clear(j)
    saved = without - least
    if saved <= _LEAST * cost:
        occupancy.restore(j, was)
        return 0.0
    occupancy.restore(j, best)
    return saved


def _insert(occupancy: Occupancy, j: int, servers: list[int], many: int) -> float | None:
    """Put the tasks of a job, so many at a time, each time where the cost grows least."""
    total = 0.0
    for _ in range(occupancy.instance.jobs[j].num_tasks // many):
        best: tuple[float, int] | None = None
        for s in servers:
            if occupancy.room(j, s) < many:
                continue
            jobs = {*occupancy.jobs_on[s], j}
            before = occupancy.cost_of(jobs)
            occupancy.put(j, s, many)
            added = occupancy.cost_of(jobs) - before
            occupancy.put(j, s, -many)
            if best is None or added < best[0]:
                best = added, s
        if best is None:
            return None
        occupancy.put(j, best[1], many)
        total += best[0]
    return total


def share_anew(occupancy: Occupancy, a: int, b: int) -> float:
    """Share the tasks on two servers between them in the best way; return what is saved."""
    here, there = occupancy.jobs_on[a], occupancy.jobs_on[b]
    tasks = {j: here.get(j, 0) + there.get(j, 0) for j in (*here, *there)}
    ways = 1
    for n in tasks.values():
        ways *= n + 1
    if ways > MOST_SHARES:
        return 0.0
    before = occupancy.cost_of(tasks)
    was = {j: here.get(j, 0) for j in tasks}
    best, least = was, before
    for share in itertools.product(*(range(n + 1) for n in tasks.values())):
        now = dict(zip(tasks, share, strict=True))
        if not _fits(occupancy, a, b, tasks, now):
            continue
        _share(occupancy, a, b, now)
        cost = occupancy.cost_of(tasks)
        if cost < least:
            best, least = now, cost
    if before - least <= _LEAST * before:
        best, least = was, before
    _share(occupancy, a, b, best)
    return before - least


def _fits(
    occupancy: Occupancy, a: int, b: int, tasks: dict[int, int], on_a: dict[int, int]
) -> bool:
    servers = occupancy.instance.servers
    for name, need in (("gpus", occupancy.gpus), ("cpus", occupancy.cpus)):
        first = sum(n * need[j] for j, n in on_a.items())
        both = sum(n * need[j] for j, n in tasks.items())
        if first > getattr(servers[a], name) or both - first > getattr(servers[b], name):
            return False
    return True


def _share(occupancy: Occupancy, a: int, b: int, on_a: dict[int, int]) -> None:
    """Move tasks between two servers until the first has these."""
    for j, n in on_a.items():
        moved = n - occupancy.jobs_on[a].get(j, 0)
        if moved:
            occupancy.put(j, a, moved)
            occupancy.put(j, b, -moved)


def _near(occupancy: Occupancy, servers: Iterable[int]) -> set[int]:
    """Return the jobs on some servers."""
    return {k for s in servers for k in occupancy.jobs_on[s]}
