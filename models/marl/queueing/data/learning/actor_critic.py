r"""Advantage actor-critic where jobs arrive, after cloning, for several agents (reconstructed).

:math:`U_\tau` is the number of jobs that have arrived and were not finished before slot
:math:`\tau`. The mean completion time is :math:`\frac\Delta{|J|} \sum_\tau U_\tau` and a constant,
so the reward of a slot is :math:`-U_\tau / |J|`, and that of agent a counts its own jobs,

.. math::
    r^a_\tau = -\frac1{|J|} \Bigl(U^a_\tau + \lambda \frac1A U_\tau\Bigr),

without discount. All decisions about a job in a slot share the return from that slot on, whoever
made them. Agents share the network; a central critic sees all servers, the agent's own, the job
and the queue.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.pieces.learning.networks import Adam, torch_on_one_core
from gadgetopt.pieces.server_boards import BoardName
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import trainer

from ....subproblems.learned import network
from ....subproblems.learned.placer import sampled
from ....subproblems.learned.policies import Team
from ....subproblems.orders import Order
from ...instance import QueueingInstance, QueueingSolution
from ...subproblems.graphs import graphs_of
from ...subproblems.policy_queue import SHAPES, Choice, PolicyQueue, logits
from ...subproblems.slots import plan
from .lessons import HELD_OUT, Lessons, excess, stacked, unfinished
from .worlds import Knows, Law, Topology, World

#: Stream of random numbers of the first weights. By definition.
_WEIGHTS = 3 * 10**9


@trainer(
    methods=("learned",),
    presets={"small": {}, "scratch": {"epochs": 0}, "large": {"examples": 200, "updates": 120}},
)
def actor_critic(
    seed: int,
    *,
    agents: int = 2,
    order: Order = "srpt",
    knows: Knows = "table",
    samples: int = 100,
    noise: float = 0.05,
    cluster: int = 0,
    jobs: int = 6,
    servers: int = 2,
    gpus: int = 3,
    slots: int = 12,
    slots_between: float = 0.4,
    law: Law = "sum",
    topology: Topology = "rack",
    board: BoardName = "none",
    examples: int = 16,
    examples_per_round: int = 4,
    epochs: int = 20,
    batch: int = 64,
    learning_rate: float = 1e-3,
    updates: int = 30,
    episodes: int = 8,
    rate_after: float = 3e-4,
    cooperation: float = 0.5,
    entropy: float = 0.01,
    explore: float = 0.1,
    explore_last: float = 0.01,
    held_out: int = 12,
    check_every: int = 5,
) -> ActorCritic:
    """Clones optimal plans, then advantage actor-critic (reconstructed).

    Start the training. `knows` is what it knows of interference (`worlds`), from so many `samples`
    with normal `noise`; the rest are parameters of `World` and `ActorCritic`.
    """
    return ActorCritic(
        seed, Team(agents, order),
        World(cluster, jobs, servers, gpus, slots, slots_between, law, topology, board),
        knows, samples, noise, examples, examples_per_round, epochs, batch, learning_rate,
        updates, episodes, rate_after, cooperation, entropy, (explore, explore_last),
        held_out, check_every,
    )  # fmt: skip


class ActorCritic:
    """Learns from plans, then from what its own decisions lead to.

    Parameters
    ----------
    seed : int
    team : Team
    world : World
    knows, samples, noise
        See `World.known`.
    examples, examples_per_round, epochs, batch, learning_rate
        Plans to clone, in all and per round; epochs over their decisions, decisions per step.
    updates, episodes, rate_after
        Steps of the optimiser after cloning, a round each; episodes before each.
    cooperation, entropy : float
        lambda, and the weight of the entropy.
    explore : tuple of float
        Share of random decisions, in the first update and in the last.
    held_out, check_every : int
        Instances that follow the training, and rounds between two looks at them; the policy is
        that of the best look. They are seen by the same model as all others.
    """

    best: dict[str, Floats]
    best_excess: float
    rounds: int

    def __init__(
        self,
        seed: int,
        team: Team,
        world: World,
        knows: Knows,
        samples: int,
        noise: float,
        examples: int,
        examples_per_round: int,
        epochs: int,
        batch: int,
        learning_rate: float,
        updates: int,
        episodes: int,
        rate_after: float,
        cooperation: float,
        entropy: float,
        explore: tuple[float, float],
        held_out: int,
        check_every: int,
    ):
        self._torch = torch_on_one_core()
        self._team = team
        self._lessons = Lessons(seed, team, world, world.known(knows, samples, noise), examples)
        self._per_round = examples_per_round
        self._batch, self._updates, self._episodes = batch, updates, episodes
        self._rate_after, self._cooperation, self._entropy = rate_after, cooperation, entropy
        self._explore, self._check_every = explore, check_every
        self.lesson_rounds: int = -(-examples // examples_per_round) if epochs else 0
        self.cloning_rounds: int = self.lesson_rounds + epochs
        self.rounds = self.cloning_rounds + updates
        self._held_out = [self._lessons.instance(HELD_OUT + k) for k in range(held_out)]
        self._graphs = graphs_of(self._held_out[0], team.agents).turned(
            lambda array: self._torch.from_numpy(np.ascontiguousarray(array))
        )
        weights = network.start(np.random.default_rng([seed, _WEIGHTS]), SHAPES)
        self.adam: Adam = Adam(weights, learning_rate)
        self.best, self.best_excess = weights, np.inf

    def round(self, k: int, rng: np.random.Generator) -> Mapping[str, float]:
        """Find plans, do an epoch of cloning, or an update."""
        if k < self.lesson_rounds:
            self._lessons.solve(self._per_round)
            row: dict[str, float] = {"examples": len(self._lessons.solved)}
        elif k < self.cloning_rounds:
            row = self._epoch(rng)
        else:
            row = self._update(k - self.cloning_rounds, rng)
        return {**row, **self._checked(k)}

    def _epoch(self, rng: np.random.Generator) -> dict[str, float]:
        """Go through all decisions once."""
        lessons = self._lessons.taken
        order = rng.permutation(len(lessons)).tolist()
        losses = []
        for begin in range(0, len(order), self._batch):
            part = [lessons[k] for k in order[begin : begin + self._batch]]
            some = stacked(self._torch, [c for c, _ in part], [good for _, good in part])
            scores, _ = self._scores(some)
            right = scores.masked_fill(~some.right, -np.inf)
            losses.append(self.adam.step((scores.logsumexp(-1) - right.logsumexp(-1)).mean()))
        return {"loss": float(np.mean(losses))}

    def _update(self, k: int, rng: np.random.Generator) -> dict[str, float]:
        """Play episodes and take a step."""
        torch = self._torch
        first, last = self._explore
        explore = first * (last / first) ** (k / max(1, self._updates - 1))
        weights = self.adam.arrays()
        choices: list[Choice] = []
        returns: list[Floats] = []
        for _ in range(self._episodes):
            told, gained = self._play(self._lessons.seen(rng), weights, rng, explore)
            choices += told
            returns.append(gained)
        chosen = [np.arange(len(c.allowed)) == c.chosen for c in choices]
        some = stacked(torch, choices, chosen)
        gain = torch.from_numpy(np.concatenate(returns))
        scores, expected = self._scores(some)
        share = scores.softmax(-1)
        mixed = (1 - explore) * share + explore * some.allowed / some.allowed.sum(-1, keepdim=True)
        taken = (mixed * some.right).sum(-1).log()
        advantage = (gain - expected).detach()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        spread = -(share * share.clamp_min(1e-12).log()).sum(-1).mean()
        critic = ((gain - expected) ** 2).mean()
        loss = -(advantage * taken).mean() - self._entropy * spread + 0.5 * critic
        self.adam.set_rate(self._rate_after)
        self.adam.step(loss)
        return {
            "return": float(gain.mean()),
            "critic_loss": float(critic.detach()),
            "entropy": float(spread.detach()),
        }

    def _play(
        self,
        instance: QueueingInstance,
        weights: Mapping[str, Floats],
        rng: np.random.Generator,
        explore: float,
    ) -> tuple[list[Choice], Floats]:
        """Return the decisions of an episode and their returns; none if it does not end in time."""
        told: list[Choice] = []
        queue = PolicyQueue(instance, weights, self._team, sampled(rng, explore), told.append)
        solution = plan(instance, queue, Clock())
        if solution is None:
            return [], np.zeros(0)
        return told, returns_of(
            instance, solution, told, queue.owners, queue.agents, self._cooperation
        )

    def _scores(self, some: Any) -> tuple[Any, Any]:
        """Return logits of what is allowed, else minus infinity, and what the critic expects."""
        servers, agents, wait, value = logits(
            self.adam.tensors, self._graphs, some.sight, some.ends, some.queue, some.who
        )
        scores = self._torch.cat([servers, agents, wait], -1)
        return scores.masked_fill(~some.allowed, -np.inf), value

    def _checked(self, k: int) -> dict[str, float]:
        """Look at the instances held out, now and then; keep the best weights."""
        if (k + 1) % self._check_every and k + 1 < self.rounds:
            return {}
        weights = self.adam.arrays()
        found = float(np.mean([excess(i, weights, self._team) for i in self._held_out]))
        if found < self.best_excess:
            self.best, self.best_excess = weights, found
        return {"held_out_excess": found}

    def state(self) -> dict[str, Any]:
        """Return weights, moments, the best weights, and the plans."""
        return {
            **self.adam.state(),
            **{f"best/{name}": array for name, array in self.best.items()},
            "best_excess": np.array(self.best_excess),
            "plans": self._lessons.state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `state` returned."""
        self.adam.restore(state)
        self.best = {name: np.array(state[f"best/{name}"]) for name in SHAPES}
        self.best_excess = float(state["best_excess"])
        self._lessons.restore(state["plans"])

    def policy(self) -> dict[str, Floats]:
        """Return the best weights, in single precision."""
        return {name: array.astype(np.float32) for name, array in self.best.items()}


def returns_of(
    instance: QueueingInstance,
    solution: QueueingSolution,
    told: list[Choice],
    owner: Ints,
    agents: int,
    cooperation: float,
) -> Floats:
    """Return the sum of rewards from each decision's slot on, of the agent whose job it is."""
    there = unfinished(instance, solution)
    own = np.stack([there[:, owner == a].sum(axis=1) for a in range(agents)], axis=1)
    cost = own + cooperation / agents * there.sum(axis=1, keepdims=True)
    to_come = np.cumsum(cost[::-1], axis=0)[::-1] / len(instance.jobs)
    return np.array([-to_come[c.slot, owner[c.job]] for c in told])
