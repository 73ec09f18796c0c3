"""Cloning: the network learns the decisions of optimal placements (reconstructed).

The first rounds solve small batches to optimality; each later round is one epoch over all their
decisions, with the loss -log of the probability of what is right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.pieces.learning.networks import Adam, torch_on_one_core
from gadgetopt.system.declaring import trainer

from ....subproblems.learned import network
from ....subproblems.learned.policies import (
    Network,
    Team,
)
from ....subproblems.orders import Order
from ...instance import PlacementInstance
from .examples import (
    READERS,
    Lessons,
    excess,
    held_out_batches,
)

#: Stream of random numbers of the first weights, beside those of the rounds. By definition.
_WEIGHTS = 3 * 10**9


@trainer(methods=READERS, presets={"small": {}, "large": {"examples": 500, "epochs": 40}})
def clone(
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
) -> Cloning:
    """The graph network learns the decisions of optimal placements.

    Start cloning; the parameters are those of `Cloning`.
    """
    return Cloning(
        seed, Team(agents, order), racks, servers_per_rack, example_servers_per_rack, examples,
        examples_per_round, epochs, batch, learning_rate, held_out, check_every,
    )  # fmt: skip


class Cloning:
    """Learns from optimal placements.

    Parameters
    ----------
    seed : int
    team : Team
    racks, servers_per_rack : int
        Of the batches that are held out to follow the training.
    example_servers_per_rack : int
        Of the batches that are solved.
    examples, examples_per_round, epochs, batch : int
        Batches solved, in all and per round; epochs over their decisions; decisions per step.
    learning_rate : float
    held_out, check_every : int
        Batches that are held out, and rounds between two looks at them; the policy is that of the
        best look.
    """

    batch: int
    seed: int
    team: Team
    epochs: int
    examples_per_round: int
    best: dict[str, Floats]
    best_excess: float

    def __init__(
        self,
        seed: int,
        team: Team,
        racks: int,
        servers_per_rack: int,
        example_servers_per_rack: int,
        examples: int,
        examples_per_round: int,
        epochs: int,
        batch: int,
        learning_rate: float,
        held_out: int,
        check_every: int,
    ):
        self._torch = torch_on_one_core()
        self.seed, self.team, self.batch = seed, team, batch
        self.cluster: tuple[int, int] = (racks, servers_per_rack)
        self.lessons: Lessons = Lessons(seed, team, racks, example_servers_per_rack, examples)
        self.examples_per_round, self.epochs = examples_per_round, epochs
        self.lesson_rounds: int = -(-examples // examples_per_round) if epochs else 0
        self.rounds: int = self.lesson_rounds + epochs
        self.check_every = check_every
        self.held_out: list[PlacementInstance] = held_out_batches(
            seed, held_out, racks, servers_per_rack
        )
        weights = network.start(np.random.default_rng([seed, _WEIGHTS]))
        self.adam: Adam = Adam(weights, learning_rate)
        self.best, self.best_excess = weights, np.inf

    def round(self, k: int, rng: np.random.Generator) -> Mapping[str, float]:
        """Solve examples, or do an epoch."""
        if k < self.lesson_rounds:
            self.lessons.solve(self.examples_per_round)
            row: dict[str, float] = {"examples": len(self.lessons)}
        else:
            row = self.epoch(rng)
        return {**row, **self.checked(k)}

    def epoch(self, rng: np.random.Generator) -> dict[str, float]:
        """Go through all decisions once."""
        decisions = self.lessons.decisions
        fabric = tensors(self._torch, self.lessons.fabric)
        order = rng.permutation(len(decisions))
        losses, agreed = [], 0.0
        for begin in range(0, len(order), self.batch):
            some = tensors(self._torch, decisions.part(order[begin : begin + self.batch]))
            logits, _ = self.logits(fabric, some)
            allowed = logits.masked_fill(~some.allowed, -np.inf)
            right = logits.masked_fill(~some.right, -np.inf)
            losses.append(self.adam.step((allowed.logsumexp(-1) - right.logsumexp(-1)).mean()))
            agreed += float(some.right.gather(1, allowed.argmax(1, keepdim=True)).sum())
        return {"loss": float(np.mean(losses)), "agreement": agreed / len(order)}

    def logits(self, fabric: Any, some: Any) -> tuple[Any, Any]:
        """Return logits of all choices, and what the critic expects."""
        w = self.adam.tensors
        servers, agents, everywhere, means, q = network.logits(
            w, fabric, some.nodes, some.servers, some.job
        )
        own = means[self._torch.arange(len(some.agent)), some.agent]
        return self._torch.cat([servers, agents], -1), network.value(w, everywhere, own, q)

    def checked(self, k: int) -> dict[str, float]:
        """Look at the batches held out, now and then; keep the best weights."""
        if k and (k + 1) % self.check_every and k + 1 < self.rounds:
            return {}
        weights = self.adam.arrays()
        found = excess(self.held_out, Network(weights), self.team)
        if found < self.best_excess:
            self.best, self.best_excess = weights, found
        return {"held_out_excess": found}

    def state(self) -> dict[str, Any]:
        """Return weights, moments, the best weights, and the examples."""
        best = {f"best/{name}": array for name, array in self.best.items()}
        return {
            **self.adam.state(),
            **best,
            "best_excess": np.array(self.best_excess),
            "examples": self.lessons.state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `state` returned."""
        self.adam.restore(state)
        self.best = {name: np.array(state[f"best/{name}"]) for name in network.SHAPES}
        self.best_excess = float(state["best_excess"])
        self.lessons.restore(state["examples"])

    def policy(self) -> dict[str, Floats]:
        """Return the best weights, in single precision."""
        return {name: array.astype(np.float32) for name, array in self.best.items()}


def tensors(torch: Any, arrays: Any) -> Any:
    """Return a dataclass of arrays with tensors in their place."""
    found = {
        name: torch.from_numpy(np.ascontiguousarray(array))
        for name, array in vars(arrays).items()
        if isinstance(array, np.ndarray)
    }
    return replace(arrays, **found)
