"""Plans by a queue: a placement rule, and an order in which it is offered the waiting jobs."""

from __future__ import annotations

import numpy as np

from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...subproblems.orders import Order
from ...subproblems.rules import Rule
from ..instance import QueueingInstance
from ..subproblems.queue import JobQueue
from ..subproblems.slots import plan


@method(kind="online", reference="(reconstructed), after Grandl et al. 2014")
def tetris(instance: QueueingInstance, limits: Limits, *, order: Order = "fifo") -> MethodOutcome:
    """Each task where its demand and the free resources are aligned best."""
    return by_rule(instance, limits, fixed_rng(), "tetris", order)


@method(kind="online", reference="(reconstructed)")
def pack(instance: QueueingInstance, limits: Limits, *, order: Order = "fifo") -> MethodOutcome:
    """Each task beside others of its job, else where the fewest GPUs are free."""
    return by_rule(instance, limits, fixed_rng(), "pack", order)


@method(kind="online", reference="(reconstructed)")
def lb(instance: QueueingInstance, limits: Limits, *, order: Order = "fifo") -> MethodOutcome:
    """Each task where the most GPUs are free."""
    return by_rule(instance, limits, fixed_rng(), "lb", order)


@method(kind="online", reference="(reconstructed)")
def lif(instance: QueueingInstance, limits: Limits, *, order: Order = "fifo") -> MethodOutcome:
    """Each task where it adds least interference."""
    return by_rule(instance, limits, fixed_rng(), "lif", order)


@method(kind="online", reference="(reconstructed)")
def random(
    instance: QueueingInstance, limits: Limits, rng: np.random.Generator, *, order: Order = "fifo"
) -> MethodOutcome:
    """Each task on a random server with room."""
    return by_rule(instance, limits, rng, "random", order)


def by_rule(
    instance: QueueingInstance,
    limits: Limits,
    rng: np.random.Generator,
    rule: Rule,
    order: Order,
) -> MethodOutcome:
    """Return the plan of a rule; none if some job is not finished in time."""
    clock = Clock(limits)
    solution = plan(instance, JobQueue(instance, rule, order, rng), clock)
    return MethodOutcome(
        solution=solution,
        limit_hit="time_s" if solution is None and clock.expired else None,
    )
