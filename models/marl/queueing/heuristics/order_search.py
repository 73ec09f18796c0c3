"""Search over the order of the jobs: all rules and orders first, then jobs change places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.tolerance import Number
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...subproblems.orders import ORDERS, order_of
from ...subproblems.rules import RULES, Rule
from ..evaluate import evaluate
from ..instance import QueueingInstance, QueueingSolution
from ..subproblems.queue import JobQueue
from ..subproblems.slots import plan


@method(kind="heuristic", reference="this project")
def order_search(
    instance: QueueingInstance, limits: Limits, rng: np.random.Generator, *, rounds: int = 200
) -> MethodOutcome:
    """The best of all rules and orders, then jobs change places in the order.

    Parameters
    ----------
    rounds : int
        Changed orders that are tried; a changed order stays if its plan is no worse.
    """
    search: Search[QueueingSolution] = Search("min", limits)
    best = try_rules(instance, search, rng)
    swap_jobs(instance, search, rng, best, rounds)
    return search.outcome(search.best)


@dataclass(frozen=True)
class Ranked:
    """A rule with a place in the order for each job, and the value of its plan."""

    value: Number
    rule: Rule
    places: tuple[float, ...]


def try_rules(
    instance: QueueingInstance,
    search: Search[QueueingSolution],
    rng: np.random.Generator,
    part: float = 1.0,
) -> Ranked | None:
    """Offer the plans of all rules and orders to a search, until it is over or a part of its time.

    Return the best one; None if no plan ends in time.
    """
    clock = Clock(search.clock.limits(part))
    best: Ranked | None = None
    for rule in RULES:
        for order in ORDERS:
            if search.over or clock.expired:
                return best
            queue = JobQueue(instance, rule, order, rng)
            value = _offered(instance, search, clock, queue)
            if value is not None and (best is None or value < best.value):
                key = order_of(instance, order)
                ranked = sorted(range(len(instance.jobs)), key=key)
                places = {j: float(place) for place, j in enumerate(ranked)}
                best = Ranked(value, rule, tuple(places[j] for j in range(len(places))))
    return best


def swap_jobs(
    instance: QueueingInstance,
    search: Search[QueueingSolution],
    rng: np.random.Generator,
    best: Ranked | None,
    rounds: int,
    part: float = 1.0,
) -> None:
    """Offer plans of orders in which jobs change places, until it is over or a part of its time."""
    if best is None or len(instance.jobs) < 2:
        return
    clock = Clock(search.clock.limits(part))
    least, priority = best.value, list(best.places)
    for _ in range(rounds):
        if search.over or clock.expired:
            break
        a, b = rng.choice(len(priority), size=2, replace=False).tolist()
        changed = list(priority)
        changed[a], changed[b] = priority[b], priority[a]
        rule = best.rule if rng.random() < 0.5 else RULES[int(rng.integers(len(RULES)))]
        queue = JobQueue(instance, rule, "fifo", rng, changed)
        value = _offered(instance, search, clock, queue)
        if value is not None and value <= least:
            least, priority = value, changed


def _offered(
    instance: QueueingInstance, search: Search[QueueingSolution], clock: Clock, queue: JobQueue
) -> Number | None:
    """Offer the plan that a queue makes; return its value, None if it does not end in time."""
    solution = plan(instance, queue, clock)
    if solution is None:
        return None
    value = evaluate(instance, solution).objective
    if value is not None:
        search.offer(value, solution)
    return value
