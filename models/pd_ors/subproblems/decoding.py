"""Decoding of workers and servers of a model into slot plans of a solution."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..instance import (
    PdOrsInstance,
    PdOrsSolution,
    Placement,
    SlotPlan,
)
from ..terms import JobTerms

#: Workers and servers of every machine with something on it.
Counts = Mapping[int, tuple[int, int]]


def slot_plan(job: JobTerms, slot: int, counts: Counts) -> SlotPlan | None:
    """Return the plan of a job in a slot, without surplus servers; None without a worker.

    Solvers may leave surplus servers. They are removed from machines without workers first, so that
    they do not make a job external.
    """
    n = sum(w for w, _ in counts.values())
    if not n:
        return None
    surplus = sum(s for _, s in counts.values()) - int(job.servers[n])
    servers = {h: s for h, (_, s) in counts.items()}
    for h in sorted(counts, key=lambda h: (counts[h][0] > 0, -h)):
        taken = max(0, min(surplus, servers[h]))
        servers[h] -= taken
        surplus -= taken
    placements = [
        Placement(machine=h, workers=w, servers=servers[h])
        for h, (w, _) in sorted(counts.items())
        if w or servers[h]
    ]
    return SlotPlan(slot=slot, placements=tuple(placements))


def solution(
    instance: PdOrsInstance, plans: Mapping[int, Iterable[SlotPlan | None]]
) -> PdOrsSolution:
    """Return the decision in which the jobs named have these slots and others are rejected."""
    kept = {i: tuple(p for p in plans[i] if p is not None) for i in plans}
    return PdOrsSolution(schedules=tuple(kept.get(i) for i in range(len(instance.jobs))))
