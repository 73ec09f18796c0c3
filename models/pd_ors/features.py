"""Features: density and difficulty of a stream of jobs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.system.features import largest_share, mean, variation

from .instance import Job, PdOrsInstance


@dataclass(frozen=True)
class _Work:
    """A job that could complete: its least worker-slots, its demand in each, its utilities."""

    job: Job
    worker_slots: float
    demand: tuple[float, ...]
    shortest_slots: int
    slots_left: int
    locality_gain: float
    best_utility: float
    last_utility: float


def features(instance: PdOrsInstance) -> dict[str, float]:
    """Return density and difficulty of an instance.

    A job is useful if it could complete within the horizon with positive utility, given the whole
    cluster as a single machine for itself. Demands count a worker with its share of a parameter
    server.

    - `useful_jobs`: how many are.
    - `load`: least demand of the useful jobs over the machines' capacity over the horizon, for the
      most loaded resource.
    - `mean_window_share`: shortest duration over the slots left at arrival, mean over the useful
      jobs.
    - `mean_utility_decay`: share of its best utility that a job loses by ending in the last slot,
      on average.
    - `worker_share`: share of an average machine that a worker takes; large values cause
      fragmentation.
    - `locality_gain`: speed-up of a worker if the whole job is on one machine, on average.
    - `utility_variation`, `work_variation`: coefficients of variation of best utilities and of
      least worker-slots.
    - `arrival_variation`: coefficient of variation of arrivals per slot; 0 for a steady stream.
    """
    total = np.sum([machine.capacity for machine in instance.machines], axis=0)
    found = [_work(job, instance, total.tolist()) for job in instance.jobs]
    useful = [w for w in found if w is not None]
    needed = [sum(w.worker_slots * w.demand[r] for w in useful) for r in range(len(total))]
    machine = (total / len(instance.machines)).tolist()
    arrivals = np.bincount(
        [job.arrival_slot for job in instance.jobs], minlength=instance.horizon_slots + 1
    )
    return {
        "useful_jobs": float(len(useful)),
        "load": largest_share(needed, (total * instance.horizon_slots).tolist()),
        "mean_window_share": mean([w.shortest_slots / w.slots_left for w in useful]),
        "mean_utility_decay": mean([1 - w.last_utility / w.best_utility for w in useful]),
        "worker_share": mean([largest_share(w.demand, machine) for w in useful]),
        "locality_gain": mean([w.locality_gain for w in useful]),
        "utility_variation": variation([w.best_utility for w in useful]),
        "work_variation": variation([w.worker_slots for w in useful]),
        "arrival_variation": variation(arrivals[1:]),
    }


def _work(job: Job, instance: PdOrsInstance, total: Sequence[float]) -> _Work | None:
    """Return what a job needs at least; None if it cannot complete, or is worth nothing."""
    pairs = zip(job.worker_demand, job.ps_demand, strict=True)
    demand = tuple(a + b / job.worker_ps_ratio for a, b in pairs)
    room = [c / d for c, d in zip(total, demand, strict=True) if d > 0]
    workers = math.floor(min([float(job.global_batch), *room]) + 1e-9)
    if workers == 0:
        return None
    internal = _slots_per_sample(job, instance, job.bandwidth_internal_gbps)
    external = _slots_per_sample(job, instance, job.bandwidth_external_gbps)
    if instance.locality == "external_only":
        internal = external
    worker_slots = job.epochs * job.samples * internal
    shortest = max(1, math.ceil(worker_slots / workers - 1e-9))
    left = instance.horizon_slots - job.arrival_slot + 1
    if shortest > left:
        return None
    best, last = job.utility.over(np.array([shortest - 1, left - 1])).tolist()
    if best <= 0:
        return None
    return _Work(job, worker_slots, demand, shortest, left, external / internal, best, last)


def _slots_per_sample(job: Job, instance: PdOrsInstance, bandwidth_gbps: float) -> float:
    traffic_gbit = 2 * job.gradient_gbit * job.worker_ps_ratio
    per_slot = bandwidth_gbps * instance.slot_s
    return job.sample_time_slots + traffic_gbit / (per_slot * job.global_batch)
