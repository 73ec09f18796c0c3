"""Retention at a fixed order as a minimum-cost flow: units of the cache run along the batches.

An arc leads from each batch to the next, and for each interval one of capacity 1 from its start to
its end, whose cost is what keeping it saves, negative. K units flow from the first batch to the
last.
"""

from __future__ import annotations

import numpy as np
from ortools.graph.python import min_cost_flow

from gadgetopt.errors import ModelRefused, SolverError
from gadgetopt.numbers.arrays import Bools, Ints

from ..instance import CacheInstance
from ..subproblems.intervals import Intervals

#: Largest sum of costs that the flow solver's integers hold with room to spare. By definition.
MOST_COST = 2**50


def is_interval_matrix(instance: CacheInstance) -> bool:
    """Return True if retention is a flow: unit sizes, and one cache."""
    return instance.unit_sizes and instance.host_capacity == 0 and instance.gpus is None


def savings(instance: CacheInstance, intervals: Intervals) -> Ints:
    """Return the cost that keeping each interval saves.

    Raises
    ------
    ModelRefused
        If they have too many digits for a flow in 64-bit integers.
    """
    saved = [instance.miss_cost(v) for v in intervals.node.tolist()]
    if sum(saved) > MOST_COST:
        raise ModelRefused(f"weights: {sum(saved)} together have too many digits")
    return np.array(saved, dtype=np.int64)


def keep_by_flow(intervals: Intervals, capacity: int, saving: Ints) -> Bools:
    """Return which intervals of unit size an optimal flow keeps; savings sum up to `MOST_COST`."""
    count, units = len(intervals.node), min(capacity, len(intervals.node))
    if count == 0 or units == 0:
        return np.zeros(count, dtype=bool)
    network = min_cost_flow.SimpleMinCostFlow()
    line = np.arange(intervals.boundaries)
    network.add_arcs_with_capacity_and_unit_cost(
        np.concatenate([line, intervals.start]),
        np.concatenate([line + 1, intervals.end]),
        np.concatenate([np.full(len(line), units), np.ones(count, dtype=np.int64)]),
        np.concatenate([np.zeros(len(line), dtype=np.int64), -saving]),
    )
    network.set_nodes_supplies(np.array([0, intervals.boundaries]), np.array([units, -units]))
    if network.solve() != network.OPTIMAL:
        raise SolverError("the flow solver found no flow, though the line carries it all")
    flows = network.flows(np.arange(len(line), len(line) + count))
    return np.asarray(flows) > 0


def prices_of_flow(
    intervals: Intervals, capacity: int, saving: Ints, kept: Bools
) -> list[int] | None:
    """Return a price for each boundary that proves the kept intervals optimal.

    They are differences of the shortest distances from the first batch in the residual network
    (Bellman and Ford, all arcs at once); None if these have a negative circle, and the choice is
    not optimal.
    """
    count = intervals.boundaries
    load = np.zeros(count + 1, dtype=np.int64)
    np.add.at(load, intervals.start[kept], 1)
    np.subtract.at(load, intervals.end[kept], 1)
    free = np.flatnonzero(np.cumsum(load)[:count] < capacity)
    line = np.arange(count)
    tail = np.concatenate([line, free + 1, np.where(kept, intervals.end, intervals.start)])
    head = np.concatenate([line + 1, free, np.where(kept, intervals.start, intervals.end)])
    zeros = np.zeros(len(line) + len(free), dtype=np.int64)
    cost = np.concatenate([zeros, np.where(kept, saving, -saving)])
    distance = np.zeros(count + 1, dtype=np.int64)
    for _ in range(count + 2):
        shorter = distance.copy()
        np.minimum.at(shorter, head, distance[tail] + cost)
        if (shorter == distance).all():
            return (distance[:-1] - distance[1:]).tolist()
        distance = shorter
    return None
