"""Random jobs, arrivals and clusters of the presets."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from gadgetopt.errors import InputError
from gadgetopt.numbers.arrays import Ints

from ...instance import (
    Job,
    Rack,
    Server,
    TwoTier,
)
from ...utility import (
    Log,
    Sigmoid,
    Sqrt,
    Table,
    Utility,
)
from .timing import RingTiming

Arrivals = Literal["uniform_first_half", "poisson", "bursty", "all_at_start"]
BudgetUnits = Literal["iterations", "worker_slots"]
Kind = Literal["sigmoid", "sqrt", "log"]
At = Literal["infinite", "largest"]

#: 32 bit for each parameter of ResNet-50, BERT base and VGG-16, in millions.
GRADIENTS_MBIT = (32 * 25.6, 32 * 110.0, 32 * 138.4)


def paper_job(
    rng: np.random.Generator, arrival: int, workers: int, units: BudgetUnits, kind: Kind
) -> Job:
    """Draw a job from the paper's ranges, with given arrival and largest ring."""
    if units not in ("iterations", "worker_slots"):
        raise InputError(f"budget_units: {units!r}, expected 'iterations' or 'worker_slots'")
    limit, zeta = int(rng.integers(1_000, 6_001)), int(rng.integers(50, 501))
    return Job(
        arrival_slot=arrival,
        max_workers=workers,
        worker_demand=(1.0,),
        max_worker_slots=limit // zeta if units == "iterations" else limit,
        ring_bandwidth_mbps=int(rng.integers(100, 5_001)),
        iterations_per_worker_slot=float(zeta),
        utility=_utility(rng, kind),
    )


def _utility(rng: np.random.Generator, kind: Kind) -> Utility:
    priority = round(float(rng.uniform(1, 100)), 3)
    sensitivity = round(float(rng.uniform(0.0001, 1)), 4)
    target = round(float(rng.uniform(300, 3_000)), 1)
    if kind == "sigmoid":
        return Sigmoid(priority=priority, sensitivity=sensitivity, target_iterations=target)
    if kind == "sqrt":
        return Sqrt(scale=priority / float(np.sqrt(target)))
    if kind == "log":
        return Log(scale=priority / float(np.log1p(target)))
    raise InputError(f"utility: {kind!r}, expected 'sigmoid', 'sqrt' or 'log'")


def timed_job(rng: np.random.Generator, arrival: int, workers: int, slot_s: float, at: At) -> Job:
    """Draw a job from the paper's ranges, with progress from the iteration time (1)."""
    if at not in ("infinite", "largest"):
        raise InputError(f"progress_at: {at!r}, expected 'infinite' or 'largest'")
    job = paper_job(rng, arrival, workers, "worker_slots", "sigmoid")
    timing = RingTiming(
        gradient_mbit=float(rng.choice(GRADIENTS_MBIT)),
        bandwidth_mbps=float(job.ring_bandwidth_mbps),
        reduce_mbps=20_000.0,
        forward_s_per_sample=round(float(rng.uniform(0.0005, 0.005)), 4),
        minibatch_samples=float(rng.choice((32, 64, 128))),
        backward_s=round(float(rng.uniform(0.05, 0.5)), 3),
        overhead_s=0.01,
    )
    zeta = timing.iterations_per_worker_slot(slot_s, workers if at == "largest" else math.inf)
    # The limit drawn is in iterations.
    limit = max(1, int((job.max_worker_slots or 0) / zeta))
    return job.model_copy(
        update={"iterations_per_worker_slot": round(zeta, 3), "max_worker_slots": limit}
    )


def in_a_hurry(job: Job, most: int, part: float) -> Job:
    """Return the job without a budget, with a share of `most` worker-slots as target.

    Raises
    ------
    InputError
        If the utility of the job has no target.
    """
    if not isinstance(job.utility, Sigmoid):
        raise InputError("urgency: above 0, expected with utility 'sigmoid' only")
    target = round(job.iterations_per_worker_slot * max(1.0, part * most), 1)
    utility = job.utility.model_copy(update={"target_iterations": target})
    return job.model_copy(update={"max_worker_slots": None, "utility": utility})


