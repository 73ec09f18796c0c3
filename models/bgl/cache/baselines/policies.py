"""Online policies and static caches, on an order of the caller's choice."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..instance import CacheInstance
from ..subproblems.ordering import heavy_path, overlaps
from ..subproblems.replay import Policy, replay, static
from ..subproblems.sequences import proximity_order

Order = Literal["given", "random", "path", "proximity"]


@method(kind="baseline", reference="classical")
def fifo(
    instance: CacheInstance,
    rng: np.random.Generator,
    *,
    order: Order = "given",
    sequences: int = 1,
) -> MethodOutcome:
    """First in, first out.

    Return what a first-in, first-out cache does. O(1) for each requested node.

    At most K + 1 times the optimum for given requests of one node, see `guarantees/paging.py`.

    Parameters
    ----------
    instance : CacheInstance
    rng : numpy.random.Generator
        For the orders "random" and "proximity".
    order : "given", "random", "path" or "proximity", default "given"
        That of the file; a uniform shuffle; a heavy path through the overlaps of fixed batches;
        breadth-first sequences of the training nodes.
    sequences : int, default 1
        For the order "proximity".
    """
    return _replayed(instance, rng, "fifo", order, sequences)


@method(kind="baseline", reference="classical")
def lru(
    instance: CacheInstance,
    rng: np.random.Generator,
    *,
    order: Order = "given",
    sequences: int = 1,
) -> MethodOutcome:
    """Least recently used.

    Return what a least-recently-used cache does; parameters and ratio as of `fifo`.
    """
    return _replayed(instance, rng, "lru", order, sequences)


@method(kind="baseline", reference="classical")
def lfu(
    instance: CacheInstance,
    rng: np.random.Generator,
    *,
    order: Order = "given",
    sequences: int = 1,
) -> MethodOutcome:
    """Least frequently used since it was loaded.

    Return what a least-frequently-used cache does; parameters as of `fifo`.
    """
    return _replayed(instance, rng, "lfu", order, sequences)


@method(kind="baseline", reference="PaGraph (recalled)")
def static_degree(instance: CacheInstance) -> MethodOutcome:
    """The nodes of highest degree, loaded first and kept.

    Return PaGraph's cache: the requested nodes of highest degree, loaded before training.

    Raises
    ------
    ModelRefused
        If the instance has no graph.
    """
    if instance.graph is None:
        raise ModelRefused("graph: missing, but degrees are taken from it")
    degree: dict[int, int] = {}
    for edge in instance.graph.edges:
        for v in edge:
            degree[v] = degree.get(v, 0) + 1
    ranked = sorted(instance.frequency, key=lambda v: (-degree.get(v, 0), v))
    return MethodOutcome(solution=static(instance, range(len(instance.requests)), ranked))


@method(kind="baseline", reference="oracle")
def static_frequency(instance: CacheInstance) -> MethodOutcome:
    """The nodes of most uses, known in advance, loaded first and kept.

    Return the static cache of the nodes that most batches need, weighted, for their size.
    """
    order = range(len(instance.requests))
    uses: dict[int, int] = {}
    for batch in instance.batches(tuple(order)):
        for v in batch:
            uses[v] = uses.get(v, 0) + 1
    ranked = sorted(uses, key=lambda v: (-uses[v] * instance.weight(v) / instance.size(v), v))
    return MethodOutcome(solution=static(instance, order, ranked))


def order_of(
    instance: CacheInstance, order: Order, sequences: int, rng: np.random.Generator
) -> list[int]:
    """Return an order of the requests.

    Raises
    ------
    ModelRefused
        If another order than that of the file is wanted and that one is given, or there is no
        graph.
    """
    count = len(instance.requests)
    if order == "given":
        return list(range(count))
    if instance.order == "given":
        raise ModelRefused(f"order: the instance fixes it, so {order!r} cannot be used")
    if order == "random":
        return rng.permutation(count).tolist()
    if order == "path":
        return heavy_path(overlaps(instance.requests), 0)
    return proximity_order(instance, rng, sequences)[0]


def _replayed(
    instance: CacheInstance, rng: np.random.Generator, policy: Policy, order: Order, sequences: int
) -> MethodOutcome:
    return MethodOutcome(
        solution=replay(instance, order_of(instance, order, sequences, rng), policy)
    )
