"""Hand-checked instances and small random ones."""

from __future__ import annotations

import numpy as np

from gadgetopt.models.pd_ors.instance import Job, Machine, PdOrsInstance, TableUtility

#: kappa is 0.25 slots per sample inside a machine and 0.4 outside, so that sigma = 1.6.
JOB_J = Job(
    arrival_slot=1,
    epochs=1,
    samples=8,
    global_batch=4,
    sample_time_slots=0.2,
    gradient_gbit=0.2,
    worker_ps_ratio=2.0,
    bandwidth_internal_gbps=4.0,
    bandwidth_external_gbps=1.0,
    worker_demand=(1.0,),
    ps_demand=(1.0,),
    utility=TableUtility(values=(10.0,)),
)


def job_j(*values: float, samples: int = 8, arrival: int = 1) -> Job:
    return JOB_J.model_copy(
        update={
            "utility": TableUtility(values=values),
            "samples": samples,
            "arrival_slot": arrival,
        }
    )


def cluster(capacities: list[float], horizon: int, *jobs: Job) -> PdOrsInstance:
    return PdOrsInstance(
        horizon_slots=horizon,
        slot_s=1.0,
        resources=("unit",),
        machines=tuple(Machine(capacity=(c,)) for c in capacities),
        jobs=jobs,
    )


# A: internally a job needs 8 x 0.25 = 2 workers and 1 server, one machine; externally 4 workers and
#    2 servers, both. B, C: what is accepted first is not what is worth most. D, E: W = 4.8 is three
#    internal worker-slots, of which a slot holds two, so that no job is done in its arrival slot.
HAND_CHECKED = {
    "A": (cluster([3, 3], 1, job_j(10), job_j(10)), 20.0),
    "B": (cluster([3], 1, job_j(1), job_j(10)), 10.0),
    "C": (cluster([6], 1, job_j(4), job_j(1), job_j(10)), 14.0),
    "D": (cluster([3, 3], 3, job_j(10, 9, 4, samples=12)), 9.0),
    "E": (
        cluster([3, 3], 3, job_j(10, 9, 4, samples=12), job_j(10, 9, 4, samples=12, arrival=2)),
        18.0,
    ),
}


def tiny_job(rng: np.random.Generator, resources: int, horizon: int, unit: float) -> Job:
    def amounts(low: int) -> tuple[float, ...]:
        return tuple(round(float(x) * unit, 2) for x in rng.integers(low, 3, resources))

    arrival = int(rng.integers(1, horizon + 1))
    # The first resource is what both need, so that nothing runs for free.
    worker, server = amounts(0), amounts(0)
    values = np.sort(rng.uniform(0.5, 10, horizon - arrival + 1))[::-1]
    return Job(
        arrival_slot=arrival,
        epochs=1,
        samples=int(rng.integers(3, 16)),
        global_batch=int(rng.integers(1, 4)),
        sample_time_slots=float(rng.choice([0.1, 0.2, 1 / 7])),
        gradient_gbit=float(rng.choice([0.0, 0.1, 0.3])),
        worker_ps_ratio=float(rng.choice([1.0, 1.5, 2.0, 3.0])),
        bandwidth_internal_gbps=4.0,
        bandwidth_external_gbps=float(rng.choice([1.0, 2.0])),
        worker_demand=(max(unit, worker[0]), *worker[1:]),
        ps_demand=(max(unit, server[0]), *server[1:]),
        utility=TableUtility(values=tuple(round(float(v), 2) for v in values)),
    )


def tiny_instance(seed: int, machines: int = 2, horizon: int = 2) -> PdOrsInstance:
    """Two or three jobs of at most three workers; every locality and ratio occurs."""
    rng = np.random.default_rng(seed)
    resources, unit = int(rng.integers(1, 3)), float(rng.choice([1.0, 0.1]))
    capacities = rng.integers(2, 7, (machines, resources))
    return PdOrsInstance(
        horizon_slots=horizon,
        slot_s=1.0,
        resources=("a", "b")[:resources],
        machines=tuple(
            Machine(capacity=tuple(round(float(c) * unit, 2) for c in row)) for row in capacities
        ),
        jobs=tuple(tiny_job(rng, resources, horizon, unit) for _ in range(int(rng.integers(2, 4)))),
        locality=("both", "both", "external_only", "internal_only")[int(rng.integers(4))],
        ratio=("at_least", "at_least", "exact")[int(rng.integers(3))],
    )
