"""An offline reference: local search over the order of a list schedule (reconstructed).

A list of jobs is decoded in time: at every release and completion the list is scanned, and a job
that fits starts. Each job has a mood. An eager one takes any place, a patient one only a place
where it is as fast as on the empty cluster; a stubborn one is patient and lets nobody behind it
pass, even before it is released. A step swaps two jobs of the list, moves one, or changes a mood;
it is kept unless the objective gets worse. All jobs and their true iterations are known: no online
policy can do this.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import ASrptInstance
from ..subproblems.cluster import Cluster
from ..subproblems.mapper import Mapper
from ..subproblems.names import MappingRule

EAGER, PATIENT, STUBBORN = range(3)

#: A decoding scans the list at every event. Tuned: `benchmarks/constants.py`.
MOST_JOBS = 2000


@method(kind="heuristic", reference="this project")
def order_search(
    instance: ASrptInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    steps: int = 4000,
    mapping: MappingRule = "best_of",
) -> MethodOutcome:
    """Offline: local search over the order of a list schedule.

    Parameters
    ----------
    instance : ASrptInstance
    limits : Limits
        `time_s` ends the search with the best schedule so far.
    rng : numpy.random.Generator
    steps : int
        Changes tried.
    mapping : str
        Rule of `subproblems.mapper.MAPPINGS`.

    Raises
    ------
    ModelRefused
        If there are more than `MOST_JOBS` jobs.
    """
    jobs = range(len(instance.jobs))
    if len(jobs) > MOST_JOBS:
        raise ModelRefused(f"jobs: {len(jobs)}, expected at most {MOST_JOBS} for list schedules")
    search: Search[Cluster] = Search("min", limits)
    work = instance.gpus * instance.min_ticks
    weight = [float(job.weight) for job in instance.jobs]
    release, ticks = instance.release_ticks, instance.min_ticks
    starts = [
        sorted(jobs, key=lambda j: (work[j] / weight[j], j)),
        sorted(jobs, key=lambda j: (ticks[j] / weight[j], j)),
        sorted(jobs, key=lambda j: (release[j] + ticks[j], j)),
    ]
    mapper = Mapper(instance, mapping)
    found: list[tuple[Fraction, int, list[int], list[int], Cluster]] = []
    for order in starts:
        for mood in (PATIENT, STUBBORN, EAGER):
            moods = [mood] * len(jobs)
            value, cluster = _decoded(instance, order, moods, mapper)
            found.append((value, len(found), order, moods, cluster))
            if search.clock.expired:
                break
    value, _, order, moods, best = min(found)
    search.offer(value, best)
    for _ in range(steps if len(jobs) > 1 else 0):
        if search.clock.expired:
            break
        new_order, new_moods = _changed(order, moods, rng)
        new_value, cluster = _decoded(instance, new_order, new_moods, mapper)
        if new_value <= value:
            search.offer(new_value, cluster)
            value, order, moods, best = new_value, new_order, new_moods, cluster
    return search.outcome(best.solution())


def _changed(
    order: Sequence[int], moods: Sequence[int], rng: np.random.Generator
) -> tuple[list[int], list[int]]:
    new_order, new_moods = list(order), list(moods)
    a, b = (int(x) for x in rng.choice(len(order), size=2, replace=False))
    kind = int(rng.integers(3))
    if kind == 0:
        new_order[a], new_order[b] = new_order[b], new_order[a]
    elif kind == 1:
        new_order.insert(b, new_order.pop(a))
    else:
        new_moods[a] = (moods[a] + 1 + int(rng.integers(2))) % 3
    return new_order, new_moods


def _decoded(
    instance: ASrptInstance, order: Sequence[int], moods: Sequence[int], mapper: Mapper
) -> tuple[Fraction, Cluster]:
    """Return the objective, in ticks, and the cluster with the schedule of a list."""
    cluster = Cluster(instance, mapper, Fraction(1))
    total, jobs = instance.total_gpus, instance.jobs
    releases = [job.release_tick * total for job in jobs]
    upcoming = sorted(set(releases))
    heapq.heapify(upcoming)
    waiting = list(order)
    value = Fraction(0)
    while waiting:
        times = (upcoming[0] if upcoming else None, cluster.next_completion)
        now = min(t for t in times if t is not None)
        while upcoming and upcoming[0] == now:
            heapq.heappop(upcoming)
        while cluster.next_completion == now:
            cluster.complete()
        still = []
        for at, job in enumerate(waiting):
            if not cluster.free.total:
                still += waiting[at:]
                break
            if releases[job] <= now and cluster.fits(job):
                offer = cluster.offer(job)
                best = cluster.mapper.on_empty_cluster(jobs[job].job_type)
                if moods[job] == EAGER or offer.units <= best:
                    value += jobs[job].weight * cluster.start(job, now, offer)
                    continue
            still.append(job)
            if moods[job] == STUBBORN:
                still += waiting[at + 1 :]
                break
        waiting = still
    return value / total, cluster
