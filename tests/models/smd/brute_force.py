"""Brute force over every decision, and small random instances for it."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st

from gadgetopt.models.smd.evaluate import evaluate
from gadgetopt.models.smd.instance import Allocation, Job, SmdInstance, SmdSolution
from gadgetopt.pieces.utility import SigmoidUtility

#: No job of `small_instance` has room for more workers or servers than this.
MOST = 6


def decisions(instance: SmdInstance) -> list[list[Allocation]]:
    """What each job can be given within its reservation, as the evaluator sees it."""
    out = [Allocation(admit=False)]
    counts = itertools.product(range(1, MOST + 1), repeat=2)
    out += [Allocation(admit=True, num_workers=w, num_ps=p) for w, p in counts]
    each = []
    for job in instance.jobs:
        alone = instance.model_copy(
            update={"jobs": (job,), "capacity": tuple(1e9 for _ in instance.capacity)}
        )
        each.append([a for a in out if evaluate(alone, SmdSolution(jobs=(a,))).feasible])
    return each


def optimum(instance: SmdInstance) -> float:
    """The largest total utility of a feasible decision."""
    best = 0.0
    for chosen in itertools.product(*decisions(instance)):
        evaluation = evaluate(instance, SmdSolution(jobs=chosen))
        if evaluation.feasible:
            best = max(best, evaluation.objective)
    return best


def small_job(rng: np.random.Generator, resources: int, unit: float) -> Job:
    def amounts(low: int, high: int) -> tuple[float, ...]:
        return tuple(round(float(x) * unit, 1) for x in rng.integers(low, high + 1, resources))

    worker, server = amounts(0, 3), amounts(0, 3)
    # The first resource is needed by both and bounds both.
    worker, server = (max(unit, worker[0]), *worker[1:]), (max(unit, server[0]), *server[1:])
    limit = amounts(1, 6)
    mode = "sync" if rng.integers(2) else "async"
    sizes = {"global_batch_size": 20.0} if mode == "sync" else {"minibatch_size": 10.0}
    return Job(
        sgd_mode=mode,
        iterations=float(rng.integers(1, 5)),
        model_size_mb=float(rng.uniform(10, 500)),
        ps_bandwidth_gbps=float(rng.choice([0.5, 1.0, 10.0])),
        fp_time_per_sample_s=float(rng.uniform(0.1, 2)),
        bp_time_s=float(rng.uniform(0, 5)),
        overhead_per_worker_s=float(rng.uniform(0, 2)),
        overhead_per_ps_s=float(rng.choice([0.0, 1.0])) * float(rng.uniform(0, 3)),
        concurrency_fraction=float(rng.uniform(0, 1)),
        worker_demand=worker,
        ps_demand=server,
        reservation_limit=limit,
        utility=SigmoidUtility(
            gamma1=float(rng.uniform(1, 100)),
            gamma2=float(rng.uniform(0.01, 0.2)),
            gamma3=float(rng.uniform(5, 60)),
        ),
        **sizes,
    )


def small_instance(rng: np.random.Generator, charging: str | None = None) -> SmdInstance:
    """Up to three jobs and two resources; decimals, zeros and jobs that never fit occur."""
    resources = int(rng.integers(1, 3))
    unit = float(rng.choice([1.0, 0.5, 0.1]))
    jobs = tuple(small_job(rng, resources, unit) for _ in range(int(rng.integers(1, 4))))
    return SmdInstance(
        resources=("a", "b")[:resources],
        capacity=tuple(round(float(x) * unit, 1) for x in rng.integers(2, 13, resources)),
        charging=charging or ("reserved" if rng.integers(2) else "used"),
        jobs=jobs,
    )


@st.composite
def small_instances(draw: st.DrawFn, charging: str | None = None) -> SmdInstance:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return small_instance(rng, charging)
