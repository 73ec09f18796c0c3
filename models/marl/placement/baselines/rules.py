"""Placement rules on a batch: job after job in an order, every job whole or none."""

from __future__ import annotations

import numpy as np

from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...subproblems.occupancy import Occupancy
from ...subproblems.orders import Order, in_order
from ...subproblems.placers import placer_of
from ...subproblems.rules import Rule
from ..instance import PlacementInstance, PlacementSolution

#: Jobs between two looks at the clock. Tuned: `benchmarks/constants.py`.
_STRIDE = 256


@method(kind="baseline", reference="(reconstructed), after Grandl et al. 2014")
def tetris(instance: PlacementInstance, limits: Limits, *, order: Order = "fifo") -> MethodOutcome:
    """Each task where its demand and the free resources are aligned best."""
    return by_rule(instance, limits, fixed_rng(), "tetris", order)


@method(kind="baseline", reference="(reconstructed)")
def pack(instance: PlacementInstance, limits: Limits, *, order: Order = "fifo") -> MethodOutcome:
    """Each task beside others of its job, else where the fewest GPUs are free."""
    return by_rule(instance, limits, fixed_rng(), "pack", order)


@method(kind="baseline", reference="(reconstructed)")
def lb(instance: PlacementInstance, limits: Limits, *, order: Order = "fifo") -> MethodOutcome:
    """Each task where the most GPUs are free."""
    return by_rule(instance, limits, fixed_rng(), "lb", order)


@method(kind="baseline", reference="(reconstructed)")
def lif(instance: PlacementInstance, limits: Limits, *, order: Order = "fifo") -> MethodOutcome:
    """Each task where it adds least interference."""
    return by_rule(instance, limits, fixed_rng(), "lif", order)


@method(kind="baseline", reference="(reconstructed)")
def random(
    instance: PlacementInstance, limits: Limits, rng: np.random.Generator, *, order: Order = "fifo"
) -> MethodOutcome:
    """Each task on a random server with room."""
    return by_rule(instance, limits, rng, "random", order)


def by_rule(
    instance: PlacementInstance,
    limits: Limits,
    rng: np.random.Generator,
    rule: Rule,
    order: Order,
) -> MethodOutcome:
    """Return the placement of a rule; none if some job finds no room."""
    clock = Clock(limits)
    occupancy, missing = placed_by_rule(instance, clock, rng, rule, order)
    if missing is not None:
        late = clock.expired
        return MethodOutcome(
            limit_hit="time_s" if late else None,
            notes={} if late else {"no room for": f"jobs[{missing}]"},
        )
    return MethodOutcome(solution=PlacementSolution.of(occupancy.servers_of))


def placed_by_rule(
    instance: PlacementInstance,
    clock: Clock,
    rng: np.random.Generator,
    rule: Rule,
    order: Order,
) -> tuple[Occupancy, int | None]:
    """Return the occupancy that a rule makes, and the first job that is not placed, if any."""
    occupancy = Occupancy(instance)
    placer = placer_of(rule, occupancy, rng)
    for turn, j in enumerate(in_order(instance, order)):
        if (turn % _STRIDE == 0 and turn and clock.expired) or not placer.place(j):
            return occupancy, j
    return occupancy, None
