r"""The learned scheduler at work, step by step: agents place tasks or forward them.

Nothing here is fast. The loop and the networks are (reconstructed). What a policy sees of a cluster
and the logits that it gives are subroutines: the inner network looks into servers, the outer one at
the servers and switches; how they are trained is `learning`'s.
"""

from __future__ import annotations

import math

from ...subproblems.learned.fabric import fabric_of
from ...subproblems.learned.policies import Scorer, read_scorer
from ...subproblems.learned.sight import Watch
from ...subproblems.occupancy import Occupancy
from ...subproblems.orders import in_order
from ..instance import PlacementInstance, PlacementSolution


def marl(
    instance: PlacementInstance, policy: str = "", agents: int = 0
) -> PlacementSolution | None:
    """Return where a policy puts every task; None if some job has no room (no migration)."""
    scorer, team = read_scorer(policy, "marl_placement")
    agents = agents or team.agents
    # the servers are split into as many partitions as there are agents
    cluster = Watch(Occupancy(instance), fabric_of(instance, agents))
    # a job arrives at one agent, in turn
    jobs = instance.jobs
    by_arrival = sorted(range(len(jobs)), key=lambda j: (jobs[j].arrival_s, j))
    agent = {j: turn % agents for turn, j in enumerate(by_arrival)}
    for j in in_order(instance, team.order):
        cluster.begin(j)
        for _ in range(jobs[j].num_tasks):
            s = act(cluster, scorer, j, agent[j], forwarded=False)
            if s is None:
                return None  # failure: the job would be rolled back and stay queued
            cluster.hold(j, s)
            cluster.occupancy.put(j, s)
        cluster.end(j)
    return PlacementSolution.of(cluster.occupancy.servers_of)


def act(cluster: Watch, scorer: Scorer, j: int, a: int, *, forwarded: bool) -> int | None:
    """Return the server that agent a gives the next task of job j, or that another agent does."""
    sight = cluster.see(j, forwarded=forwarded)
    if not any(sight.fit):
        return None
    owner = cluster.fabric.agent.tolist()
    of_servers, of_agents = scorer.scores(cluster.fabric, sight)
    # mask: own servers with room, and other agents who have some, but after a forward
    logits = {}
    for s in range(len(owner)):
        if sight.fit[s] and owner[s] == a:
            logits["place", s] = float(of_servers[s])
    for b in range(len(of_agents)):
        room = any(sight.fit[s] for s in range(len(owner)) if owner[s] == b)
        if b != a and room and not forwarded:
            logits["forward", b] = float(of_agents[b])
    best = max(logits.values(), default=-math.inf)
    what, chosen = next(choice for choice, logit in logits.items() if logit == best)
    # agent b has to place what is forwarded to it
    return chosen if what == "place" else act(cluster, scorer, j, chosen, forwarded=True)
