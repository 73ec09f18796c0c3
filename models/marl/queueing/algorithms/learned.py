"""A learned policy serves the queue (reconstructed)."""

from __future__ import annotations

from gadgetopt.errors import InputError
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...subproblems.learned.policies import Team
from ..instance import QueueingInstance
from ..subproblems.policy_queue import PolicyQueue, read_weights
from ..subproblems.slots import plan


@method(kind="online", reference="Zhao, Wu 2022 (reconstructed)", files=("policy",))
def learned(
    instance: QueueingInstance, limits: Limits, *, policy: str = "", agents: int = 0
) -> MethodOutcome:
    """Agents with a policy that was trained place, forward, or wait.

    The same plans as `plain`, tested.

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
    if agents < 0:
        raise InputError(f"agents: {agents}, expected at least 0")
    clock = Clock(limits)
    weights, trained = read_weights(policy)
    queue = PolicyQueue(instance, weights, Team(agents or trained.agents, trained.order))
    solution = plan(instance, queue, clock)
    return MethodOutcome(
        solution=solution,
        limit_hit="time_s" if solution is None and clock.expired else None,
    )