def table_job(values: npt.ArrayLike, mbps: int, workers: int) -> Job:
    """Return a job of one slot with utilities `values` of one, two, ... workers."""
    table = [round(float(v), 6) for v in np.asarray(values, dtype=np.float64)]
    return Job(
        arrival_slot=1,
        max_workers=workers,
        worker_demand=(1.0,),
        ring_bandwidth_mbps=mbps,
        utility=Table(values=(0.0, *table)),
    )


def tiny_jobs(
    rng: np.random.Generator, jobs: int, horizon: int, largest_ring: int, resources: int
) -> tuple[Job, ...]:
    """Draw jobs with utility tables of small integers."""
    made = []
    for _ in range(jobs):
        demand = rng.integers(0, 3, size=resources)
        demand[rng.integers(resources)] += not demand.any()
        length = int(rng.integers(1, largest_ring * horizon + 1))
        gains = rng.integers(0, 10, size=length)
        gains = np.sort(gains)[::-1] if rng.integers(2) else gains
        made.append(
            Job(
                arrival_slot=int(rng.integers(1, horizon + 1)),
                max_workers=int(rng.integers(1, largest_ring + 1)),
                worker_demand=(1.0,) if resources == 1 else tuple(float(x) for x in demand),
                ring_bandwidth_mbps=1_000 * int(rng.integers(0, 3)),
                utility=Table(values=(0.0, *(float(v) for v in np.cumsum(gains)))),
            )
        )
    return tuple(made)


def arrival_slots(
    rng: np.random.Generator, jobs: int, horizon_slots: int, arrivals: Arrivals
) -> list[int]:
    """Draw the arrival slots of all jobs, in ascending order."""
    half = max(1, horizon_slots // 2)
    if arrivals == "all_at_start":
        return [1] * jobs
    if arrivals == "uniform_first_half":
        return sorted(rng.integers(1, half + 1, size=jobs).tolist())
    if arrivals == "poisson":
        batches = np.ones(jobs, dtype=np.int64)
    elif arrivals == "bursty":
        batches = rng.geometric(0.3, size=jobs)
    else:
        raise InputError(
            f"arrivals: {arrivals!r}, expected 'uniform_first_half', 'poisson', 'bursty' or "
            "'all_at_start'"
        )
    mean_gap = half / max(1, jobs) * (1 / 0.3 if arrivals == "bursty" else 1.0)
    times = np.cumsum(rng.exponential(mean_gap, size=jobs))
    slots = np.minimum(horizon_slots, 1 + times.astype(np.int64))
    return [int(t) for t in np.repeat(slots, batches)[:jobs]]


def racks_of(rng: np.random.Generator, servers: int, racks: int) -> Ints:
    """Draw the rack of every server; repeat until no rack is empty."""
    racks = min(racks, servers)
    while True:
        rack = rng.integers(racks, size=servers)
        if len(np.unique(rack)) == racks:
            return rack


def gpus_in_all(rng: np.random.Generator, gpus: Ints, total: int) -> Ints:
    """Scale the GPUs of all servers to a given total, and adjust the rounding GPU by GPU."""
    scaled = gpus * total // gpus.sum()
    short = total - int(scaled.sum())
    scaled[rng.permutation(len(gpus))[:short]] += 1
    return scaled


def cluster_of(rack: Ints, capacity: Ints, access: Ints, uplink: Ints) -> TwoTier:
    """Return a cluster from the racks, capacities (one row per server) and links."""
    rows = np.asarray(capacity, dtype=np.float64).reshape(len(rack), -1).tolist()
    return TwoTier(
        servers=tuple(
            Server(rack=k, capacity=tuple(row), access_mbps=mbps)
            for k, row, mbps in zip(rack.tolist(), rows, access.tolist(), strict=True)
        ),
        racks=tuple(Rack(uplink_mbps=mbps) for mbps in uplink.tolist()),
    )


def resource_names(resources: int) -> tuple[str, ...]:
    """Return names for a number of resources."""
    return ("gpu",) if resources == 1 else tuple(f"resource_{r}" for r in range(resources))
