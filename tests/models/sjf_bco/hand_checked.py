"""Hand-checked instances, and the random instances of the reference figures."""

from __future__ import annotations

import random
from typing import Any

from gadgetopt.models.sjf_bco.data.generate.presets import (
    PAPER_MIX,
    calibrated_instance,
    iteration_range,
)
from gadgetopt.models.sjf_bco.instance import Job, SjfBcoInstance


def instance(
    server_gpus: list[int],
    jobs: list[Job],
    *,
    inter: float = 20.0,
    intra: float = 200.0,
    reduce: float = 100.0,
    horizon: int = 20,
    **changes: Any,
) -> SjfBcoInstance:
    """An instance with xi_1 = xi_2 = 1, omega = 0.01 and alpha = 0."""
    fields: dict[str, Any] = {
        "server_gpus": tuple(server_gpus),
        "horizon_slots": horizon,
        "inter_bw_mb_per_slot": inter,
        "intra_bw_mb_per_slot": intra,
        "gpu_reduce_mb_per_slot": reduce,
        "contention_coeff": 1.0,
        "overhead_coeff": 1.0,
        "overhead_unit_slots": 0.01,
        "jobs": tuple(jobs),
    }
    return SjfBcoInstance(**{**fields, **changes})


def job(gpus: int, iterations: int, grad: float = 0.0, bwd: float = 0.09, **more: Any) -> Job:
    return Job(gpus=gpus, iterations=iterations, grad_size_mb=grad, bwd_slots=bwd, **more)


def co_locate() -> SjfBcoInstance:
    """E1: two jobs of two GPUs, each at home on one server. OPT 2."""
    return instance([2, 2], [job(2, 20, 1.0, 0.07)] * 2, inter=10.0, intra=100.0, reduce=50.0)


def contention_pays() -> SjfBcoInstance:
    """E2: two jobs of three GPUs on servers of two. OPT 3, with contention."""
    return instance([2, 2, 2], [job(3, 12, 1.5, 0.02)] * 2)


def staggered_start() -> SjfBcoInstance:
    """E3: the optimum 11 starts a job neither at 0 nor at a completion."""
    jobs = [job(3, 15, 2.0, 0.07), job(3, 10, 2.0, 0.02)]
    return instance([2, 2, 2], jobs, inter=10.0)


def theorem_5_fails_a() -> SjfBcoInstance:
    """E4a: jobs of 1, 1 and 2 slots on two GPUs. OPT 2."""
    return instance([2], [job(1, n) for n in (10, 10, 20)])


def theorem_5_fails_b() -> SjfBcoInstance:
    """E4b: jobs of 3, 3, 2, 2, 2 slots on two GPUs. OPT 6."""
    return instance([2], [job(1, n) for n in (30, 30, 20, 20, 20)])


def kappa_matters() -> SjfBcoInstance:
    """E5: two single-GPU jobs and one of four, on two servers of four. OPT 2."""
    return instance([4, 4], [job(1, 20), job(1, 20), job(4, 20, 1.0, 0.0675)])


def paper_experiment(seed: int, *, servers: int = 20) -> SjfBcoInstance:
    """The paper's experiment as the reference figures drew it, with Python's own generator."""
    draw = random.Random(seed)
    capacities = [draw.choice([4, 8, 16, 32]) for _ in range(servers)]
    sizes = [g for g, count in PAPER_MIX.items() for _ in range(count)]
    draw.shuffle(sizes)
    rhos, iterations = [], []
    for _ in sizes:
        rhos.append(draw.uniform(50, 300))
        iterations.append(draw.randint(*iteration_range(rhos[-1])))
    return calibrated_instance(capacities, sizes, rhos, iterations)
