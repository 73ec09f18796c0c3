"""Search over the order of the jobs: all rules and orders first, then jobs change places."""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.tolerance import Number
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.result import Limits, MethodOutcome

from ...subproblems.orders import ORDERS, order_of
from ...subproblems.rules import RULES, Rule
from ..evaluate import evaluate
from ..instance import QueueingInstance, QueueingSolution
from ..subproblems.queue import JobQueue
from ..subproblems.slots import plan


def order_search(
    instance: QueueingInstance, limits: Limits, rng: np.random.Generator, *, rounds: int = 200
) -> MethodOutcome:
    """Return the best plan of all rules and orders, and of orders changed by swaps.

    Parameters
    ----------
    rounds : int
        Changed orders that are tried; a changed order stays if its plan is no worse.
    """
    search: Search[QueueingSolution] = Search("min", limits)
    search_orders(instance, search, rng, rounds)
    return search.outcome(search.best)


def search_orders(
    instance: QueueingInstance,
    search: Search[QueueingSolution],
    rng: np.random.Generator,
    rounds: int,
    part: float = 1.0,
) -> None:
    """Offer plans to a search, until it is over or a part of its time."""
    clock = Clock(search.clock.limits(part))
    best: tuple[Number, Rule, list[float]] | None = None

    def value_of(rule: Rule, queue: JobQueue) -> Number | None:
        solution = plan(instance, queue, clock)
        value = None if solution is None else evaluate(instance, solution).objective
        if value is not None and solution is not None:
            search.offer(value, solution)
        return value

    for rule in RULES:
        for order in ORDERS:
            if search.over or clock.expired:
                break
            value = value_of(rule, JobQueue(instance, rule, order, rng))
            if value is not None and (best is None or value < best[0]):
                key = order_of(instance, order)
                ranked = sorted(range(len(instance.jobs)), key=key)
                places = {j: float(place) for place, j in enumerate(ranked)}
                best = value, rule, [places[j] for j in range(len(instance.jobs))]
    if best is None or len(instance.jobs) < 2:
        return
    least, _, priority = best
    for _ in range(rounds):
        if search.over or clock.expired:
            break
        a, b = rng.choice(len(priority), size=2, replace=False).tolist()
        changed = list(priority)
        changed[a], changed[b] = priority[b], priority[a]
        rule = best[1] if rng.random() < 0.5 else RULES[int(rng.integers(len(RULES)))]
        value = value_of(rule, JobQueue(instance, rule, "fifo", rng, changed))
        if value is not None and value <= least:
            least, priority = value, changed
