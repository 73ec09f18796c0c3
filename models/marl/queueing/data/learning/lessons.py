"""Plans to clone: the optimum of jobs that stay where they start, and the decisions to it.

Where there are too many plans to go through, the best of a search over orders takes the optimum's
place; no clock has a part in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats, Ints
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
from .worlds import World

#: Streams of random numbers beside those of the rounds: of examples, and of what is held out.
#: By definition.
EXAMPLES, HELD_OUT = 10**9, 2 * 10**9

#: A decision of a plan, and which choices are right.
Lesson = tuple[Choice, Bools]


class Lessons:
    """The decisions to optimal plans of random instances, more with every call of `solve`.

    Parameters
    ----------
    seed : int
    team : Team
    world : World
    known : mapping
        Fields of an instance that a model of interference changes.
    number : int
        Of instances, in all.

    Attributes
    ----------
    taken : list of Lesson
    solved : list of array
        Of each instance the rows of its plan: example, job, first slot, server, tasks; job -1
        where there is no plan.
    """

    def __init__(
        self, seed: int, team: Team, world: World, known: Mapping[str, Any], number: int
    ) -> None:
        self._seed, self._team, self._world, self._known = seed, team, world, known
        self._number = number
        self.taken: list[Lesson] = []
        self.solved: list[Ints] = []

    def instance(self, stream: int) -> QueueingInstance:
        """Return the random instance of a stream, as the model sees it."""
        return self.seen(np.random.default_rng([self._seed, stream]))

    def seen(self, rng: np.random.Generator) -> QueueingInstance:
        """Return a random instance as the model sees it."""
        return self._world.draw(rng).model_copy(update=self._known)

    def solve(self, more: int) -> None:
        """Find the plans of some more instances."""
        done = len(self.solved)
        for e in range(done, min(done + more, self._number)):
            found = best_plan(self.instance(EXAMPLES + e))
            starts = {} if found is None else starts_of(found)
            rows = [(e, j, t, s, n) for j, (t, on) in starts.items() for s, n in on.items()]
            self._take(np.array(rows or [(e, -1, 0, 0, 0)], dtype=np.int64))

    def state(self) -> Ints:
        """Return the rows of all plans."""
        return np.concatenate([np.zeros((0, 5), dtype=np.int64), *self.solved])

    def restore(self, plans: Ints) -> None:
        """Take over what `state` returned."""
        self.solved, self.taken = [], []
        for e in range(int(plans[:, 0].max()) + 1 if len(plans) else 0):
            self._take(plans[plans[:, 0] == e])

    def _take(self, rows: Ints) -> None:
        self.solved.append(rows)
        starts: dict[int, tuple[int, dict[int, int]]] = {}
        for _, j, t, s, n in rows.tolist():
            if j >= 0:
                starts.setdefault(j, (t, {}))[1][s] = n
        if starts:
            instance = self.instance(EXAMPLES + int(rows[0, 0]))
            self.taken += replayed(instance, starts, self._team)


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


def excess(instance: QueueingInstance, weights: Mapping[str, Floats], team: Team) -> float:
    """Return the slots of all jobs from arrival to end by those alone, less 1."""
    solution = plan(instance, PolicyQueue(instance, weights, team), Clock())
    alone_s = float(sum(job.iterations * job.base_iteration_s for job in instance.jobs))
    if solution is None:
        return float(instance.num_slots * len(instance.jobs))
    return int(unfinished(instance, solution).sum()) * float(instance.slot_s) / alone_s - 1


def unfinished(instance: QueueingInstance, solution: QueueingSolution) -> Bools:
    """Return which jobs have arrived and were not finished before each slot, of a plan that ends.

    Returns
    -------
    array of bool, shape (slots, jobs)
    """
    ends = {r.job: slot for slot, running in enumerate(solution.slots) for r in running}
    last = np.array([ends[j] for j in range(len(instance.jobs))])
    slots = np.arange(len(solution.slots))[:, None]
    found: Bools = (slots >= np.array(instance.first_slots)) & (slots <= last)
    return found


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
