r"""A learned policy that serves a queue: agents place tasks, forward them, or let a job wait.

In every slot the agents act in turn, slot mod A first; each takes the jobs that arrived at it, in
an order. For the first task of a job there is one more choice, to wait until the next slot, but
where nothing runs. What is seen is that of a batch (`learned.sight`), with only those as waiting
that have arrived and costs in slots; beside it the time until the jobs of each server end at the
earliest if nobody disturbed them, and the queue. On boards the jobs are seen on their GPUs, and
what a job's gradients pay is what they would pay if nobody came after it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.pieces.server_boards import fastest
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.system.training import read_policy

from ...subproblems.architecture import Seats
from ...subproblems.learned import network
from ...subproblems.learned.fabric import Fabric
from ...subproblems.learned.placer import Choose, LearnedPlacer, likeliest
from ...subproblems.learned.policies import Team
from ...subproblems.learned.sight import LARGEST, Sight
from ...subproblems.occupancy import Occupancy
from ...subproblems.orders import ORDERS
from ..instance import QueueingInstance, Running
from . import typed_network
from .graphs import Graphs, graphs_of
from .queue import JobQueue
from .seats import seated

#: Features of a server, ends of its jobs at least and in the mean, and of the queue: own and all
#: jobs, GPUs and work of all, age and length of the job, ends of what runs at least and in the
#: mean, GPUs in use. By definition.
END_FEATURES, QUEUE_FEATURES = 2, 9
#: Jobs, and slots, that a feature counts as one. By definition.
_JOBS, _SLOTS = 8.0, 4.0

#: Shapes of the weights: those of the network, and of what is added.
SHAPES: dict[str, tuple[int, ...]] = {
    **typed_network.SHAPES,
    "ends": (END_FEATURES, 1),
    "wait_all": (network.DIM, network.DIM), "wait_own": (network.DIM, network.DIM),
    "wait_job": (network.DIM, network.DIM), "wait_queue": (QUEUE_FEATURES, network.DIM),
    "wait_bias": (network.DIM,), "wait": (network.DIM, 1),
    "value_queue": (QUEUE_FEATURES, network.DIM),
}  # fmt: skip

#: The policy that is used if none is given, and how it was made (see the page).
SHIPPED = Path(__file__).parent / "policy.npz"


@dataclass(frozen=True)
class View:
    """What an agent sees: of the cluster and the job, of the ends on servers, and of the queue.

    Attributes
    ----------
    sight : Sight
    ends : array, shape (servers, END_FEATURES)
    queue : array, shape (QUEUE_FEATURES,)
    who : array, shape (agents,)
        1 at the agent that decides.
    """

    sight: Sight
    ends: Floats
    queue: Floats
    who: Floats


@dataclass(frozen=True)
class Choice:
    """What an agent decided about a task.

    Attributes
    ----------
    slot, job, agent : int
    view : View
    allowed : array of bool, shape (servers + agents + 1,)
        The last is to wait.
    chosen : int
    """

    slot: int
    job: int
    agent: int
    view: View
    allowed: Bools
    chosen: int


def logits(
    w: Mapping[str, Any], graphs: Graphs, sight: Any, ends: Any, queue: Any, who: Any
) -> tuple[Any, Any, Any, Any]:
    """Return logits of servers, of agents and of waiting, and what the critic expects.

    Arrays and tensors go through the same lines; a batch has one more axis in front.
    """
    servers, agents, everywhere, means, q = typed_network.logits(
        w, graphs, sight.nodes, sight.servers, sight.job
    )
    own = (who[..., None, :] @ means)[..., 0, :]
    z = everywhere @ w["wait_all"] + own @ w["wait_own"] + q @ w["wait_job"]
    z = (z + queue @ w["wait_queue"] + w["wait_bias"]).clip(0)
    value = network.value(w, everywhere, own, q, queue @ w["value_queue"])
    return servers + (ends @ w["ends"])[..., 0], agents, z @ w["wait"], value


class PolicyQueue(JobQueue):
    """Jobs that wait and jobs that run, served by a policy.

    Parameters
    ----------
    instance : QueueingInstance
    weights : mapping
    team : Team
    choose : callable
    tell : callable, optional
        Told of every `Choice`.
    """

    def __init__(
        self,
        instance: QueueingInstance,
        weights: Mapping[str, Floats],
        team: Team,
        choose: Choose = likeliest,
        tell: Callable[[Choice], None] | None = None,
    ):
        graphs = graphs_of(instance, team.agents)
        super().__init__(
            instance,
            "lb",
            team.order,
            fixed_rng(),
            make=lambda occupancy: Agents(occupancy, graphs, weights, choose, tell),
        )

    @property
    def _at_work(self) -> Agents:
        assert isinstance(self._placer, Agents)
        return self._placer

    @property
    def agents(self) -> int:
        """Number of agents."""
        return self._at_work.fabric.agents

    @property
    def slot(self) -> int:
        """The slot that is served, or comes next."""
        return self._at_work.slot

    @property
    def owners(self) -> Ints:
        """The agent of each job."""
        agent_of = self._at_work.agent_of
        return np.array([agent_of[j] for j in range(len(agent_of))], dtype=np.int64)

    def admit(self) -> set[int]:
        """Let all agents act; return the servers on which anything changed."""
        agents = self._at_work
        agents.see_queue(self.waiting, self.running, self.left)
        changed: set[int] = set()
        for turn in range(agents.fabric.agents):
            agent = (agents.slot + turn) % agents.fabric.agents
            mine = [j for j in self.waiting if agents.agent_of[j] == agent]
            for j in sorted(mine, key=self._key):
                if agents.place(j):
                    self.waiting.remove(j)
                    self.running.add(j)
                    changed.update(self.occupancy.servers_of[j])
                else:
                    agents.waiting.add(j)
        agents.slot += 1
        agents.keep_seats()
        return changed


class Agents(LearnedPlacer):
    """Agents that place tasks; what they see ends with what has arrived.

    Parameters
    ----------
    occupancy, graphs
        Of a `QueueingInstance`.
    weights, choose, tell
        See `PolicyQueue`.
    """

    first_slots: tuple[int, ...]
    slot_s: float
    weights: Mapping[str, Floats]
    told: Callable[[Choice], None] | None

    def __init__(
        self,
        occupancy: Occupancy,
        graphs: Graphs,
        weights: Mapping[str, Floats],
        choose: Choose = likeliest,
        tell: Callable[[Choice], None] | None = None,
    ):
        instance = occupancy.instance
        assert isinstance(instance, QueueingInstance)
        self.graphs, self.clustered = graphs, instance
        self.before: dict[int, tuple[Running, Seats]] = {}
        last = 2 if instance.network is None else instance.network.levels
        self.spans_s: list[list[float]] = [
            [float(instance.span_s(j, level)) for level in range(last + 1)]
            for j in range(len(instance.jobs))
        ]
        # What a policy sees of a job is the nearest level and the farthest.
        occupancy.rack_s = [of_levels[1] for of_levels in self.spans_s]
        occupancy.cross_s = [of_levels[-1] for of_levels in self.spans_s]
        super().__init__(occupancy, graphs.fabric, _NoScorer(), choose)
        self.weights, self.told = weights, tell
        self.slot: int = 0
        self.first_slots = instance.first_slots
        # The mean of all jobs would tell of those to come.
        self.mean_s = self.slot_s = float(instance.slot_s)
        self.left: list[float] = []
        self.running: set[int] = set()

    def see_queue(self, waiting: set[int], running: set[int], left: list[float]) -> None:
        """Take note of what waits and runs now, and of the iterations left."""
        self.waiting, self.running, self.left = set(waiting), running, left

    def decide(self, j: int, agent: int, *, forwarded: bool) -> int | None:
        """Return the server that an agent chooses; None to wait, or if none has room."""
        servers, agents = len(self.fabric.agent), self.fabric.agents
        sight = self.see(j, forwarded=forwarded)
        if not sight.fit.any():
            return None
        first = not forwarded and not self.occupancy.servers_of[j]
        allowed = np.append(
            self._allowed(sight, agent, forwarded), first and any(self.occupancy.jobs_on)
        )
        view = self.view(j, agent, sight)
        of_servers, of_agents, wait, _ = logits(
            self.weights, self.graphs, sight, view.ends, view.queue, view.who
        )
        found = np.where(allowed, np.concatenate([of_servers, of_agents, wait]), -np.inf)
        chosen = self.pick(found, sight, allowed, j, agent)
        if self.told is not None:
            self.told(Choice(self.slot, j, agent, view, allowed, chosen))
        if chosen == servers + agents:
            return None
        return chosen if chosen < servers else self.decide(j, chosen - servers, forwarded=True)

    def view(self, j: int, agent: int, sight: Sight) -> View:
        """Return what an agent sees beside the cluster and the job."""
        who = np.eye(self.fabric.agents)[agent]
        return View(sight, self._ends(), self._queue(j, agent), who)

    def keep_seats(self) -> None:
        """Take note of the GPUs that all jobs keep as long as they stay where they are."""
        if self.clustered.boards:
            self.before = self._seated()

    def _seated(self) -> dict[int, tuple[Running, Seats]]:
        on = self.occupancy.servers_of
        runs = [Running(job=j, tasks=tuple(sorted(t.items()))) for j, t in enumerate(on) if t]
        seats = seated(self.clustered, runs, self.before)
        return {r.job: (r, seats[r.job]) for r in runs}

    def _nodes(self, j: int) -> Floats:
        # Nodes come first of all that is seen, so what follows knows the GPUs too.
        if self.clustered.boards:
            self.occupant[:] = -1
            for k, (_, seats) in self._seated().items():
                for s, gpus in seats.items():
                    self.occupant[s, list(gpus)] = k
        return super()._nodes(j)

    def _communication(self, j: int) -> Floats:
        if not self.clustered.has_architecture:
            return super()._communication(j)
        there = self.occupancy.servers_of[j]
        now_s = self._rings_s(j, there)
        after = [{**there, s: there.get(s, 0) + 1} for s in range(len(self.occupancy.jobs_on))]
        return np.array([self._rings_s(j, tasks) - now_s for tasks in after])

    def _rings_s(self, j: int, tasks: Mapping[int, int]) -> float:
        """Return what an iteration of a job takes longer with so many tasks on these servers."""
        instance, size = self.clustered, self.occupancy.gpus[j]
        longer = self.spans_s[j][instance.span(tasks)]
        for s, n in tasks.items() if instance.boards else ():
            there = self.occupant[s, : instance.servers[s].gpus]
            free = np.flatnonzero((there < 0) | (there == j)).tolist()
            if 1 < n * size <= len(free):
                board = instance.boards[instance.servers[s].board]
                ring = board.ring_gbytes_s(fastest(board, free, n * size))
                longer = max(longer, float(instance.rings_gbytes[j] / ring))
        return longer

    def _alone_slots(self, j: int) -> float:
        return max(0.0, self.left[j]) * self.occupancy.base_s[j] / self.slot_s / _SLOTS

    def _ends(self) -> Floats:
        ends = np.zeros((len(self.occupancy.jobs_on), END_FEATURES))
        for s, jobs in enumerate(self.occupancy.jobs_on):
            if jobs:
                lengths = [self._alone_slots(k) for k in jobs]
                ends[s] = min(lengths), sum(lengths) / len(lengths)
        return np.clip(ends, 0.0, LARGEST)

    def _queue(self, j: int, agent: int) -> Floats:
        waiting = sorted(self.waiting | {j})
        there = [self._alone_slots(k) for jobs in self.occupancy.jobs_on for k in jobs]
        gpus = max(1, int(self.all_gpus.sum()))
        features = np.array([
            sum(self.agent_of[k] == agent for k in waiting) / _JOBS,
            len(waiting) / _JOBS,
            self.demand[waiting].sum() / gpus,
            sum(self._alone_slots(k) * self.demand[k] for k in waiting) / gpus,
            (self.slot - self.first_slots[j]) / _SLOTS,
            self._alone_slots(j),
            min(there, default=0.0),
            sum(there) / max(1, len(there)),
            1.0 - sum(self.occupancy.free_gpus) / gpus,
        ])  # fmt: skip
        return np.clip(features, 0.0, LARGEST)


class _NoScorer:
    def scores(self, fabric: Fabric, _sight: Sight) -> tuple[Floats, Floats]:
        raise AssertionError("these agents score by weights of their own")


def read_weights(path: str) -> tuple[dict[str, Floats], Team]:
    """Return the weights of a policy's file, of the shipped one if no path is given, and its team.

    Raises
    ------
    InputError
        One line, if the file holds anything else.
    """
    policy = read_policy(path or SHIPPED, "marl_queueing", ("actor_critic", "linear"))
    agents, order = (policy.about.parameters.get(name) for name in ("agents", "order"))
    if not isinstance(agents, int) or agents < 1:
        raise InputError(f"{policy.place}: agents: {agents!r}, expected a positive integer")
    if order not in ORDERS:
        raise InputError(f"{policy.place}: order: {order!r}, expected one of {', '.join(ORDERS)}")
    weights = {name: policy.array(name, *shape) for name, shape in SHAPES.items()}
    return weights, Team(agents, order)
