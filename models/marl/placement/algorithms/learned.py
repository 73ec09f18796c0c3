"""A learned policy places a batch (reconstructed)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gadgetopt.errors import InputError
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, TracePoint

from ...subproblems.learned.fabric import Fabric, fabric_of
from ...subproblems.learned.placer import Choose, LearnedPlacer, likeliest
from ...subproblems.learned.policies import Scorer, read_scorer
from ...subproblems.occupancy import Occupancy
from ...subproblems.orders import Order, in_order
from ..instance import PlacementInstance, PlacementSolution

#: Jobs between two looks at the clock. Tuned: `benchmarks/constants.py`.
_STRIDE = 16
_SYSTEM = "marl_placement"


@method(kind="heuristic", reference="Zhao, Wu 2022 (reconstructed)", files=("policy",))
def learned(
    instance: PlacementInstance, limits: Limits, *, policy: str = "", agents: int = 0
) -> MethodOutcome:
    """Agents with a policy that was trained place task after task.

    The policy knows who is still waiting. The same result as `plain`, tested.

    Parameters
    ----------
    policy : str
        File that `gadgetopt train` wrote; empty for the one that comes with the library.
    agents : int
        Schedulers among whom the servers are split; 0: as many as in training.

    Raises
    ------
    InputError
        If the policy's file holds anything else, or `agents` is negative.
    """
    clock = Clock(limits)
    occupancy, missing = Schedulers.of(instance, policy, agents).placed(likeliest, clock)
    return outcome_of(None if missing is not None else occupancy, missing, clock)


@dataclass(frozen=True)
class Schedulers:
    """Schedulers with a policy, and the order in which they place the jobs of an instance."""

    instance: PlacementInstance
    fabric: Fabric
    scorer: Scorer
    order: Order

    @classmethod
    def of(cls, instance: PlacementInstance, policy: str, agents: int) -> Schedulers:
        """Return the schedulers with a policy's file; see `learned`."""
        if agents < 0:
            raise InputError(f"agents: {agents}, expected at least 0")
        scorer, trained = read_scorer(policy, _SYSTEM)
        return cls(instance, fabric_of(instance, agents or trained.agents), scorer, trained.order)

    def placed(
        self, choose: Choose, clock: Clock, *, ask_at_once: bool = False
    ) -> tuple[Occupancy, int | None]:
        """Return the occupancy that they make, and the first job that is not placed, if any.

        The clock is asked before the first job only if it says so.
        """
        occupancy = Occupancy(self.instance)
        placer = LearnedPlacer(occupancy, self.fabric, self.scorer, choose)
        for turn, j in enumerate(in_order(self.instance, self.order)):
            asked = turn % _STRIDE == 0 and (turn > 0 or ask_at_once)
            if (asked and clock.expired) or not placer.place(j):
                return occupancy, j
        return occupancy, None


def outcome_of(
    best: Occupancy | None, missing: int | None, clock: Clock, trace: Sequence[TracePoint] = ()
) -> MethodOutcome:
    """Return the best placement; if there is none, which job found no room."""
    late = clock.expired
    if best is None:
        return MethodOutcome(
            limit_hit="time_s" if late else None,
            notes={} if late else {"no room for": f"jobs[{missing}]"},
        )
    return MethodOutcome(
        solution=PlacementSolution.of(best.servers_of),
        limit_hit="time_s" if late else None,
        trace=tuple(trace),
    )
