"""What policies learn from: random batches, optimal placements of them, and decisions replayed.

An optimal placement names servers, of which many are alike when empty. A decision counts as right
if it is the optimum's up to such names: the task goes to a server where the optimum has tasks of
its job left, or to an empty server like an empty one of those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from gadgetopt.errors import SolverError
from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.system.result import Limits

from ....subproblems.learned.fabric import (
    Fabric,
    fabric_of,
)
from ....subproblems.learned.placer import (
    Choose,
    Decision,
    LearnedPlacer,
    likeliest,
)
from ....subproblems.learned.policies import (
    Scorer,
    Team,
)
from ....subproblems.occupancy import Occupancy
from ....subproblems.orders import in_order
from ....subproblems.random_jobs import (
    jobs_for,
    racks_of,
    table,
)
from ...instance import (
    PlacementInstance,
    PlacementSolution,
)
from ...proving.exact.price_and_close import price_and_close

#: The methods that read a policy's file.
READERS = ("learned", "learned_sampled", "learned_lookahead")

#: Streams of random numbers beside those of the rounds: of examples, of what is held out.
#: By definition.
_EXAMPLES, _HELD_OUT = 10**9, 2 * 10**9

#: Loads of the batches, as shares of the GPUs. Tuned: `benchmarks/constants.py`.
LOADS = (0.6, 0.8, 1.0)
TYPES = 4


def draw(
    rng: np.random.Generator, racks: int, servers_per_rack: int, load: float | None = None
) -> PlacementInstance:
    """Return a random batch on racks of four-GPU servers, of a random load if none is given."""
    servers = racks_of(racks, servers_per_rack)
    load = float(rng.choice(LOADS)) if load is None else load
    interference = table(rng, TYPES)
    most = round(load * 4 * len(servers) / 2) + 2
    jobs = jobs_for(rng, servers, jobs=most, types=TYPES, load=load)
    return PlacementInstance(servers=servers, jobs=jobs, interference=interference)


def optimum(instance: PlacementInstance) -> list[dict[int, int]]:
    """Return the tasks of every job by server in a placement of proven least mean time."""
    outcome = price_and_close(instance, Limits(), np.random.default_rng(0))
    if not isinstance(outcome.solution, PlacementSolution):
        raise SolverError("an example was not solved")
    return [dict(pairs) for pairs in outcome.solution.tasks]


@dataclass(frozen=True)
class Batch:
    """Decisions of one cluster, as arrays with the decisions in front.

    Attributes
    ----------
    nodes, servers, job : array
        As in `Sight`.
    fit : array of bool, shape (decisions, servers)
    agent : array of int
        Who decides.
    allowed, right : array of bool, shape (decisions, servers + agents)
        `right` marks what was chosen, or what the optimum allows.
    """

    nodes: Floats
    servers: Floats
    job: Floats
    fit: Bools
    agent: Ints
    allowed: Bools
    right: Bools

    @classmethod
    def of(cls, decisions: Sequence[Decision], right: Sequence[Bools] | None = None) -> Batch:
        """Stack decisions; what they chose is right if nothing else is given."""
        wide = np.arange(len(decisions[0].allowed))
        chosen = [wide == d.chosen for d in decisions]
        return cls(
            np.stack([d.sight.nodes for d in decisions]),
            np.stack([d.sight.servers for d in decisions]),
            np.stack([d.sight.job for d in decisions]),
            np.stack([d.sight.fit for d in decisions]),
            np.array([d.agent for d in decisions], dtype=np.int64),
            np.stack([d.allowed for d in decisions]),
            np.stack(chosen if right is None else right),
        )

    def __len__(self) -> int:
        return len(self.agent)

    def part(self, chosen: Ints) -> Batch:
        """Return some of the decisions."""
        return Batch(*(getattr(self, f.name)[chosen] for f in fields(self)))

    @classmethod
    def joined(cls, batches: Sequence[Batch]) -> Batch:
        """Return the decisions of several batches of one cluster."""
        names = [f.name for f in fields(cls)]
        return cls(*(np.concatenate([getattr(b, name) for b in batches]) for name in names))


class _Nothing:
    def scores(self, fabric: Fabric, _sight: object) -> tuple[Floats, Floats]:
        return np.zeros(len(fabric.agent)), np.zeros(fabric.agents)


def replayed(instance: PlacementInstance, tasks: Sequence[Mapping[int, int]], team: Team) -> Batch:
    """Return the decisions with which agents reach a placement."""
    fabric = fabric_of(instance, team.agents)
    occupancy = Occupancy(instance)
    decisions: list[Decision] = []
    right: list[Bools] = []

    def follow(_logits: Floats, _sight: object, allowed: Bools, job: int, agent: int) -> int:
        there = occupancy.servers_of[job]
        left = [s for s, n in tasks[job].items() if n > there.get(s, 0)]
        # Where the job is already, then the agent's own servers, then by number.
        target = min(left, key=lambda s: (s not in there, fabric.agent[s] != agent, s))
        good = np.zeros(len(allowed), dtype=np.bool_)
        for s in left:
            good[[s, *_alike(occupancy, s, tasks)]] = True
        for a in range(fabric.agents):
            good[len(fabric.agent) + a] = bool(
                (good[: len(fabric.agent)] & (fabric.agent == a)).any()
            )
        right.append(good & allowed)
        own = fabric.agent[target] == agent
        return int(target if own else len(fabric.agent) + fabric.agent[target])

    placer = LearnedPlacer(occupancy, fabric, _Nothing(), follow, decisions.append)
    for j in in_order(instance, team.order):
        placer.place(j)
    # A wrong turn of another agent's is no lesson: nothing that it may do is right.
    kept = [k for k, good in enumerate(right) if good.any()]
    return Batch.of([decisions[k] for k in kept], [right[k] for k in kept])


def _alike(occupancy: Occupancy, s: int, tasks: Sequence[Mapping[int, int]]) -> Iterator[int]:
    """Yield the empty servers that are like an empty one."""
    if occupancy.jobs_on[s]:
        return
    servers = occupancy.instance.servers
    for other, jobs in enumerate(occupancy.jobs_on):
        if not jobs and servers[other] == servers[s]:
            yield other


def placed(
    instance: PlacementInstance,
    scorer: Scorer,
    team: Team,
    choose: Choose = likeliest,
    tell: Callable[[Decision, Occupancy], None] | None = None,
) -> Occupancy:
    """Return what a policy makes of a batch; a job without room is left out."""
    occupancy = Occupancy(instance)
    told = None if tell is None else lambda decision: tell(decision, occupancy)
    placer = LearnedPlacer(occupancy, fabric_of(instance, team.agents), scorer, choose, told)
    for j in in_order(instance, team.order):
        placer.place(j)
    return occupancy


def excess(instances: Sequence[PlacementInstance], scorer: Scorer, team: Team) -> float:
    """Return the mean over batches of the completion times by those alone, less 1."""
    shares = []
    for instance in instances:
        occupancy = placed(instance, scorer, team)
        alone = sum(w * t for w, t in zip(occupancy.iterations, occupancy.base_s, strict=True))
        shares.append(occupancy.total() / alone - 1)
    return float(np.mean(shares))


def held_out_batches(
    seed: int, number: int, racks: int, servers_per_rack: int
) -> list[PlacementInstance]:
    """Return batches that no training learns from."""
    return [
        draw(np.random.default_rng([seed, _HELD_OUT + k]), racks, servers_per_rack)
        for k in range(number)
    ]


class Lessons:
    """Optimal placements of small batches, and the decisions that lead there.

    Parameters
    ----------
    seed, racks, servers_per_rack : int
    team : Team
    number : int
        Of batches.
    """

    number: int
    seed: int
    team: Team
    racks: int
    servers_per_rack: int

    def __init__(self, seed: int, team: Team, racks: int, servers_per_rack: int, number: int):
        self.seed, self.team, self.number = seed, team, number
        self.racks, self.servers_per_rack = racks, servers_per_rack
        self._solved: list[Ints] = []
        self._decisions: list[Batch] = []

    def instance(self, k: int) -> PlacementInstance:
        """Return batch k, always the same."""
        return draw(
            np.random.default_rng([self.seed, _EXAMPLES + k]), self.racks, self.servers_per_rack
        )

    def __len__(self) -> int:
        return len(self._solved)

    def solve(self, more: int) -> None:
        """Solve some more batches."""
        for k in range(len(self), min(len(self) + more, self.number)):
            tasks = optimum(self.instance(k))
            rows = [(k, j, s, n) for j, on in enumerate(tasks) for s, n in on.items()]
            self._take(k, np.array(rows, dtype=np.int64))

    def _take(self, k: int, rows: Ints) -> None:
        instance = self.instance(k)
        tasks: list[dict[int, int]] = [{} for _ in instance.jobs]
        for _, j, s, n in rows.tolist():
            tasks[j][s] = n
        self._solved.append(rows)
        self._decisions.append(replayed(instance, tasks, self.team))

    @property
    def decisions(self) -> Batch:
        """All decisions."""
        return Batch.joined(self._decisions)

    @property
    def fabric(self) -> Fabric:
        """The graphs of their cluster."""
        return fabric_of(self.instance(0), self.team.agents)

    def state(self) -> Ints:
        """Return the placements: rows of batch, job, server, tasks."""
        return np.concatenate([np.zeros((0, 4), dtype=np.int64), *self._solved])

    def restore(self, rows: Ints) -> None:
        """Take over placements."""
        self._solved, self._decisions = [], []
        for k in range(int(rows[:, 0].max()) + 1 if len(rows) else 0):
            self._take(k, rows[rows[:, 0] == k])
