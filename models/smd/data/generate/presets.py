r"""Random instances: the paper's ranges, independent limits, and planted interior optima.

Demands, limits and timing are drawn from the ranges of the paper's experiments. What the paper
leaves open is chosen here (reconstructed): numbers of iterations, samples, layers, instances and
all demands are drawn as integers, the rest as reals; the virtual instance is the smallest of its
family that holds any worker or server, c4.8xlarge, with GPUs and local storage that the family
lacks; the utility reads time in hours (async) or days (sync), without which most jobs could not
reach half of their gamma_1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.pieces.utility import SigmoidUtility
from gadgetopt.system.declaring import generator

from ...instance import (
    Job,
    SmdInstance,
)
from ...iteration_time import (
    Layer,
    Overlap,
)
from ...subproblems.inner import (
    best_pair,
    largest_p,
    largest_real_p,
    largest_real_w,
)

Mode = Literal["sync", "async", "mixed"]
SgdMode = Literal["sync", "async"]
Resources = tuple[float, ...]

#: GPUs, vCPUs, GB of memory, GB of storage.
#: One unit of a cluster in the paper.
CLUSTER_UNIT: Resources = (600.0, 3400.0, 1400.0, 1200.0)
#: The vendor's vCPUs and memory; GPUs and storage are reconstructed.
INSTANCE_TYPES: dict[str, Resources] = {
    "c4.8xlarge": (8.0, 36.0, 60.0, 40.0),
    "c4.4xlarge": (4.0, 16.0, 30.0, 20.0),
}
#: Largest number of virtual instances that a job reserves.
_MOST_INSTANCES = 20
#: Seconds in which gamma_3 counts (reconstructed).
_TIME_UNIT_S = {"sync": 86400.0, "async": 3600.0}


@generator()
def paper(
    rng: np.random.Generator,
    *,
    jobs: int = 50,
    sgd_mode: Mode = "sync",
    cluster_units: float = 5.0,
    cluster_instances: int = 0,
    cluster_share: float = 0.0,
    instance_type: str = "c4.8xlarge",
    overlap: Overlap = "sequential",
    charging: Literal["reserved", "used"] = "reserved",
) -> SmdInstance:
    """The ranges that the paper prints.

    All limits are multiples of one virtual instance, so that the knapsack has a single row.

    Parameters
    ----------
    rng : numpy.random.Generator
    jobs : int, default 50
    sgd_mode : "sync", "async" or "mixed", default "sync"
        Mixed: every job one or the other, by a fair coin (reconstructed).
    cluster_units : float, default 5
        Capacity in units of 3,400 vCPUs, 600 GPUs, 1,400 GB of memory and 1,200 GB of storage.
    cluster_instances : int, default 0
        Capacity as a number of virtual instances, where positive, as for Figure 11.
    cluster_share : float, default 0
        Capacity as a share of all reservations, rounded down, where positive.
    instance_type : "c4.8xlarge" or "c4.4xlarge"
        What limits are multiples of.
    overlap : "sequential", "wait_free" or "priority", default "sequential"
        The paper does not say which model its figures use. With one that overlaps, jobs carry
        their layers.
    charging : "reserved" or "used", default "reserved"
    """
    bundle = _instance_type(instance_type)
    made = []
    for _ in range(jobs):
        mode = _mode(rng, sgd_mode)
        worker, server = _demands(rng)
        limit = _times(int(rng.integers(1, _MOST_INSTANCES + 1)), bundle)
        timing = _literal_timing(rng, mode, overlap)
        made.append(_job(mode, worker, server, limit, timing, _literal_utility(rng, mode)))
    capacity = _cluster(made, bundle, cluster_units, cluster_instances, cluster_share)
    return SmdInstance(capacity=capacity, charging=charging, jobs=tuple(made))


@generator()
def independent_limits(
    rng: np.random.Generator,
    *,
    jobs: int = 50,
    sgd_mode: Mode = "sync",
    tightness: float = 0.25,
    instance_type: str = "c4.8xlarge",
    charging: Literal["reserved", "used"] = "reserved",
) -> SmdInstance:
    """The paper's ranges with independent limits of resources: a knapsack of four rows.

    Return an instance whose jobs limit every resource independently (reconstructed).

    A knapsack of four rows. Other parameters are those of `paper`.

    Parameters
    ----------
    tightness : float, default 0.25
        Capacity as a part of all reservations, rounded down to whole units.
    """
    bundle = _instance_type(instance_type)
    made = []
    for _ in range(jobs):
        mode = _mode(rng, sgd_mode)
        worker, server = _demands(rng)
        counts = rng.integers(1, _MOST_INSTANCES + 1, size=len(bundle)).tolist()
        limit = tuple(n * x for n, x in zip(counts, bundle, strict=True))
        timing = _literal_timing(rng, mode, "sequential")
        made.append(_job(mode, worker, server, limit, timing, _literal_utility(rng, mode)))
    return SmdInstance(capacity=_part(made, tightness), charging=charging, jobs=tuple(made))


@generator()
def planted(
    rng: np.random.Generator,
    *,
    jobs: int = 50,
    sgd_mode: Mode = "sync",
    cluster_units: float = 20.0,
    cluster_instances: int = 0,
    cluster_share: float = 0.0,
    instance_type: str = "c4.8xlarge",
    charging: Literal["reserved", "used"] = "reserved",
) -> SmdInstance:
    r"""Best pairs inside the reservations, utilities around the best times.

    Return an instance whose best pairs lie inside the reservations (reconstructed).

    Demands and limits are the paper's. A point (w, p) inside its reservation is drawn for a
    synchronous job, and
    :math:`\theta_4 = \beta_2 p^2 / w, \theta_5 = w^2 (\beta_1 + \theta_4 / p)`, so that both
    derivatives of its time vanish there. Utilities fall around the job's own best time. Parameters
    are those of `paper`; the seconds are arbitrary.
    """
    bundle = _instance_type(instance_type)
    made = _planted_jobs(rng, jobs, sgd_mode, bundle, _MOST_INSTANCES)
    capacity = _cluster(made, bundle, cluster_units, cluster_instances, cluster_share)
    return SmdInstance(capacity=capacity, charging=charging, jobs=tuple(made))


@generator()
def quickstart(
    rng: np.random.Generator,
    *,
    jobs: int = 6,
    charging: Literal["reserved", "used"] = "reserved",
) -> SmdInstance:
    """A few planted jobs, about half of which fit."""
    made = _planted_jobs(rng, jobs, "mixed", INSTANCE_TYPES["c4.8xlarge"], 5)
    return SmdInstance(capacity=_part(made, 0.5), charging=charging, jobs=tuple(made))


def _planted_jobs(
    rng: np.random.Generator, jobs: int, sgd_mode: Mode, bundle: Resources, most_instances: int
) -> list[Job]:
    made: list[Job] = []
    while len(made) < jobs:
        mode = _mode(rng, sgd_mode)
        worker, server = _demands(rng)
        limit = _times(int(rng.integers(1, most_instances + 1)), bundle)
        at_once = SigmoidUtility(gamma1=1.0, gamma2=1.0, gamma3=1.0)
        job = _job(mode, worker, server, limit, _ANY_TIMING[mode], at_once)
        if largest_p(job) == 0:
            continue
        timing = (_planted_sync if mode == "sync" else _planted_async)(rng, job)
        job = job.model_copy(update=timing)
        best = best_pair(job)
        assert best is not None
        utility = SigmoidUtility(
            gamma1=float(rng.uniform(1, 100)),
            gamma2=float(rng.uniform(4, 6)) / best.tau_s,
            gamma3=float(rng.uniform(0.9, 1.6)) * best.tau_s,
        )
        made.append(job.model_copy(update={"utility": utility}))
    return made


def _job(
    mode: SgdMode,
    worker: Resources,
    server: Resources,
    limit: Resources,
    timing: dict[str, Any],
    utility: SigmoidUtility,
) -> Job:
    return Job(
        sgd_mode=mode,
        worker_demand=worker,
        ps_demand=server,
        reservation_limit=limit,
        utility=utility,
        **timing,
    )


def _mode(rng: np.random.Generator, wanted: Mode) -> SgdMode:
    if wanted == "mixed":
        return "sync" if rng.integers(2) else "async"
    if wanted not in ("sync", "async"):
        raise InputError(f"sgd_mode: {wanted!r}, expected 'sync', 'async' or 'mixed'")
    return wanted


def _instance_type(name: str) -> Resources:
    if name not in INSTANCE_TYPES:
        known = ", ".join(INSTANCE_TYPES)
        raise InputError(f"instance_type: {name!r}, expected one of {known}")
    return INSTANCE_TYPES[name]


def _times(factor: float, bundle: Resources) -> Resources:
    return tuple(float(factor * x) for x in bundle)


def _cluster(
    jobs: Sequence[Job], bundle: Resources, units: float, instances: int, share: float
) -> Resources:
    """Return a capacity by the first of these that is not 0: a share, instances, units."""
    if share:
        return _part(jobs, share)
    return _times(instances, bundle) if instances else _times(units, CLUSTER_UNIT)


def _part(jobs: Sequence[Job], part: float) -> Resources:
    """Return a part of all reservations, rounded down."""
    total = np.array([job.reservation_limit for job in jobs]).sum(axis=0)
    return tuple(np.floor(part * total).tolist())


def _demands(rng: np.random.Generator) -> tuple[Resources, Resources]:
    """Return what a worker and a server need: whole GPUs, vCPUs and GB of the paper's ranges."""
    cpu = rng.integers(1, 11, size=2).tolist()
    memory = rng.integers(2, 33, size=2).tolist()
    storage = rng.integers(5, 11, size=2).tolist()
    gpu = int(rng.integers(0, 5))
    worker = (float(gpu), float(cpu[0]), float(memory[0]), float(storage[0]))
    return worker, (0.0, float(cpu[1]), float(memory[1]), float(storage[1]))


