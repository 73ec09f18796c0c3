r"""The learned scheduler at work, slot by slot: agents place tasks, forward them, or let jobs wait.

Nothing here is fast. The loop and the networks are (reconstructed). What a policy sees, the logits
that it gives, and what a job does in a slot are subroutines; how policies are trained is
`data/learning`'s.
"""

from __future__ import annotations

from ...subproblems.occupancy import Occupancy
from ...subproblems.orders import order_of
from ..instance import QueueingInstance, QueueingSolution, Running
from ..subproblems.graphs import graphs_of
from ..subproblems.policy_queue import Agents, logits, read_weights
from ..subproblems.slots import SlotRates


def marl(instance: QueueingInstance, policy: str = "", agents: int = 0) -> QueueingSolution | None:
    """Return the plan of a policy on servers without boards; None if a job does not end in time."""
    weights, team = read_weights(policy)
    # the servers are split into as many partitions as there are agents; a job arrives at one
    cluster = Agents(Occupancy(instance), graphs_of(instance, agents or team.agents), weights)
    number, rates = cluster.fabric.agents, SlotRates(instance)
    left = [float(job.iterations) for job in instance.jobs]
    waiting: set[int] = set()
    running: set[int] = set()
    slots: list[tuple[Running, ...]] = []
    key = order_of(instance, team.order, left_s=lambda j: left[j] * cluster.occupancy.base_s[j])
    for slot in range(instance.num_slots):
        if not any(work > 0 for work in left):
            break
        # jobs that have arrived join the queues of their agents
        waiting |= {j for j, first in enumerate(instance.first_slots) if first == slot}
        cluster.see_queue(waiting, running, left)
        cluster.slot = slot
        # the agents act in turn, and each takes its queue once
        for turn in range(number):
            agent = (slot + turn) % number
            for j in sorted((j for j in waiting if cluster.agent_of[j] == agent), key=key):
                if start(cluster, j, agent):
                    waiting.remove(j)
                    running.add(j)
        # iterations of the slot; finished jobs leave
        on = cluster.occupancy.servers_of
        slots.append(
            tuple(Running(job=j, tasks=tuple(sorted(on[j].items()))) for j in sorted(running))
        )
        done = {j: rates.iterations(cluster.occupancy, j) for j in running}
        for j, iterations in done.items():
            left[j] -= iterations
            if left[j] <= 0:
                cluster.remove(j)
                running.remove(j)
    return None if any(work > 0 for work in left) else QueueingSolution(slots=tuple(slots))


def start(cluster: Agents, j: int, agent: int) -> bool:
    """Give all tasks of a job a server each; none if it waits, or one of them finds no room."""
    cluster.begin(j)
    for task in range(cluster.occupancy.instance.jobs[j].num_tasks):
        s = act(cluster, j, agent, forwarded=False, first=task == 0)
        if s is None:
            cluster.occupancy.clear(j)
            cluster.end(j)
            cluster.waiting.add(j)
            return False
        cluster.hold(j, s)
        cluster.occupancy.put(j, s)
    cluster.end(j)
    return True


def act(cluster: Agents, j: int, a: int, *, forwarded: bool, first: bool) -> int | None:
    """Return the server that agent a gives the next task of job j, or another agent; else None."""
    sight = cluster.see(j, forwarded=forwarded)
    if not any(sight.fit):
        return None
    view = cluster.view(j, a, sight)
    of_servers, of_agents, wait, _ = logits(
        cluster.weights, cluster.graphs, sight, view.ends, view.queue, view.who
    )
    owner = cluster.fabric.agent.tolist()
    # mask: own servers with room; other agents who have some, but after a forward; waiting
    found = {}
    for s in range(len(owner)):
        if sight.fit[s] and owner[s] == a:
            found["place", s] = float(of_servers[s])
    for b in range(len(of_agents)):
        room = any(sight.fit[s] for s in range(len(owner)) if owner[s] == b)
        if b != a and room and not forwarded:
            found["forward", b] = float(of_agents[b])
    if first and not forwarded and any(cluster.occupancy.jobs_on):
        found["wait", 0] = float(wait[0])
    best = max(found.values())
    what, chosen = next(choice for choice, logit in found.items() if logit == best)
    if what == "wait":
        return None
    # agent b has to place what is forwarded to it
    return chosen if what == "place" else act(cluster, j, chosen, forwarded=True, first=first)
