"""Shared by the tests of exact methods: hand-checked optima, instances for brute force."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from gadgetopt.models.sjf_bco.formulations.schedules import placements
from gadgetopt.models.sjf_bco.instance import SjfBcoInstance

from . import hand_checked
from .brute_force import optimal_makespan
from .random_instances import small_instance

HAND_CHECKED = {
    "E1": (hand_checked.co_locate(), 2),
    "E2": (hand_checked.contention_pays(), 3),
    "E3": (hand_checked.staggered_start(), 11),
    "E4a": (hand_checked.theorem_5_fails_a(), 2),
    "E4b": (hand_checked.theorem_5_fails_b(), 6),
    "E5": (hand_checked.kappa_matters(), 2),
}


def contended_instance(rng: np.random.Generator) -> SjfBcoInstance:
    """Return two or three gangs larger than a server, which have to share or wait."""
    jobs = [
        hand_checked.job(
            int(rng.choice([2, 3, 3])),
            int(rng.integers(6, 16)),
            float(rng.choice([0.5, 1.0, 2.0])),
            float(rng.choice([0.02, 0.05, 0.07])),
        )
        for _ in range(rng.integers(2, 4))
    ]
    servers = [2, 2, 2] if len(jobs) == 2 else [2, 2]
    inter = float(rng.choice([8.0, 12.0, 20.0]))
    return hand_checked.instance(servers, jobs, inter=inter, horizon=9)


def tiny_instance(seed: int) -> SjfBcoInstance:
    """Return gangs under contention (odd seeds) or up to three arbitrary jobs (even seeds).

    Every sixth has inside links slower than the network.
    """
    rng = np.random.default_rng(seed)
    while True:
        if seed % 2:
            drawn = contended_instance(rng)
        else:
            drawn = small_instance(
                rng, most_jobs=3, most_servers=3, largest_server=3, most_work=14, horizon=9
            )
        if seed % 6 == 0:
            changes = {"intra_bw_mb_per_slot": 15.0, "overhead_free_local": True}
            drawn = drawn.model_copy(update=changes)
        # One job after the other must fit the horizon, and brute force must be quick.
        if sum(drawn.rates.exec_min.tolist()) <= 9 and _schedules_to_try(drawn) <= 20_000:
            return drawn


@cache
def optimum_of(seed: int) -> int:
    """Return the optimum of `tiny_instance(seed)` by brute force."""
    inst = tiny_instance(seed)
    return optimal_makespan(inst, inst.horizon_slots)


def _schedules_to_try(inst: SjfBcoInstance) -> int:
    return math.prod(len(placements(inst, j)) * 9 for j in range(len(inst.jobs)))
