"""A linear score learned from optimal plans, without torch (reconstructed).

A server is scored by what is seen of it and of the ends of its jobs, an agent to whom a task may be
forwarded by the mean of what is seen of its servers, and waiting by the queue. Such a score is the
policy's network with most weights 0: the rest carry x as the ReLU of x less that of -x.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats
from gadgetopt.pieces.learning.choice_regression import ChoiceRegression
from gadgetopt.pieces.server_boards import BoardName
from gadgetopt.system.declaring import trainer

from ....subproblems.learned.policies import Team
from ....subproblems.learned.sight import SERVER_FEATURES
from ....subproblems.orders import Order
from ...subproblems.graphs import graphs_of
from ...subproblems.policy_queue import END_FEATURES, QUEUE_FEATURES
from ...subproblems.typed_network import SWEEPS
from .lessons import HELD_OUT, Lesson, Lessons, excess, start_of_nothing
from .worlds import Knows, Law, Topology, World

#: Features of a choice: of a server or the mean of an agent's, ends of a server's jobs, 1 for an
#: agent, the queue and 1 for waiting. By definition.
PARTS = (SERVER_FEATURES, END_FEATURES, 1, QUEUE_FEATURES, 1)


@trainer(methods=("learned",), presets={"small": {}})
def linear(
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
    epochs: int = 10,
    steps: int = 50,
    learning_rate: float = 0.3,
    held_out: int = 12,
    check_every: int = 5,
) -> LinearTraining:
    """A linear score learns the decisions of optimal plans, without torch.

    Parameters
    ----------
    seed : int
    agents, order, knows, ... : int, float or str
        As in `actor_critic`.
    epochs, steps : int
        Rounds after the examples are solved, and gradient steps in each.
    learning_rate : float
    """
    team = Team(agents, order)
    world = World(cluster, jobs, servers, gpus, slots, slots_between, law, topology, board)
    lessons = Lessons(seed, team, world, world.known(knows, samples, noise), examples)
    lesson_rounds = -(-examples // examples_per_round)
    return LinearTraining(
        lessons, team, examples_per_round, (lesson_rounds, epochs), steps, learning_rate,
        held_out, check_every,
    )  # fmt: skip


class LinearTraining:
    """A regression over choices in rounds; parameters are those of `linear`."""

    rounds: int

    def __init__(
        self,
        lessons: Lessons,
        team: Team,
        per_round: int,
        rounds: tuple[int, int],
        steps: int,
        learning_rate: float,
        held_out: int,
        check_every: int,
    ):
        self._lessons, self._team, self._per_round = lessons, team, per_round
        self._lesson_rounds, self.rounds = rounds[0], sum(rounds)
        self._steps, self._rate, self._check_every = steps, learning_rate, check_every
        self._held_out = [lessons.instance(HELD_OUT + k) for k in range(held_out)]
        self._member: Floats = graphs_of(self._held_out[0], team.agents).fabric.member
        self.regression = ChoiceRegression(np.zeros(sum(PARTS)), np.zeros(sum(PARTS)))

    def round(self, k: int, rng: np.random.Generator) -> Mapping[str, float]:
        """Find plans, or do some gradient steps."""
        if k < self._lesson_rounds:
            self._lessons.solve(self._per_round)
            row: dict[str, float] = {"examples": len(self._lessons.solved)}
        else:
            seen = choices(self._lessons.taken, self._member)
            row = {
                "loss": [self.regression.step(*seen, self._rate) for _ in range(self._steps)][-1]
            }
        if (k + 1) % self._check_every == 0 or k + 1 == self.rounds:
            weights = self.policy()
            found = [excess(i, weights, self._team) for i in self._held_out]
            row["held_out_excess"] = float(np.mean(found))
        return row

    def state(self) -> dict[str, Any]:
        """Return weights, squares of gradients, and the plans."""
        return {**vars(self.regression), "plans": self._lessons.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `state` returned."""
        self.regression = ChoiceRegression(state["weights"], state["squares"])
        self._lessons.restore(state["plans"])

    def policy(self) -> dict[str, Floats]:
        """Return the weights of the network that scores as the regression does."""
        return as_network(self.regression.weights)


def choices(lessons: Sequence[Lesson], member: Floats) -> tuple[Floats, Bools, Bools]:
    """Return what is seen of every choice, and which are allowed and which right.

    Returns
    -------
    seen : array, shape (decisions, choices, features)
    allowed, right : array of bool, shape (decisions, choices)
    """
    agents, servers = member.shape
    count = servers + agents + 1
    of_server, ends, forward, queue = np.cumsum(PARTS)[:4]
    seen = np.zeros((len(lessons), count, sum(PARTS)))
    for row, (choice, _) in zip(seen, lessons, strict=True):
        view = choice.view
        row[:servers, :of_server] = view.sight.servers
        row[:servers, of_server:ends] = view.ends
        row[servers:-1, :of_server] = member @ view.sight.servers
        row[servers:-1, ends:forward] = 1.0
        row[-1, forward:queue] = view.queue
        row[-1, queue:] = 1.0
    allowed = np.stack([choice.allowed for choice, _ in lessons])
    right = np.stack([good for _, good in lessons])
    return seen, allowed, right


def as_network(weights: Floats) -> dict[str, Floats]:
    """Return weights of the policy's network by which it scores choices linearly."""
    of_server, ends, forward, queue, wait = np.split(weights, np.cumsum(PARTS)[:-1])
    w = start_of_nothing()
    seen = np.arange(SERVER_FEATURES)
    # The state of a server is what is seen of it, both signs, unchanged by all sweeps.
    w["server_seen"][seen, seen] = 1.0
    w["server_seen"][seen, SERVER_FEATURES + seen] = -1.0
    for k in SWEEPS:
        np.fill_diagonal(w[f"server_self{k}"], 1.0)
    w["ends"][:, 0] = ends
    for unit, sign in enumerate((1.0, -1.0)):
        w["score_seen"][:, unit] = sign * of_server
        w["forward_agent"][seen, unit] = sign * of_server
        w["forward_agent"][SERVER_FEATURES + seen, unit] = -sign * of_server
        w["forward_bias"][unit] = sign * forward[0]
        w["wait_queue"][:, unit] = sign * queue
        w["wait_bias"][unit] = sign * wait[0]
        for last in ("score", "forward", "wait"):
            w[last][unit, 0] = sign
    return w
