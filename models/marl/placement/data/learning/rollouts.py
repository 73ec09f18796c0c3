r"""Policy improvement by rollouts after cloning (ours): the value of a choice is what comes of it.

The policy places random batches. At some of its decisions the likeliest choices are tried: the
policy goes on from each to the end, which gives their costs c(a), in units of the mean time alone.
Each step descends along the gradient of

.. math::
    \sum_a \pi(a) \Bigl(c(a) - \sum_b \pi(b) c(b)\Bigr),

over the choices tried. No critic has to be learned, and the credit of a decision is not blurred by
the decisions after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats
from gadgetopt.system.declaring import trainer

from ....subproblems.learned.fabric import fabric_of
from ....subproblems.learned.placer import (
    Decision,
    after,
    likeliest,
    likeliest_of,
)
from ....subproblems.learned.policies import (
    Network,
    Team,
)
from ....subproblems.learned.sight import Sight
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
    presets={"small": {}, "large": {"examples": 500, "epochs": 40, "updates": 200}},
)
def rollouts(
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
    updates: int = 12,
    batches: int = 8,
    decisions: int = 6,
    choices: int = 4,
    steps: int = 4,
    rate_after: float = 3e-4,
    entropy: float = 0.01,
    explore: float = 0.05,
) -> Rollouts:
    """Clones optimal placements, then learns what its choices lead to (ours).

    Start the training; parameters are those of `Cloning` and `Rollouts`.
    """
    cloning = (
        seed, Team(agents, order), racks, servers_per_rack, example_servers_per_rack, examples,
        examples_per_round, epochs, batch, learning_rate, held_out, check_every,
    )  # fmt: skip
    return Rollouts(
        cloning, updates, batches, decisions, choices, steps, rate_after, entropy, explore
    )


class Rollouts(Cloning):
    """Learns from what its choices lead to.

    Parameters
    ----------
    cloning : tuple
        Of `Cloning`.
    updates : int
        Rounds after cloning.
    batches, decisions, choices : int
        Batches per round, decisions of each, and choices tried at a decision, at most.
    steps : int
        Of the optimiser per round.
    rate_after : float
        Its learning rate after cloning.
    entropy, explore : float
        Weight of the entropy, and share of random decisions in the runs that lead to those tried.
    """

    batches: int
    choices: int
    decisions: int
    rate_after: float
    steps: int
    entropy: float
    explore: float
    rounds: int

    def __init__(
        self,
        cloning: tuple[Any, ...],
        updates: int,
        batches: int,
        decisions: int,
        choices: int,
        steps: int,
        rate_after: float,
        entropy: float,
        explore: float,
    ):
        super().__init__(*cloning)
        self.cloning_rounds: int = self.rounds
        self.rounds += updates
        self.batches, self.decisions, self.choices = batches, decisions, choices
        self.steps, self.rate_after = steps, rate_after
        self.entropy, self.explore = entropy, explore

    def round(self, k: int, rng: np.random.Generator) -> Mapping[str, float]:
        """Solve examples, do an epoch of cloning, or an update."""
        if k < self.cloning_rounds:
            return super().round(k, rng)
        return {**self.update(rng), **self.checked(k)}

    def update(self, rng: np.random.Generator) -> dict[str, float]:
        """Try choices, and take some steps."""
        torch = self._torch
        scorer = Network(self.adam.arrays())
        tried: list[Decision] = []
        costs: list[Floats] = []
        for _ in range(self.batches):
            for decision, cost in self.compared(draw(rng, *self.cluster), rng, scorer):
                tried.append(decision)
                costs.append(cost)
        cost = np.stack(costs)
        lost = cost[np.arange(len(tried)), [d.chosen for d in tried]] - np.nanmin(cost, axis=1)
        cost -= np.nanmean(cost, axis=1, keepdims=True)
        known = torch.from_numpy(~np.isnan(cost))
        scaled = torch.from_numpy(np.nan_to_num(cost / max(1e-9, float(np.nanstd(cost)))))
        fabric = tensors(torch, fabric_of(self.held_out[0], self.team.agents))
        some = tensors(torch, Batch.of(tried))
        self.adam.set_rate(self.rate_after)
        for _ in range(self.steps):
            logits, _ = self.logits(fabric, some)
            share = logits.masked_fill(~known, -np.inf).softmax(-1)
            spread = -(share * share.clamp_min(1e-12).log()).sum(-1).mean()
            self.adam.step((share * scaled).sum(-1).mean() - self.entropy * spread)
        return {"lost_per_decision": float(lost.mean()), "entropy": float(spread.detach())}

    def compared(
        self, instance: PlacementInstance, rng: np.random.Generator, scorer: Network
    ) -> list[tuple[Decision, Floats]]:
        """Return some decisions of a run and the costs of the choices tried, else nan."""
        path: list[Decision] = []
        fabric = fabric_of(instance, self.team.agents)

        def wander(logits: Floats, _sight: Sight, allowed: Bools, _job: int, _agent: int) -> int:
            if rng.random() < self.explore:
                return int(rng.choice(np.flatnonzero(allowed)))
            return likeliest(logits)

        occupancy = placed(instance, scorer, self.team, wander, lambda d, _: path.append(d))
        unit_s = float(np.dot(occupancy.iterations, occupancy.base_s)) / len(instance.jobs)
        free = [k for k, decision in enumerate(path) if decision.allowed.sum() > 1]
        compared = []
        for k in sorted(rng.permutation(free)[: self.decisions].tolist()):
            decision = path[k]
            logits = np.concatenate(scorer.scores(fabric, decision.sight))
            order = likeliest_of(np.where(decision.allowed, logits, -np.inf), self.choices)
            cost = np.full(len(logits), np.nan)
            for choice in order:
                chosen = [*(d.chosen for d in path[:k]), choice]
                cost[choice] = (
                    after(instance, fabric, scorer, self.team.order, chosen).total() / unit_s
                )
            if len(order) > 1:
                best = Decision(
                    decision.job, decision.agent, decision.sight, decision.allowed, order[0]
                )
                compared.append((best, cost))
        return compared
