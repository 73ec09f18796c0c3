r"""Presets: the settings of the paper's experiments, small contended clusters, and tiny instances.

The paper's text was not available when this was written. Epochs, gradients, demands, the external
bandwidth, the utilities and their mix are those of OASiS and SMD; the other ranges of `paper` are
(reconstructed: recalled), and what follows is our own choice (reconstructed):

- the internal bandwidth, 50 Gbit/s; slots of an hour; capacities of 18 mean workers;
- one bandwidth a job; whole GPUs, vCPUs and GB; all reals have few digits, so that exact arithmetic
  on them stays short;
- `desk`, `tiny`, `quickstart` and `online`.

With the ranges of `paper` only about one in six of 50 jobs can finish by slot 20, even alone: the
others need thousands of worker-slots, and policies that do not look ahead waste the cluster on
them. `work_scale` is a factor on the samples of every job.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.system.declaring import generator

from ...instance import (
    Job,
    Machine,
    PdOrsInstance,
    SlotSigmoid,
    TableUtility,
)

Arrivals = Literal["alternating", "poisson"]
Locality = Literal["both", "external_only", "internal_only"]
Ratio = Literal["at_least", "exact"]

#: Mean demand of a worker in the paper's ranges: GPUs, vCPUs, GB of memory and of storage.
MEAN_WORKER = (2.0, 5.5, 17.0, 7.5)
SLOT_S = 3600.0
INTERNAL_GBPS = 50.0


@generator()
def paper(
    rng: np.random.Generator,
    *,
    jobs: int = 50,
    machines: int = 100,
    horizon_slots: int = 20,
    work_scale: float = 1.0,
    capacity_workers: float = 18.0,
    largest_batch: int = 200,
    insensitive: float = 0.10,
    critical: float = 0.35,
    arrivals: Arrivals = "alternating",
    bandwidth_ratio: float | None = None,
    locality: Locality = "both",
    ratio: Ratio = "at_least",
) -> PdOrsInstance:
    """The settings of the paper's experiments, with their sweeps.

    Its sweeps: `machines` from 10 to 100; `jobs` from 10 to 50; training times with
    `horizon_slots=80, machines=30, jobs=100`; ratios to the optimum with `horizon_slots=10` and at
    most 10 jobs; the Google trace's mix is about `insensitive=0.3, critical=0.01`.

    Parameters
    ----------
    rng : numpy.random.Generator
    jobs, machines, horizon_slots : int
        I, H and T.
    work_scale : float, default 1
        Factor on the samples of every job (reconstructed).
    capacity_workers : float, default 18
        Capacity of every machine, in mean workers.
    largest_batch : int, default 200
        F_i is drawn from 1 to this.
    insensitive, critical : float, default 0.10 and 0.35
        Parts of jobs whose utility does not fall (theta_2 = 0), and falls steeply (4 to 6); of the
        others it falls gently (0.01 to 1).
    arrivals : "alternating" or "poisson"
        Alternating: twice as likely in even slots as in odd ones. Poisson: as many arrivals of a
        Poisson process as there are jobs, hence every slot as likely (reconstructed).
    bandwidth_ratio : float, optional
        Internal over external bandwidth; by default 50 Gbit/s inside a machine (reconstructed).
    locality, ratio
        Of the instance.
    """
    if insensitive < 0 or critical < 0 or insensitive + critical > 1:
        raise InputError(
            f"insensitive, critical: {insensitive:g}, {critical:g}, expected parts of 1"
        )
    if bandwidth_ratio is not None and bandwidth_ratio < 1:
        raise InputError(f"bandwidth_ratio: {bandwidth_ratio:g}, expected at least 1")
    made = [
        paper_job(
            rng,
            slot,
            work_scale=work_scale,
            largest_batch=largest_batch,
            insensitive=insensitive,
            critical=critical,
            bandwidth_ratio=bandwidth_ratio,
        )
        for slot in _arrival_slots(rng, jobs, horizon_slots, arrivals)
    ]
    return PdOrsInstance(
        horizon_slots=horizon_slots,
        slot_s=SLOT_S,
        machines=paper_machines(machines, capacity_workers),
        jobs=tuple(made),
        locality=locality,
        ratio=ratio,
    )


def paper_job(
    rng: np.random.Generator,
    slot: int,
    *,
    work_scale: float,
    largest_batch: int,
    insensitive: float,
    critical: float,
    bandwidth_ratio: float | None = None,
) -> Job:
    """Draw a job of the paper's ranges that arrives in a slot; parameters are those of `paper`."""
    worker, server = _demands(rng)
    external = _rounded(rng.uniform(0.1, 5), 3)
    internal = INTERNAL_GBPS if bandwidth_ratio is None else external * bandwidth_ratio
    samples = int(rng.integers(20_000, 500_001))
    return Job(
        arrival_slot=slot,
        epochs=int(rng.integers(50, 201)),
        samples=max(1, round(samples * work_scale)),
        global_batch=int(rng.integers(1, largest_batch + 1)),
        sample_time_slots=_rounded(rng.uniform(1e-5, 1e-4), 8),
        gradient_gbit=_rounded(0.008 * rng.uniform(30, 575), 3),
        worker_ps_ratio=float(rng.integers(1, 11)),
        bandwidth_internal_gbps=_rounded(internal, 3),
        bandwidth_external_gbps=external,
        worker_demand=worker,
        ps_demand=server,
        utility=_mixed_utility(rng, insensitive, critical),
    )


