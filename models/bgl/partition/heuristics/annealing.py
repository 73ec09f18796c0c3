"""Simulated annealing from BGL's partition, repaired, and the rest placed at the least cost."""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.compiled import slow_note
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import BglPartitionInstance, BglPartitionSolution
from ..subproblems.completion import complete
from ..subproblems.local_search import Weighted, improve
from .multi_start import best_start
from .proposals import anneal


@method(kind="heuristic", reference="this project")
def annealing(
    instance: BglPartitionInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    sweeps: int = 16_000,
) -> MethodOutcome:
    """BGL's partition, annealed with overfull parts charged, and repaired.

    Parameters
    ----------
    instance : BglPartitionInstance
    limits : Limits
        `time_s` ends it between two temperatures.
    rng : numpy.random.Generator
        Draws the sources of the fronts, and the proposals.
    sweeps : int, default 16,000
        Proposals for each node with weight; fewer where there are few nodes.
    """
    search: Search[Ints] = Search("min", limits)
    weighted = Weighted.of(instance)
    start = best_start(instance, weighted, 1, search.clock, rng, memory=False)
    search.offer(instance.pair_weights.cut(start), start)
    part = annealed(instance, weighted, start, sweeps, search.clock, rng)
    search.offer(instance.pair_weights.cut(part), part)
    return search.outcome(BglPartitionSolution.of(part.tolist()), **slow_note())


def annealed(
    instance: BglPartitionInstance,
    weighted: Weighted,
    start: Ints,
    sweeps: int,
    clock: Clock,
    rng: np.random.Generator,
) -> Ints:
    """Return the best of a partition and what annealing and refinement make of it."""
    part = improve(weighted, anneal(weighted, start, sweeps, clock, rng), clock, rng, memory=False)
    found = [start, part]
    if instance.weights == "requests":
        placed = complete(instance, {v: int(part[v]) for v in instance.train_nodes})
        found += [placed] if placed is not None else []
    return min(found, key=weighted.cut)
