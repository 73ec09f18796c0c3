r"""Advantage actor-critic after cloning, for several agents (reconstructed).

An episode places a random batch, task by task. Before decision d let :math:`c^a_d` be what the jobs
of agent a take longer than alone, in units of the mean time alone. The reward of agent a is

.. math::
    r^a_d = (c^a_d - c^a_{d+1}) + \lambda \frac1A \sum_b (c^b_d - c^b_{d+1}),

whose sum is what the batch takes longer: a batch has no intervals in which progress could be
counted, so the objective itself stands in for the progress of jobs. Agents share the network;
a central critic sees all servers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.system.declaring import trainer

from ....subproblems.learned.fabric import fabric_of
from ....subproblems.learned.placer import (
    Decision,
    sampled,
)
from ....subproblems.learned.policies import (
    Network,
    Team,
)
from ....subproblems.occupancy import Occupancy
from ....subproblems.orders import Order
from ...instance import PlacementInstance
from .cloning import (
    Cloning,
    tensors,
)
from .examples import (
    READERS,
    Batch,
    draw,
    placed,
)


@trainer(
    methods=READERS,
    presets={
        "small": {},
        "scratch": {"epochs": 0, "updates": 200},
        "large": {"examples": 500, "epochs": 40, "updates": 200},
    },
)
def actor_critic(
    seed: int,
    *,
    agents: int = 2,
    order: Order = "big",
    racks: int = 2,
    servers_per_rack: int = 4,
    example_servers_per_rack: int = 3,
    examples: int = 100,
    examples_per_round: int = 10,
    epochs: int = 12,
    batch: int = 64,
    learning_rate: float = 1e-3,
    held_out: int = 40,
    check_every: int = 4,
    updates: int = 24,
    episodes: int = 16,
    discount: float = 0.9,
    cooperation: float = 0.5,
    entropy: float = 0.01,
    explore: float = 0.3,
    explore_last: float = 0.01,
) -> ActorCritic:
    """Clones optimal placements, then advantage actor-critic (reconstructed).

    Start the training; parameters are those of `Cloning` and `ActorCritic`.
    """
    cloning = (
        seed, Team(agents, order), racks, servers_per_rack, example_servers_per_rack, examples,
        examples_per_round, epochs, batch, learning_rate, held_out, check_every,
    )  # fmt: skip
    return ActorCritic(
        cloning, updates, episodes, discount, cooperation, entropy, explore, explore_last
    )


class ActorCritic(Cloning):
    """Learns from what its own decisions lead to.

    Parameters
    ----------
    cloning : tuple
        Of `Cloning`; no epochs, no cloning first.
    updates, episodes : int
        Steps of the optimiser, one per round, and episodes before each.
    discount, cooperation, entropy : float
        gamma, lambda, and the weight of the entropy.
    explore, explore_last : float
        Share of random decisions among those allowed, in the first update and in the last.
    """

    episodes: int
    updates: int
    cooperation: float
    discount: float
    entropy: float
    explore: float
    rounds: int
    explore_last: float

    def __init__(
        self,
        cloning: tuple[Any, ...],
        updates: int,
        episodes: int,
        discount: float,
        cooperation: float,
        entropy: float,
        explore: float,
        explore_last: float,
    ):
        super().__init__(*cloning)
        self.cloning_rounds: int = self.rounds
        self.updates, self.episodes = updates, episodes
        self.rounds += updates
        self.discount, self.cooperation, self.entropy = discount, cooperation, entropy
        self.explore, self.explore_last = explore, explore_last

    def round(self, k: int, rng: np.random.Generator) -> Mapping[str, float]:
        """Solve examples, do an epoch of cloning, or an update."""
        if k < self.cloning_rounds:
            return super().round(k, rng)
        return {**self.update(k - self.cloning_rounds, rng), **self.checked(k)}

    def update(self, k: int, rng: np.random.Generator) -> dict[str, float]:
        """Play episodes and take a step."""
        torch = self._torch
        explore = self.explore * (self.explore_last / self.explore) ** (
            k / max(1, self.updates - 1)
        )
        scorer = Network(self.adam.arrays())
        decisions: list[Decision] = []
        returns: list[Floats] = []
        reached = []
        for _ in range(self.episodes):
            told, gained, end = self.play(draw(rng, *self.cluster), rng, scorer, explore)
            decisions += told
            returns.append(gained)
            reached.append(end)
        some = tensors(torch, Batch.of(decisions))
        gain = torch.from_numpy(np.concatenate(returns))
        fabric = tensors(torch, fabric_of(self.held_out[0], self.team.agents))
        logits, expected = self.logits(fabric, some)
        share = logits.masked_fill(~some.allowed, -np.inf).softmax(-1)
        allowed = some.allowed / some.allowed.sum(-1, keepdim=True)
        mixed = (1 - explore) * share + explore * allowed
        taken = (mixed * some.right).sum(-1).log()
        advantage = (gain - expected).detach()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        spread = -(share * share.clamp_min(1e-12).log()).sum(-1).mean()
        loss = -(advantage * taken).mean() - self.entropy * spread
        critic = ((gain - expected) ** 2).mean()
        self.adam.step(loss + 0.5 * critic)
        return {
            "excess": float(np.mean(reached)),
            "critic_loss": float(critic.detach()),
            "entropy": float(spread.detach()),
        }

    def play(
        self, instance: PlacementInstance, rng: np.random.Generator, scorer: Network, explore: float
    ) -> tuple[list[Decision], Floats, float]:
        """Return the decisions of an episode, their returns, and what all takes longer."""
        decisions: list[Decision] = []
        before: list[Floats] = []
        agents = self.team.agents
        unit_s = float(np.mean([job.iterations * job.base_iteration_s for job in instance.jobs]))

        def longer(occupancy: Occupancy) -> Floats:
            each = np.zeros(agents)
            for j, there in enumerate(occupancy.servers_of):
                if there:
                    alone_s = occupancy.iterations[j] * occupancy.base_s[j]
                    each[j % agents] += occupancy.cost(j) - alone_s
            return each / unit_s

        def tell(decision: Decision, occupancy: Occupancy) -> None:
            decisions.append(decision)
            before.append(longer(occupancy))

        occupancy = placed(instance, scorer, self.team, sampled(rng, explore), tell)
        end = longer(occupancy)
        costs = np.stack([*before, end])
        costs = costs + self.cooperation * costs.mean(axis=1, keepdims=True)
        rewards = costs[:-1] - costs[1:]
        acting = np.array([d.agent for d in decisions])
        returns = np.zeros((len(decisions) + 1, agents))
        for d in range(len(decisions) - 1, -1, -1):
            returns[d] = rewards[d] + self.discount * returns[d + 1]
        gained: Floats = returns[np.arange(len(decisions)), acting]
        return decisions, gained, float(end.sum() / len(instance.jobs))
