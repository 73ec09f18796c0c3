"""A learned policy places a batch (reconstructed, section 5)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome

from ...subproblems.learned.fabric import fabric_of
from ...subproblems.learned.placer import LearnedPlacer, likeliest, sampled
from ...subproblems.learned.policies import read_scorer
from ...subproblems.occupancy import Occupancy
from ...subproblems.orders import Order, in_order
from ..instance import PlacementInstance, PlacementSolution

#: Jobs between two looks at the clock.
_STRIDE = 16
_SYSTEM = "marl_placement"


def learned(
    instance: PlacementInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    policy: str = "",
    order: Literal["trained"] | Order = "trained",
    agents: int = 0,
    samples: int = 1,
) -> MethodOutcome:
    """Place task after task as a policy says, which knows who is still waiting.

    Parameters
    ----------
    policy : str
        File that `gadgetopt train` wrote; empty for the one that comes with the library.
    order : str
        In which jobs are placed: as in training, or another.
    agents : int
        Schedulers among whom the servers are split; 0: as many as in training.
    samples : int
        Placements, of which the best is returned: the first by the likeliest choices, the others
        drawn from the policy.

    Raises
    ------
    InputError
        If the policy's file holds anything else, or `agents` is negative.
    """
    if agents < 0:
        raise InputError(f"agents: {agents}, expected at least 0")
    clock = Clock(limits)
    scorer, trained = read_scorer(policy, _SYSTEM)
    fabric = fabric_of(instance, agents or trained.agents)
    best: Occupancy | None = None
    best_s, missing = np.inf, -1
    jobs = in_order(instance, trained.order if order == "trained" else order)
    for k in range(samples):
        occupancy = Occupancy(instance)
        choose = likeliest if k == 0 else sampled(rng)
        placer = LearnedPlacer(occupancy, fabric, scorer, choose)
        for turn, j in enumerate(jobs):
            if (turn % _STRIDE == 0 and (turn or k) and clock.expired) or not placer.place(j):
                missing = j
                break
        else:
            total_s = occupancy.total()
            if total_s < best_s:
                best, best_s = occupancy, total_s
        if clock.expired:
            break
    late = clock.expired
    if best is None:
        return MethodOutcome(
            limit_hit="time_s" if late else None,
            notes={} if late else {"no room for": f"jobs[{missing}]"},
        )
    return MethodOutcome(
        solution=PlacementSolution.of(best.servers_of), limit_hit="time_s" if late else None
    )
