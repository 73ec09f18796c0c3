"""BGL's partition from several starts, repaired, refined, and the rest placed at the least cost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Ints
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.bgl import bgl_parts
from ..baselines.metis import has_metis, metis_parts
from ..instance import BglPartitionInstance, BglPartitionSolution
from ..subproblems.balance import balanced
from ..subproblems.completion import complete
from ..subproblems.local_search import Weighted, improve


@method(kind="heuristic", reference="this project")
def multi_start(
    instance: BglPartitionInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    starts: int = 10,
) -> MethodOutcome:
    """BGL's partition from several starts, repaired and refined; the best.

    Parameters
    ----------
    instance : BglPartitionInstance
    limits : Limits
        `time_s` ends it after a start, but not before the first.
    rng : numpy.random.Generator
        Draws the sources.
    starts : int, default 10
    """
    if starts < 1:
        raise ModelRefused(f"starts: {starts}, expected at least 1")
    search: Search[Ints] = Search("min", limits)

    def found(part: Ints) -> None:
        search.offer(instance.pair_weights.cut(part), part)

    part = best_start(instance, Weighted.of(instance), starts, search.clock, rng, found=found)
    return search.outcome(BglPartitionSolution.of(part.tolist()))


#: Largest weight of an edge for METIS, whose sums are of 32 bits. Tuned: `benchmarks/constants.py`.
MOST_METIS = 1_000
#: Nodes with weight from which METIS gives a start. Tuned: `benchmarks/constants.py`.
FEWEST_METIS = 500


def metis_start(
    instance: BglPartitionInstance, weighted: Weighted, clock: Clock, rng: np.random.Generator
) -> Ints | None:
    """Return METIS's partition by requests, repaired and refined; None where it is not installed.

    Few nodes do not need it.
    """
    matrix = weighted.matrix
    if not has_metis() or int((np.diff(matrix.indptr) > 0).sum()) < FEWEST_METIS:
        return None
    scaled = np.maximum(1, matrix.data * (MOST_METIS / max(1, int(matrix.data.max())))).astype(int)
    part = metis_parts(matrix.indptr, matrix.indices, scaled, weighted.parts, rng)
    part = balanced(
        part, weighted.trained, weighted.pull(part), instance.node_cap, instance.train_cap
    )
    return improve(weighted, part, clock, rng, memory=False)


def best_start(
    instance: BglPartitionInstance,
    weighted: Weighted,
    starts: int,
    clock: Clock,
    rng: np.random.Generator,
    *,
    memory: bool = True,
    found: Callable[[Ints], None] = lambda _: None,
) -> Ints:
    """Return the cheapest partition of several starts, refined with a short memory or without.

    Each better one is told to `found`.
    """
    best, best_cut = None, 0
    for _ in range(starts):
        part = bgl_parts(instance.graph, weighted.trained, weighted.parts, rng)
        part = balanced(
            part, weighted.trained, weighted.pull(part), instance.node_cap, instance.train_cap
        )
        part = improve(weighted, part, clock, rng, memory=memory)
        if instance.weights == "requests":
            kept = {v: int(part[v]) for v in instance.train_nodes}
            placed = complete(instance, kept)
            if placed is not None and weighted.cut(placed) < weighted.cut(part):
                part = placed
        cut = weighted.cut(part)
        if best is None or cut < best_cut:
            best, best_cut = part, cut
            found(part)
        if clock.expired:
            break
    assert best is not None, "there is a first start"
    return best