def _literal_timing(rng: np.random.Generator, mode: str, overlap: Overlap) -> dict[str, Any]:
    layers = int(rng.integers(10, 101))
    b, f, r = (
        rng.uniform(low, high, layers) / 1000 for low, high in ((1, 300), (1, 500), (80, 500))
    )
    m = int(rng.integers(10, 101))
    K = m * int(rng.integers(1, 101))
    timing: dict[str, Any] = {
        "iterations": float(rng.integers(50, 201)),
        "model_size_mb": float(rng.uniform(30, 575)),
        "ps_bandwidth_gbps": float(rng.uniform(5, 20)),
        "fp_time_per_sample_s": float(f.sum()),
        "bp_time_s": float(b.sum()),
        "overhead_per_worker_s": float(rng.uniform(3, 4)),
        "overhead_per_ps_s": float(rng.uniform(0, 0.01)),
    }
    alpha = float(rng.uniform(0, 1))
    if mode == "sync":
        timing["global_batch_size"] = float(K)
    else:
        timing |= {"minibatch_size": float(m), "concurrency_fraction": alpha}
    if overlap != "sequential":
        rows = zip(b.tolist(), f.tolist(), r.tolist(), strict=True)
        made = tuple(Layer(bp_s=bp, fp_s=fp, comm_s=comm) for bp, fp, comm in rows)
        timing |= {"overlap": overlap, "layers": made}
    return timing


