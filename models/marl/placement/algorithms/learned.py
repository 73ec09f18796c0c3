"""A learned policy places a batch (reconstructed, section 5)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...subproblems.learned.fabric import Fabric, fabric_of
from ...subproblems.learned.placer import LearnedPlacer, after, likeliest, likeliest_of, sampled
from ...subproblems.learned.policies import Scorer, read_scorer
from ...subproblems.occupancy import Occupancy
from ...subproblems.orders import Order, in_order
from ..instance import PlacementInstance, PlacementSolution

#: Jobs between two looks at the clock.
_STRIDE = 16
_SYSTEM = "marl_placement"


@method(kind="heuristic", reference="Zhao, Wu 2022 (reconstructed)", files=("policy",))
def learned(
    instance: PlacementInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    policy: str = "",
    order: Literal["trained"] | Order = "trained",
    agents: int = 0,
    samples: int = 1,
    lookahead: int = 1,
) -> MethodOutcome:
    """Agents with a policy that was trained place task after task.

    Place task after task as a policy says, which knows who is still waiting.

    With the parameters' defaults it is the same result as `plain`, tested.

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
    lookahead : int
        Of so many likeliest choices of a task, the one is taken after which the policy ends best;
        1: the likeliest (the rollout algorithm; ours).

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
    by: Order = trained.order if order == "trained" else order
    best: Occupancy | None = None
    missing = -1
    for k in range(samples):
        choose = likeliest if k == 0 else sampled(rng)
        if k == 0 and lookahead > 1:
            choose = _Lookahead(instance, fabric, scorer, by, lookahead, clock)
        occupancy = Occupancy(instance)
        placer = LearnedPlacer(occupancy, fabric, scorer, choose)
        for turn, j in enumerate(in_order(instance, by)):
            if (turn % _STRIDE == 0 and (turn or k) and clock.expired) or not placer.place(j):
                missing = j
                break
        else:
            if best is None or occupancy.total() < best.total():
                best = occupancy
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


class _Lookahead:
    """Takes of the likeliest choices the one after which the policy ends best."""

    def __init__(
        self,
        instance: PlacementInstance,
        fabric: Fabric,
        scorer: Scorer,
        order: Order,
        number: int,
        clock: Clock,
    ):
        self.instance, self.fabric, self.scorer = instance, fabric, scorer
        self.order, self.number, self.clock = order, number, clock
        self.path: list[int] = []

    def __call__(self, logits: Floats, *_: object) -> int:
        tried = likeliest_of(logits, self.number)
        if len(tried) > 1 and not self.clock.expired:
            tried.sort(key=self._end_s)
        self.path.append(tried[0])
        return tried[0]

    def _end_s(self, choice: int) -> float:
        path = [*self.path, choice]
        occupancy = after(self.instance, self.fabric, self.scorer, self.order, path)
        # A job without room is worse than any that is slow.
        return occupancy.total() if all(occupancy.servers_of) else np.inf
