r"""A few servers that share their tasks in the best way: the configuration program, enumerated.

The contents of all but the last server are enumerated, the last takes the rest. Tasks elsewhere
stay; they enter as the slowdown and the servers that a job has outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats, Ints

from ...subproblems.occupancy import Occupancy

#: Ways to share that are compared at most, and contents of one server that are listed.
#: Tuned: `benchmarks/constants.py`.
MOST_WAYS, MOST_CONTENTS = 400_000, 20_000
#: Relative improvement below which a change is rounding. Tuned: `benchmarks/constants.py`.
_LEAST = 1e-9


@dataclass(frozen=True)
class _Outside:
    """What the jobs have on other servers.

    Attributes
    ----------
    slowdown : array, shape (jobs,)
    servers : array, shape (jobs,)
        How many.
    racks : array, shape (jobs,)
        How many racks in which none of the servers at hand is.
    in_rack : array, shape (racks at hand, jobs)
        True if the job is in that rack on another server.
    """

    slowdown: Floats
    servers: Ints
    racks: Ints
    in_rack: Bools


def share_anew(occupancy: Occupancy, servers: Sequence[int]) -> float:
    """Share the tasks on two or three servers in the best way; return what that saves.

    Nothing is done if there are too many ways.
    """
    o = occupancy
    jobs = sorted({j for s in servers for j in o.jobs_on[s]})
    if not jobs:
        return 0.0
    tasks = np.array([sum(o.jobs_on[s].get(j, 0) for s in servers) for j in jobs], dtype=np.int64)
    if float(np.prod(tasks + 1.0)) > MOST_CONTENTS:
        return 0.0
    lists = [_contents(o, jobs, tasks, s) for s in servers]
    shares = _ways(lists, tasks)
    if shares is None or not len(shares[0]):
        return 0.0
    cost = _costs(o, jobs, servers, lists, shares)
    best = int(np.argmin(cost))
    before = o.cost_of(jobs)
    saved = before - float(cost[best])
    if saved <= _LEAST * before:
        return 0.0
    for s, listed, share in zip(servers, lists, shares, strict=True):
        for j, n in zip(jobs, listed[share[best]].tolist(), strict=True):
            moved = n - o.jobs_on[s].get(j, 0)
            if moved:
                o.put(j, s, moved)
    return saved


def _contents(o: Occupancy, jobs: list[int], tasks: Ints, s: int) -> Ints:
    """Return all contents of a server, one in a row, the empty one first."""
    server = o.instance.servers[s]
    grid = np.indices(tuple((tasks + 1).tolist())).reshape(len(tasks), -1).T
    gpus = grid @ np.array([o.gpus[j] for j in jobs])
    cpus = grid @ np.array([o.cpus[j] for j in jobs])
    kept: Ints = grid[(gpus <= server.gpus) & (cpus <= server.cpus)]
    return kept


def _ways(lists: list[Ints], tasks: Ints) -> list[Ints] | None:
    """Return for every server the row of its content, way by way; None if there are too many."""
    # Rows of the last server's list by what is left for it, as numbers in mixed radix.
    radix = np.concatenate([np.cumprod((tasks + 1)[::-1])[-2::-1], [1]]).astype(np.int64)
    last = np.full(int(np.prod(tasks + 1)), -1, dtype=np.int64)
    last[lists[-1] @ radix] = np.arange(len(lists[-1]))
    chosen = [np.arange(len(lists[0]))]
    used = lists[0]
    for listed in lists[1:-1]:
        if len(used) * len(listed) > 4 * MOST_WAYS:
            return None
        fits = (used[:, None, :] + listed[None] <= tasks).all(axis=2)
        rows, columns = np.nonzero(fits)
        chosen = [*(c[rows] for c in chosen), columns]
        used = used[rows] + listed[columns]
    rest = last[(tasks - used) @ radix]
    fits = rest >= 0
    if int(fits.sum()) > MOST_WAYS:
        return None
    return [*(c[fits] for c in chosen), rest[fits]]


def _costs(
    o: Occupancy, jobs: list[int], servers: Sequence[int], lists: list[Ints], shares: list[Ints]
) -> Floats:
    """Return what all jobs cost in every way to share."""
    racks = sorted({o.rack[s] for s in servers})
    outside = _outside(o, jobs, servers, racks)
    ways = len(shares[0])
    slowdown = np.repeat(outside.slowdown[None], ways, axis=0)
    number = np.repeat(outside.servers[None], ways, axis=0)
    in_rack = np.repeat(outside.in_rack[:, None], ways, axis=1)
    for s, listed, share in zip(servers, lists, shares, strict=True):
        np.maximum(slowdown, _slowdowns(o, jobs, listed)[share], out=slowdown)
        there = (listed > 0)[share]
        number += there
        in_rack[racks.index(o.rack[s])] |= there
    iterations = np.array([o.iterations[j] for j in jobs])
    base_s = np.array([o.base_s[j] for j in jobs])
    rack_s = np.array([o.rack_s[j] for j in jobs])
    cross_s = np.array([o.cross_s[j] for j in jobs])
    crossing = in_rack.sum(axis=0) + outside.racks > 1
    comm_s = np.where(crossing, cross_s, np.where(number > 1, rack_s, 0.0))
    return np.asarray((base_s * (1.0 + slowdown) + comm_s) @ iterations)


def _slowdowns(o: Occupancy, jobs: list[int], contents: Ints) -> Floats:
    """Return the slowdown of every job in every content, 0 where it has no task."""
    kinds = np.array([o.kind[j] for j in jobs], dtype=np.int64)
    alpha = o.instance.alpha[np.ix_(kinds, kinds)]
    weights = contents if o.instance.per_task else (contents > 0).astype(np.int64)
    slowdown = weights @ alpha.T - weights * np.diag(alpha)
    if o.measured:
        of_type = np.eye(o.instance.num_types, dtype=np.int64)[kinds]
        counts = weights @ of_type
        for at, kind in enumerate(kinds.tolist()):
            neighbours = counts - weights[:, [at]] * of_type[at]
            for (victim, known), value in o.measured.items():
                if victim == kind:
                    slowdown[(neighbours == known).all(axis=1), at] = value
    return np.where(contents > 0, slowdown, 0.0)


def _outside(o: Occupancy, jobs: list[int], servers: Sequence[int], racks: list[int]) -> _Outside:
    others = [[s for s in o.servers_of[j] if s not in servers] for j in jobs]
    places = [{o.rack[s] for s in there} for there in others]
    return _Outside(
        np.array(
            [
                max((o.slowdown(j, s) for s in there), default=0.0)
                for j, there in zip(jobs, others, strict=True)
            ]
        ),
        np.array([len(there) for there in others], dtype=np.int64),
        np.array([len(place.difference(racks)) for place in places], dtype=np.int64),
        np.array([[r in place for place in places] for r in racks], dtype=bool),
    )
