"""Plans to clone: the optimum of jobs that stay where they start, and the decisions to it.

Where there are too many plans to go through, the best of a search over orders takes the optimum's
place; no clock has a part in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ....subproblems.learned.policies import Team
from ....subproblems.learned.sight import Sight
from ...heuristics.order_search import order_search
from ...instance import QueueingInstance, QueueingSolution
from ...proving.exact.plan_search import PlanSearch
from ...proving.exact.slot_ways import TooManyStatesError
from ...subproblems.policy_queue import SHAPES, Choice, PolicyQueue
from ...subproblems.slots import plan

#: A decision of a plan, and which choices are right.
Lesson = tuple[Choice, Bools]


def best_plan(instance: QueueingInstance) -> QueueingSolution | None:
    """Return an optimal plan, or a good one where there are too many; None if none was found."""
    try:
        search = PlanSearch(instance)
        least: int | None = search.bound()
        while least is not None:
            found = search.run(least + 1)
            if found is not None:
                return found
            least = search.least
        return None
    except TooManyStatesError:
        solution = order_search(instance, Limits(), np.random.default_rng(0)).solution
        return solution if isinstance(solution, QueueingSolution) else None


def starts_of(solution: QueueingSolution) -> dict[int, tuple[int, dict[int, int]]]:
    """Return the first slot of each job, and its tasks by server."""
    starts: dict[int, tuple[int, dict[int, int]]] = {}
    for slot, running in enumerate(solution.slots):
        for r in running:
            starts.setdefault(r.job, (slot, dict(r.tasks)))
    return starts


def replayed(
    instance: QueueingInstance, starts: dict[int, tuple[int, dict[int, int]]], team: Team
) -> list[Lesson]:
    """Return the decisions with which agents reach a plan of jobs that stay.

    A job that waits although it may not, as nothing runs yet, is no lesson.
    """
    told: list[Choice] = []
    right: list[Bools] = []
    owner = np.arange(len(instance.servers)) * team.agents // len(instance.servers)

    def follow(_logits: Floats, _sight: Sight, allowed: Bools, j: int, agent: int) -> int:
        good = np.zeros(len(allowed), dtype=np.bool_)
        slot, tasks = starts[j]
        chosen = len(allowed) - 1
        if slot == queue.slot:
            there = queue.occupancy.servers_of[j]
            left = [s for s, n in tasks.items() if n > there.get(s, 0)]
            good[left] = True
            good[len(owner) + owner[left]] = True
            target = min(left, key=lambda s: (owner[s] != agent, s))
            own = owner[target] == agent
            chosen = int(target if own else len(owner) + owner[target])
        else:
            good[-1] = True
        right.append(good & allowed)
        return chosen

    queue = PolicyQueue(instance, start_of_nothing(), team, follow, told.append)
    plan(instance, queue, Clock())
    return [(choice, good) for choice, good in zip(told, right, strict=True) if good.any()]


def start_of_nothing() -> dict[str, Floats]:
    """Return weights by which all choices score the same."""
    return {name: np.zeros(shape) for name, shape in SHAPES.items()}


def stacked(torch: Any, choices: Sequence[Choice], right: Sequence[Bools]) -> Any:
    """Return decisions as tensors, one in front of the other."""

    def tensor(arrays: Sequence[Floats | Bools]) -> Any:
        return torch.from_numpy(np.ascontiguousarray(np.stack(arrays)))

    return SimpleNamespace(
        sight=SimpleNamespace(
            nodes=tensor([c.view.sight.nodes for c in choices]),
            servers=tensor([c.view.sight.servers for c in choices]),
            job=tensor([c.view.sight.job for c in choices]),
        ),
        ends=tensor([c.view.ends for c in choices]),
        queue=tensor([c.view.queue for c in choices]),
        who=tensor([c.view.who for c in choices]),
        allowed=tensor([c.allowed for c in choices]),
        right=tensor(right),
    )
