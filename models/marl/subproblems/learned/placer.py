"""A policy at work, as a placement rule: agents place tasks on their servers or forward them.

A job arrives at one agent, in turn. For each task the agent takes one of its servers or forwards
the task to another agent with room, who has to place it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats
from gadgetopt.search.clock import Clock

from ..cluster import ClusterInstance
from ..occupancy import Occupancy
from ..orders import Order, in_order
from .fabric import Fabric
from .policies import Scorer
from .sight import Sight, Watch


@dataclass(frozen=True)
class Decision:
    """What an agent decides about a task.

    Attributes
    ----------
    job, agent : int
    sight : Sight
    allowed : array of bool, shape (servers + agents,)
        The agent's servers with room; other agents with room, to whom the task may be forwarded.
    chosen : int
        A server, or the number of servers plus that of an agent.
    """

    job: int
    agent: int
    sight: Sight
    allowed: Bools
    chosen: int


#: `(logits of what is allowed, decision but for its choice) -> index`; see `Decision.chosen`.
Choose = Callable[[Floats, Sight, Bools, int, int], int]


def likeliest(logits: Floats, *_: object) -> int:
    """Return what has the largest logit, the first of several."""
    return int(np.argmax(logits))


def likeliest_of(logits: Floats, number: int) -> list[int]:
    """Return the choices with the largest logits; of those that score the same only the first."""
    order = np.argsort(-logits, kind="stable")[: np.isfinite(logits).sum()]
    _, first = np.unique(np.round(logits[order], 9), return_index=True)
    return [int(k) for k in order[np.sort(first)][:number]]


def sampled(rng: np.random.Generator, explore: float = 0.0) -> Choose:
    """Return a choice by the softmax of the logits, with a part at random among what is allowed."""

    def choose(
        logits: Floats, _sight: Sight, allowed: Bools, _job: int = 0, _agent: int = 0
    ) -> int:
        share = np.exp(logits - logits.max())
        share = (1 - explore) * share / share.sum() + explore * allowed / allowed.sum()
        drawn = np.searchsorted(np.cumsum(share), rng.random())
        return int(min(drawn, np.flatnonzero(allowed)[-1]))

    return choose


class LearnedPlacer(Watch):
    """Places tasks by a policy.

    Parameters
    ----------
    occupancy : Occupancy
    fabric : Fabric
    scorer : Scorer
    choose : callable
        `likeliest`, `sampled(rng)`, or what a training tells to do.
    tell : callable, optional
        Told of every `Decision`.
    """

    pick: Choose
    scorer: Scorer
    tell: Callable[[Decision], None] | None

    def __init__(
        self,
        occupancy: Occupancy,
        fabric: Fabric,
        scorer: Scorer,
        choose: Choose = likeliest,
        tell: Callable[[Decision], None] | None = None,
    ):
        super().__init__(occupancy, fabric)
        self.scorer, self.pick, self.tell = scorer, choose, tell
        jobs = occupancy.instance.jobs
        by_arrival = sorted(range(len(jobs)), key=lambda j: (jobs[j].arrival_s, j))
        self.agent_of: dict[int, int] = {
            j: turn % fabric.agents for turn, j in enumerate(by_arrival)
        }

    def choose(self, j: int) -> int | None:
        """Return the server for the next task of a job; None if none has room."""
        return self.decide(j, self.agent_of[j], forwarded=False)

    def decide(self, j: int, agent: int, *, forwarded: bool) -> int | None:
        """Return the server that an agent chooses, or the one to whom it forwards the task."""
        servers = len(self.fabric.agent)
        sight = self.see(j, forwarded=forwarded)
        if not sight.fit.any():
            return None
        allowed = self._allowed(sight, agent, forwarded)
        logits = np.concatenate(self.scorer.scores(self.fabric, sight))
        chosen = self.pick(np.where(allowed, logits, -np.inf), sight, allowed, j, agent)
        if self.tell is not None:
            self.tell(Decision(j, agent, sight, allowed, chosen))
        return chosen if chosen < servers else self.decide(j, chosen - servers, forwarded=True)

    def _allowed(self, sight: Sight, agent: int, forwarded: bool) -> Bools:
        own = sight.fit & (self.fabric.agent == agent)
        others = (self.fabric.member > 0) @ sight.fit > 0
        others[agent] = False
        return np.concatenate([own, others & (not forwarded)])


class _After(LearnedPlacer):
    """Places as it is told first, without looking, and then by its policy."""

    def __init__(self, occupancy: Occupancy, fabric: Fabric, scorer: Scorer, path: Sequence[int]):
        super().__init__(occupancy, fabric, scorer)
        self.path = list(reversed(path))

    def choose(self, j: int) -> int | None:
        agent, forwarded = self.agent_of[j], False
        while self.path:
            chosen = self.path.pop()
            if chosen < len(self.fabric.agent):
                return chosen
            agent, forwarded = chosen - len(self.fabric.agent), True
        return self.decide(j, agent, forwarded=forwarded)


def after(
    instance: ClusterInstance,
    fabric: Fabric,
    scorer: Scorer,
    order: Order,
    path: Sequence[int],
    clock: Clock | None = None,
) -> Occupancy:
    """Return what a policy makes of an empty cluster after the first choices, see `Decision`.

    Jobs that are left when a clock's time is up are not placed.
    """
    occupancy = Occupancy(instance)
    placer = _After(occupancy, fabric, scorer, path)
    for j in in_order(instance, order):
        if clock is not None and clock.expired:
            break
        placer.place(j)
    return occupancy
