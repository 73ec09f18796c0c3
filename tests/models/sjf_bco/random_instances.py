"""Small random instances: contention, odd capacities, wrong estimates, and stalls."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from gadgetopt.models.sjf_bco.instance import Job, SjfBcoInstance

from .hand_checked import instance


def small_instance(
    rng: np.random.Generator,
    *,
    most_jobs: int = 6,
    most_servers: int = 4,
    largest_server: int = 4,
    most_work: int = 40,
    horizon: int = 80,
) -> SjfBcoInstance:
    capacities = rng.integers(1, largest_server + 1, rng.integers(1, most_servers + 1)).tolist()
    jobs = []
    for _ in range(rng.integers(1, most_jobs + 1)):
        estimate = float(rng.integers(5, 100)) / 10 if rng.random() < 0.5 else None
        jobs.append(
            Job(
                gpus=int(rng.integers(1, min(5, sum(capacities)) + 1)),
                iterations=int(rng.integers(1, most_work + 1)),
                # A gradient of 8 makes some jobs stall under contention.
                grad_size_mb=float(
                    rng.choice([0.0, 0.5, 1.0, 2.0, 8.0], p=[0.2, 0.3, 0.3, 0.15, 0.05])
                ),
                bwd_slots=float(rng.choice([0.05, 0.07, 0.1])),
                server_spread_factor=float(rng.choice([1.0, 1.5, 2.0])),
                est_slots=estimate,
            )
        )
    return instance(capacities, jobs, horizon=horizon, degradation_alpha=0.2)


@st.composite
def small_instances(draw: st.DrawFn) -> SjfBcoInstance:
    return small_instance(np.random.default_rng(draw(st.integers(0, 2**32 - 1))))
