"""A linear score learned from optimal placements, without torch (reconstructed).

A regression over the choices of each decision; every round does some steps on all decisions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.pieces.learning.choice_regression import ChoiceRegression
from gadgetopt.system.declaring import trainer

from ....subproblems.learned.policies import (
    Linear,
    Team,
)
from ....subproblems.learned.sight import SERVER_FEATURES
from ....subproblems.orders import Order
from .examples import (
    READERS,
    Batch,
    Lessons,
    excess,
    held_out_batches,
)


@trainer(methods=READERS, presets={"small": {}})
def linear(
    seed: int,
    *,
    agents: int = 2,
    order: Order = "big",
    racks: int = 2,
    servers_per_rack: int = 4,
    example_servers_per_rack: int = 3,
    examples: int = 100,
    examples_per_round: int = 10,
    epochs: int = 20,
    steps: int = 50,
    learning_rate: float = 0.3,
    held_out: int = 40,
    check_every: int = 4,
) -> LinearTraining:
    """A linear score learns the decisions of optimal placements, without torch.

    Parameters
    ----------
    seed : int
    agents, order, racks, ... : int or str
        As in `Cloning`.
    epochs, steps : int
        Rounds after the examples are solved, and gradient steps in each.
    learning_rate : float
    """
    lessons = Lessons(seed, Team(agents, order), racks, example_servers_per_rack, examples)
    return LinearTraining(
        lessons, examples_per_round, epochs, steps, learning_rate,
        held_out_batches(seed, held_out, racks, servers_per_rack), check_every,
    )  # fmt: skip


class LinearTraining:
    """Multinomial logistic regression in rounds; parameters are those of `linear`."""

    examples_per_round: int
    lessons: Lessons
    learning_rate: float
    steps: int
    check_every: int
    held_out: list[Any]

    def __init__(
        self,
        lessons: Lessons,
        examples_per_round: int,
        epochs: int,
        steps: int,
        learning_rate: float,
        held_out: list[Any],
        check_every: int,
    ):
        self.lessons, self.examples_per_round = lessons, examples_per_round
        self.lesson_rounds: int = -(-lessons.number // examples_per_round)
        self.rounds: int = self.lesson_rounds + epochs
        self.steps, self.learning_rate = steps, learning_rate
        self.held_out, self.check_every = held_out, check_every
        zeros = np.zeros(SERVER_FEATURES + 1)
        self.regression = ChoiceRegression(zeros, zeros)

    def round(self, k: int, rng: np.random.Generator) -> Mapping[str, float]:
        """Solve examples, or do some gradient steps."""
        if k < self.lesson_rounds:
            self.lessons.solve(self.examples_per_round)
            row: dict[str, float] = {"examples": len(self.lessons)}
        else:
            seen = choices(self.lessons.decisions, self.lessons.fabric.member)
            rate = self.learning_rate
            row = {"loss": [self.regression.step(*seen, rate) for _ in range(self.steps)][-1]}
        if k == 0 or (k + 1) % self.check_every == 0 or k + 1 == self.rounds:
            scorer = Linear(self.regression.weights)
            row["held_out_excess"] = excess(self.held_out, scorer, self.lessons.team)
        return row

    def state(self) -> dict[str, Any]:
        """Return weights, squares of gradients, and the examples."""
        return {**vars(self.regression), "examples": self.lessons.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `state` returned."""
        self.regression = ChoiceRegression(state["weights"], state["squares"])
        self.lessons.restore(state["examples"])

    def policy(self) -> dict[str, Floats]:
        """Return the weights."""
        return {"weights": self.regression.weights}


def choices(batch: Batch, member: Floats) -> tuple[Floats, Any, Any]:
    """Return what is seen of every choice, shape (decisions, servers + agents, features + 1)."""
    servers = batch.servers
    count = member.shape[1]
    # An agent's servers with room: those allowed to it, or to whom it may forward.
    room = member[None] * (batch.fit[:, None, :])
    shares = room / np.maximum(1e-12, room.sum(-1, keepdims=True))
    means = shares @ servers
    seen = np.zeros((len(batch), count + len(member), SERVER_FEATURES + 1))
    seen[:, :count, :-1] = servers
    seen[:, count:, :-1] = means
    seen[:, count:, -1] = 1.0
    return seen, batch.allowed, batch.right
