r"""Large-neighbourhood search: jobs are taken away and placed anew, a few servers share anew.

In every round one way to destroy is drawn by its weight: the jobs that lose most, jobs that
disturb each other, or random ones, are taken away and inserted where all jobs cost least, the
largest first; or nothing is taken away, and three servers share their tasks in the best way
(`sharing`). The servers that changed then share anew, two by two. What comes out is kept if it
costs less than the best so far times a threshold that falls to 1. Weights follow the ways that
improved, as in adaptive large-neighbourhood search.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...subproblems.occupancy import Occupancy
from ...subproblems.orders import Order
from ...subproblems.rules import Rule
from ..evaluate import evaluate
from ..instance import PlacementInstance, PlacementSolution
from .local_search import (
    descend,
    start_placement,
)
from .moves import insert_job
from .sharing import share_anew

#: Threshold at the start, over 1, by which a placement may cost more than the best.
#: Tuned: `benchmarks/constants.py`.
_THRESHOLD = 0.01
#: Share of the old weight that stays, and what a way earns that finds a better placement.
#: Tuned: `benchmarks/constants.py`.
_MEMORY, _REWARD, _KEPT, _NOTHING = 0.9, 8.0, 2.0, 0.5
#: Relative improvement below which a placement is not better. Tuned: `benchmarks/constants.py`.
_LEAST = 1e-9
#: Jobs that are taken away at most in a round. Tuned: `benchmarks/constants.py`.
_MOST_JOBS = 8


@method(kind="heuristic", reference="this project, after Ropke and Pisinger 2006")
def lns(
    instance: PlacementInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    start: Rule = "greedy_jct",
    order: Order = "fifo",
    rounds: int = 600,
    targets: int = 64,
) -> MethodOutcome:
    """Jobs are taken away and placed anew, a few servers share their tasks anew.

    Improve a placement by large-neighbourhood search.

    Parameters
    ----------
    start, order : str
        Rule and order of the first placement.
    rounds : int
        Rounds after local search, unless the time is up before.
    targets : int
        Servers that are tried for a job at most; of more, this many random ones.
    """
    search: Search[PlacementSolution] = Search("min", limits)
    clock = search.clock

    def offer(servers_of: Sequence[dict[int, int]]) -> None:
        solution = PlacementSolution.of(servers_of)
        search.offer(evaluate(instance, solution).objective or 0, solution)

    occupancy = start_placement(instance, clock, rng, start, order)
    if occupancy is None:
        return search.outcome(None)
    offer(occupancy.servers_of)
    with clock.phase("local search"):
        descend(occupancy, clock, rng, targets)
    offer(occupancy.servers_of)
    with clock.phase("rounds"):
        search_rounds(occupancy, clock, rng, rounds, targets, offer)
    return search.outcome(search.best)


class Journal(Occupancy):
    """An occupancy that can take back what was done since the last mark."""

    def __init__(self, instance: PlacementInstance):
        self._done: list[tuple[int, int, int]] = []
        super().__init__(instance)

    def put(self, j: int, s: int, n: int = 1) -> None:
        """Put tasks of a job on a server, or take them away, and note it."""
        super().put(j, s, n)
        self._done.append((j, s, n))

    def mark(self) -> None:
        """Forget what was done so far."""
        self._done.clear()

    def undo(self) -> None:
        """Take back what was done since the last mark."""
        for j, s, n in reversed(self._done):
            super().put(j, s, -n)
        self._done.clear()

    def changed(self) -> list[int]:
        """Return the servers on which something was done since the last mark."""
        return sorted({s for _, s, _ in self._done})


def search_rounds(
    occupancy: Occupancy,
    clock: Clock,
    rng: np.random.Generator,
    rounds: int,
    targets: int,
    found: Callable[[Sequence[dict[int, int]]], None],
) -> None:
    """Tell the servers of every job in each better placement that the rounds find."""
    journal = Journal.of(
        occupancy.instance, [tuple(servers.items()) for servers in occupancy.servers_of]
    )
    if not journal.servers_of:
        return
    current = least = journal.total()
    weights = np.ones(len(_WAYS))
    for turn in range(rounds):
        if clock.expired:
            break
        journal.mark()
        way = int(rng.choice(len(_WAYS), p=weights / weights.sum()))
        added = _WAYS[way](journal, rng, targets)
        changed = journal.changed()
        for a, b in itertools.pairwise(changed):
            added -= share_anew(journal, (a, b))
        cost, reward = current + added, _NOTHING
        if cost > least * (1.0 + _THRESHOLD * (1.0 - turn / rounds)):
            journal.undo()
        else:
            reward = _KEPT if cost < current else _NOTHING
            current = cost
        if current < least * (1.0 - _LEAST):
            least, reward = current, _REWARD
            found(journal.servers_of)
        weights[way] = _MEMORY * weights[way] + (1.0 - _MEMORY) * reward


def _take_losers(journal: Journal, rng: np.random.Generator, targets: int) -> float:
    """Take jobs away that lose much by where they are."""
    drawn = rng.integers(len(journal.kind), size=4 * targets)
    jobs = list(dict.fromkeys(drawn.tolist()))
    loss = [journal.iterations[j] * (journal.iteration_s(j) - journal.base_s[j]) for j in jobs]
    worst = [jobs[k] for k in np.argsort(loss)[::-1][: 2 * _MOST_JOBS]]
    return _place_anew(journal, rng, targets, rng.permutation(worst)[: _few(rng)].tolist())


def _take_neighbours(journal: Journal, rng: np.random.Generator, targets: int) -> float:
    """Take jobs away that are on the servers of one job."""
    j = int(rng.integers(len(journal.kind)))
    near = sorted({k for s in journal.servers_of[j] for k in journal.jobs_on[s]})
    return _place_anew(journal, rng, targets, rng.permutation(near)[: _few(rng)].tolist())


def _take_any(journal: Journal, rng: np.random.Generator, targets: int) -> float:
    """Take random jobs away."""
    number = len(journal.kind)
    jobs = rng.choice(number, size=min(number, _few(rng)), replace=False)
    return _place_anew(journal, rng, targets, jobs.tolist())


def _share_three(journal: Journal, rng: np.random.Generator, targets: int) -> float:
    """Let the server of a job, another of its servers if it has one, and a third share anew."""
    j = int(rng.integers(len(journal.kind)))
    servers = rng.permutation(list(journal.servers_of[j]))[:2].tolist()
    others = rng.integers(len(journal.jobs_on), size=4).tolist()
    chosen = list(dict.fromkeys([*servers, *others]))[:3]
    return -share_anew(journal, chosen) if len(chosen) > 1 else 0.0


_WAYS: tuple[Callable[[Journal, np.random.Generator, int], float], ...] = (
    _take_losers,
    _take_neighbours,
    _take_any,
    _share_three,
)


def _few(rng: np.random.Generator) -> int:
    return int(rng.integers(2, _MOST_JOBS + 1))


def _place_anew(journal: Journal, rng: np.random.Generator, targets: int, jobs: list[int]) -> float:
    """Take jobs away and insert them, the largest first; return by how much the cost grows."""
    servers = {s for j in jobs for s in journal.servers_of[j]}
    near = {k for s in servers for k in journal.jobs_on[s]} | set(jobs)
    before = journal.cost_of(near)
    for j in jobs:
        journal.clear(j)
    added = journal.cost_of(near) - before
    number = len(journal.jobs_on)
    among: Sequence[int] = range(number)
    if number > targets:
        among = sorted(servers | set(rng.integers(number, size=targets).tolist()))
    noise = 1.0 + 0.5 * rng.random(len(jobs))
    size = [journal.instance.jobs[j].num_tasks * x for j, x in zip(jobs, noise, strict=True)]
    for k in np.argsort(size)[::-1]:
        grown = insert_job(journal, jobs[int(k)], among)
        if grown is None:
            return math.inf
        added += grown
    return added
