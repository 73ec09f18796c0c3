"""Variants of the learned scheduler: each changes one step of it."""

from __future__ import annotations

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...subproblems.learned.placer import after, likeliest, likeliest_of, sampled
from ...subproblems.occupancy import Occupancy
from ..algorithms.learned import Schedulers, outcome_of
from ..instance import PlacementInstance
from .local_search import mean_completion_s


@method(kind="heuristic", reference="learned, one step changed", files=("policy",))
def learned_sampled(
    instance: PlacementInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    policy: str = "",
    agents: int = 0,
    samples: int = 8,
) -> MethodOutcome:
    """The best of several placements that are drawn from the learned policy.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws all placements but the first, which is that of `learned`.
    policy, agents
        As of `learned`.
    samples : int
        Placements, at least 1.
    """
    if samples < 1:
        raise InputError(f"samples: {samples}, expected at least 1")
    search: Search[Occupancy] = Search("min", limits)
    schedulers = Schedulers.of(instance, policy, agents)
    missing: int | None = None
    for k in range(samples):
        choose = likeliest if k == 0 else sampled(rng)
        occupancy, unplaced = schedulers.placed(choose, search.clock, ask_at_once=k > 0)
        if unplaced is not None:
            missing = unplaced
        else:
            search.offer(mean_completion_s(occupancy), occupancy)
        if search.clock.expired:
            break
    return outcome_of(search.best, missing, search.clock, search.trace)


@method(kind="heuristic", reference="rollout algorithm on learned", files=("policy",))
def learned_lookahead(
    instance: PlacementInstance,
    limits: Limits,
    *,
    policy: str = "",
    agents: int = 0,
    lookahead: int = 3,
) -> MethodOutcome:
    """The learned scheduler, which tries how several choices of each task end.

    Parameters
    ----------
    policy, agents
        As of `learned`.
    lookahead : int
        Of so many likeliest choices of a task, at least 1, the one is taken after which the policy
        ends best. If time is up before all are placed, the placement is that of `learned`.
    """
    if lookahead < 1:
        raise InputError(f"lookahead: {lookahead}, expected at least 1")
    search: Search[Occupancy] = Search("min", limits)
    clock = search.clock
    schedulers = Schedulers.of(instance, policy, agents)
    first, missing = schedulers.placed(likeliest, clock)
    if missing is None:
        search.offer(mean_completion_s(first), first)
    if not clock.expired:
        found, unplaced = schedulers.placed(_Lookahead(schedulers, lookahead, clock), clock)
        if unplaced is None:
            search.offer(mean_completion_s(found), found)
        elif search.best is None:
            missing = unplaced
    return outcome_of(search.best, missing, clock, search.trace)


class _Lookahead:
    """Takes of the likeliest choices the one after which the policy ends best."""

    def __init__(self, schedulers: Schedulers, number: int, clock: Clock):
        self.schedulers, self.number, self.clock = schedulers, number, clock
        self.path: list[int] = []

    def __call__(self, logits: Floats, *_: object) -> int:
        tried = likeliest_of(logits, self.number)
        if len(tried) > 1 and not self.clock.expired:
            tried.sort(key=self._end_s)
        self.path.append(tried[0])
        return tried[0]

    def _end_s(self, choice: int) -> float:
        by = self.schedulers
        path = [*self.path, choice]
        occupancy = after(by.instance, by.fabric, by.scorer, by.order, path, self.clock)
        # A job without room is worse than any that is slow.
        return occupancy.total() if all(occupancy.servers_of) else np.inf
