"""Moves of local search on an occupancy: each is kept if the jobs cost less after it.

Servers that are empty and alike are the same target, so one of them is tried.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...subproblems.occupancy import Occupancy

#: Relative improvement below which a move is rounding. Tuned: `benchmarks/constants.py`.
_LEAST = 1e-9


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
    """Take a job away and put it where all jobs cost least; return what is saved."""
    was = dict(occupancy.servers_of[j])
    near = {k for s in was for k in occupancy.jobs_on[s]}
    before = occupancy.cost_of(near)
    occupancy.clear(j)
    without = before - occupancy.cost_of(near)
    added = insert_job(occupancy, j, servers)
    if added is not None and without - added > _LEAST * before:
        return without - added
    occupancy.clear(j)
    occupancy.restore(j, was)
    return 0.0


def insert_job(occupancy: Occupancy, j: int, servers: Iterable[int]) -> float | None:
    """Put a job where all jobs cost least, task by task or all on one server.

    Returns
    -------
    float or None
        By how much the cost grows; None if there is no room, and the job is nowhere then.
    """
    candidates = targets(occupancy, servers)
    best: dict[int, int] = {}
    least: float | None = None
    for many in {1, occupancy.instance.jobs[j].num_tasks}:
        added = _insert(occupancy, j, candidates, many)
        if added is not None and (least is None or added < least):
            best, least = dict(occupancy.servers_of[j]), added
        occupancy.clear(j)
    occupancy.restore(j, best)
    return least


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