def _literal_utility(rng: np.random.Generator, mode: str) -> SigmoidUtility:
    return SigmoidUtility(
        gamma1=float(rng.uniform(1, 100)),
        gamma2=float(rng.uniform(4, 6)),
        gamma3=float(rng.uniform(1, 15)),
        time_unit_s=_TIME_UNIT_S[mode],
    )


_ANY_TIMING: dict[str, dict[str, Any]] = {
    "sync": {
        "iterations": 1.0,
        "model_size_mb": 1.0,
        "ps_bandwidth_gbps": 10.0,
        "global_batch_size": 100.0,
        "fp_time_per_sample_s": 1.0,
        "bp_time_s": 0.0,
        "overhead_per_worker_s": 1.0,
    },
    "async": {
        "iterations": 1.0,
        "model_size_mb": 1.0,
        "ps_bandwidth_gbps": 10.0,
        "minibatch_size": 1.0,
        "concurrency_fraction": 0.5,
        "fp_time_per_sample_s": 1.0,
        "bp_time_s": 0.0,
        "overhead_per_worker_s": 1.0,
    },
}


def _planted_sync(rng: np.random.Generator, job: Job) -> dict[str, Any]:
    beta_1, beta_2 = job.overhead_per_worker_s, float(rng.uniform(0.2, 1.5))
    p = 1 + 0.6 * float(rng.uniform()) * (largest_real_p(job) - 1)
    w = 1 + 0.7 * float(rng.uniform()) * (largest_real_w(job, p) - 1)
    theta_4 = beta_2 * p**2 / w
    theta_5 = w**2 * (beta_1 + theta_4 / p)
    assert job.global_batch_size is not None
    return {
        "overhead_per_ps_s": beta_2,
        "bp_time_s": float(rng.uniform(0, 5)),
        "model_size_mb": _volume_mb(theta_4 / 2, job),
        "fp_time_per_sample_s": theta_5 / job.global_batch_size,
    }


def _planted_async(rng: np.random.Generator, job: Job) -> dict[str, Any]:
    return {
        "overhead_per_ps_s": float(rng.uniform(0.2, 1.5)),
        "fp_time_per_sample_s": float(rng.uniform(10, 100)),
        "bp_time_s": float(rng.uniform(1, 20)),
        "model_size_mb": _volume_mb(float(rng.uniform(5, 60)), job),
    }


def _volume_mb(transfer_s: float, job: Job) -> float:
    """Return the volume whose transfer over one server's bandwidth takes this long."""
    return transfer_s * 1000 * job.ps_bandwidth_gbps / 8