def paper_machines(machines: int, capacity_workers: float) -> tuple[Machine, ...]:
    """Return equal machines that hold a number of mean workers, in whole units."""
    capacity = tuple(float(math.floor(capacity_workers * x)) for x in MEAN_WORKER)
    return (Machine(capacity=capacity),) * machines


@generator()
def online(
    rng: np.random.Generator,
    *,
    jobs: int = 50,
    machines: int = 100,
    horizon_slots: int = 20,
    work_scale: float = 0.05,
    arrivals: Arrivals = "poisson",
) -> PdOrsInstance:
    """The same with shorter jobs, which come and go.

    Return an instance of `paper` whose jobs are short enough to come and go (reconstructed).

    Parameters are those of `paper`.
    """
    return paper(
        rng,
        jobs=jobs,
        machines=machines,
        horizon_slots=horizon_slots,
        work_scale=work_scale,
        arrivals=arrivals,
    )


@generator()
def desk(
    rng: np.random.Generator,
    *,
    jobs: int = 8,
    machines: int = 4,
    horizon_slots: int = 8,
    largest_batch: int = 4,
    capacity_workers: float = 6.0,
) -> PdOrsInstance:
    """A small contended cluster with sharp utilities.

    Return a small contended instance with three resources and sharp utilities (reconstructed).

    A job's work is between one worker-slot and a third of all that its batch allows over the
    horizon; spread over machines it is up to four times slower, communication taking 0.2 to 3 times
    as long as computing.

    Parameters
    ----------
    rng : numpy.random.Generator
    jobs, machines, horizon_slots : int
        I, H and T.
    largest_batch : int, default 4
        F_i is drawn from the upper half up to this.
    capacity_workers : float, default 6
        Capacity of every machine, in mean workers.
    """
    slots = np.sort(rng.integers(1, max(1, horizon_slots // 2) + 1, size=jobs)).tolist()
    made = []
    for slot in slots:
        worker, server = _demands(rng)
        F = int(rng.integers((largest_batch + 1) // 2, largest_batch + 1))
        gamma = float(rng.integers(1, 5))
        tau = _rounded(rng.uniform(0.01, 0.05), 3)
        external = _rounded(rng.uniform(1, 10), 1)
        # Time of communication when spread, in those of computing.
        slower = rng.uniform(0.2, 3)
        gradient = _rounded(slower * tau * external * SLOT_S * F / (2 * gamma), 1)
        kappa = tau + 2 * gradient * gamma / (external * SLOT_S * F)
        worker_slots = rng.uniform(1, max(2.0, F * horizon_slots / 3))
        made.append(
            Job(
                arrival_slot=int(slot),
                epochs=1,
                samples=math.ceil(worker_slots / kappa),
                global_batch=F,
                sample_time_slots=tau,
                gradient_gbit=gradient,
                worker_ps_ratio=gamma,
                bandwidth_internal_gbps=INTERNAL_GBPS,
                bandwidth_external_gbps=external,
                worker_demand=worker[:3],
                ps_demand=server[:3],
                utility=SlotSigmoid(
                    theta1=_rounded(rng.uniform(1, 100), 2),
                    theta2=_rounded(rng.uniform(1, 6), 2),
                    theta3=_rounded(rng.uniform(1, max(2.0, horizon_slots / 2)), 2),
                ),
            )
        )
    capacity = tuple(float(math.floor(capacity_workers * x)) for x in MEAN_WORKER[:3])
    return PdOrsInstance(
        horizon_slots=horizon_slots,
        slot_s=SLOT_S,
        resources=("gpu", "vcpu", "memory_gb"),
        machines=(Machine(capacity=capacity),) * machines,
        jobs=tuple(made),
    )


@generator()
def quickstart(rng: np.random.Generator, *, jobs: int = 6) -> PdOrsInstance:
    """A few jobs that compete for two machines.

    Return a small instance in which jobs compete for two machines (reconstructed).
    """
    return desk(rng, jobs=jobs, machines=2, horizon_slots=6, largest_batch=4, capacity_workers=4)


@generator()
def tiny(
    rng: np.random.Generator,
    *,
    jobs: int = 3,
    machines: int = 2,
    horizon_slots: int = 3,
    resources: int = 1,
    largest_batch: int = 4,
    locality: Locality = "both",
    ratio: Ratio = "at_least",
) -> PdOrsInstance:
    """An instance that can be enumerated.

    Return an instance that can be enumerated (reconstructed).

    Speeds are simple fractions, so that work is often met exactly; machines differ; gamma is at
    times no whole number; utilities are tables of whole numbers or sigmoids.

    Parameters
    ----------
    rng : numpy.random.Generator
    jobs, machines, horizon_slots, resources : int
        I, H, T and R.
    largest_batch : int, default 4
        F_i is drawn from 1 to this.
    locality, ratio
        Of the instance.
    """
    made = []
    for _ in range(jobs):
        F = int(rng.integers(1, largest_batch + 1))
        gamma = float(rng.choice([1.0, 1.5, 2.0, 3.0]))
        # kappa_internal = 0.1 + m gamma, kappa_external = 0.1 + m gamma b, in slots per sample.
        m, b = float(rng.choice([0.02, 0.05, 0.1])), float(rng.choice([1.0, 2.0, 4.0]))
        made.append(
            Job(
                arrival_slot=int(rng.integers(1, horizon_slots + 1)),
                epochs=int(rng.integers(1, 3)),
                samples=int(rng.integers(1, 3 * F + 4)),
                global_batch=F,
                sample_time_slots=0.1,
                gradient_gbit=_rounded(2 * m * F, 6),
                worker_ps_ratio=gamma,
                bandwidth_internal_gbps=4.0,
                bandwidth_external_gbps=4.0 / b,
                worker_demand=_whole(rng, resources),
                ps_demand=_whole(rng, resources),
                utility=_tiny_utility(rng, horizon_slots),
            )
        )
    rows = rng.integers(2, 7, size=(machines, resources)).tolist()
    return PdOrsInstance(
        horizon_slots=horizon_slots,
        slot_s=1.0,
        resources=tuple(f"unit_{r}" for r in range(resources)) if resources > 1 else ("unit",),
        machines=tuple(Machine(capacity=tuple(float(x) for x in row)) for row in rows),
        jobs=tuple(made),
        locality=locality,
        ratio=ratio,
    )


def _mixed_utility(rng: np.random.Generator, insensitive: float, critical: float) -> SlotSigmoid:
    """Draw a utility of the paper's ranges, of one of its three classes."""
    theta2 = drawn_theta2(rng, insensitive, critical)
    return SlotSigmoid(
        theta1=_rounded(rng.uniform(1, 100), 3),
        theta2=theta2,
        theta3=_rounded(rng.uniform(1, 15), 3),
    )


def drawn_theta2(rng: np.random.Generator, insensitive: float, critical: float) -> float:
    """Draw how sharply a utility falls: not at all, for critical jobs steeply, else slowly."""
    kind = rng.uniform()
    if kind < insensitive:
        return 0.0
    low, high = (4.0, 6.0) if kind < insensitive + critical else (0.01, 1.0)
    return _rounded(rng.uniform(low, high), 3)


def _tiny_utility(rng: np.random.Generator, horizon_slots: int) -> SlotSigmoid | TableUtility:
    if rng.integers(2):
        values = np.sort(rng.integers(0, 11, size=horizon_slots))[::-1].tolist()
        return TableUtility(values=(float(max(1, values[0])), *(float(v) for v in values[1:])))
    return SlotSigmoid(
        theta1=_rounded(rng.uniform(1, 10), 2),
        theta2=_rounded(rng.uniform(0, 3), 2),
        theta3=_rounded(rng.uniform(0, horizon_slots), 2),
    )


def _arrival_slots(
    rng: np.random.Generator, jobs: int, horizon_slots: int, arrivals: Arrivals
) -> list[int]:
    """Draw the arrival of every job, in the order of time."""
    if arrivals not in ("alternating", "poisson"):
        raise InputError(f"arrivals: {arrivals!r}, expected 'alternating' or 'poisson'")
    slots = np.arange(1, horizon_slots + 1)
    rate = np.where(slots % 2 == 0, 2.0, 1.0) if arrivals == "alternating" else np.ones(len(slots))
    drawn = rng.choice(slots, size=jobs, p=rate / rate.sum())
    return [int(t) for t in np.sort(drawn)]


def _demands(rng: np.random.Generator) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Draw the demands of a worker and a server: GPUs, vCPUs, GB of memory and of storage."""
    cpu, memory, storage = (
        rng.integers(low, high + 1, size=2).tolist() for low, high in ((1, 10), (2, 32), (5, 10))
    )
    gpu = int(rng.integers(0, 5))
    worker, server = (gpu, cpu[0], memory[0], storage[0]), (0, cpu[1], memory[1], storage[1])
    return tuple(map(float, worker)), tuple(map(float, server))


def _whole(rng: np.random.Generator, resources: int) -> tuple[float, ...]:
    """Draw small demands, at least one of them positive."""
    row = rng.integers(0, 3, size=resources)
    row[rng.integers(resources)] += 1 if not row.any() else 0
    return tuple(float(x) for x in row)


def _rounded(x: float, digits: int) -> float:
    """Return the number with few digits, but never 0 where it is not."""
    return max(round(float(x), digits), 10.0**-digits) if x else 0.0
