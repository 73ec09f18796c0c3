"""Orders of fixed batches: a heavy path through their overlaps, and moves that save reloads."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..evaluate import evaluate
from ..formulations.retention import check_one_free_cache
from ..instance import CacheInstance, CacheSolution
from ..subproblems.intervals import intervals_of, solution_of
from ..subproblems.ordering import heavy_paths, improve_order, overlaps, reloads_of
from ..subproblems.replay import Policy, replay
from ..subproblems.sweep import keep_earliest_ends
from .network import is_interval_matrix, keep_by_flow, savings

#: Requests up to which overlaps are computed for all pairs. Tuned: `benchmarks/constants.py`.
_MOST_PAIRED = 3000


@method(kind="heuristic", reference="this project")
def path_order(instance: CacheInstance, limits: Limits) -> MethodOutcome:
    """Batches along a heavy path through their overlaps, then the best retention.

    The nearest neighbour from the best of some ends, improved by 2-opt. No ratio is proved: a path
    looks at neighbours only, while a cache reaches further. Where sizes differ or there is a host,
    LRU replaces the best retention. O(n^2) a pass of 2-opt for n requests.

    Raises
    ------
    ModelRefused
        If the order is given, or there are more than 3000 requests.
    """
    check_one_free_cache(instance)
    order = best_path(instance, Clock(limits))
    return MethodOutcome(solution=retained(instance, order))


@method(kind="heuristic", reference="this project")
def order_moves(
    instance: CacheInstance, limits: Limits, rng: np.random.Generator, *, rounds: int = 2000
) -> MethodOutcome:
    """Heavy paths, then moves and reversals that save reloads.

    Return the best order of a local search from a heavy path.

    A round moves one request or reverses a segment, at random, and keeps what costs no more. It
    ends early where only compulsory misses are left. Orders are compared by the best retention of
    unit caches and equal weights.

    Parameters
    ----------
    instance : CacheInstance
    limits : Limits
    rng : numpy.random.Generator
    rounds : int, default 2000

    Raises
    ------
    ModelRefused
        If the order is given, or there are more than 3000 requests.
    """
    check_one_free_cache(instance)
    search: Search[CacheSolution] = Search("min", limits)

    def offer(order: list[int]) -> None:
        solution = retained(instance, order)
        search.offer(evaluate(instance, solution).objective or 0, solution)

    path = best_path(instance, search.clock)
    offer(path)
    moved(instance, path, rounds, rng, search.clock, offer)
    return search.outcome(search.best)


def best_path(instance: CacheInstance, clock: Clock) -> list[int]:
    """Return the heaviest of some paths through the overlaps."""
    count = len(instance.requests)
    if instance.order == "given":
        raise ModelRefused("order: the instance fixes it; take a formulation of the retention")
    if count > _MOST_PAIRED:
        raise ModelRefused(f"requests: {count} have too many pairs")
    weight = overlaps(instance.requests)
    best, most = list(range(count)), -1
    in_time = takewhile(lambda _: not clock.expired, range(0, count, max(1, count // 8)))
    for path in heavy_paths(weight, in_time):
        total = int(weight[path[:-1], path[1:]].sum())
        if total > most:
            best, most = path, total
    return best


def moved(
    instance: CacheInstance,
    order: list[int],
    rounds: int,
    rng: np.random.Generator,
    clock: Clock,
    told: Callable[[list[int]], None] = lambda _: None,
) -> tuple[list[int], int]:
    """Return an order after random moves, and its misses if all cost the same; tell better ones."""

    def misses(tried: list[int]) -> int:
        batches = instance.batches(tuple(tried))
        first = len({v for batch in batches for v in batch})
        return first + reloads_of(batches, range(len(batches)), instance.capacity)

    return improve_order(order, misses, len(instance.frequency), rounds, rng, clock, told)


def suited(
    instance: CacheInstance,
    order: list[int],
    policy: Policy,
    rounds: int,
    rng: np.random.Generator,
    clock: Clock,
) -> list[int]:
    """Return an order after random moves on which a policy of one unit cache misses less."""

    def misses(tried: list[int]) -> int:
        found = evaluate(instance, replay(instance, tried, policy))
        return int(found.components["misses"])

    return improve_order(order, misses, len(instance.frequency), rounds, rng, clock)[0]


def retained(instance: CacheInstance, order: list[int]) -> CacheSolution:
    """Return the best retention for an order, where it is a flow, and that of LRU elsewhere."""
    if not is_interval_matrix(instance):
        return replay(instance, order, "lru")
    intervals = intervals_of(instance.batches(tuple(order)))
    if instance.unit_weights:
        kept = keep_earliest_ends(intervals, instance.capacity)
    else:
        kept = keep_by_flow(intervals, instance.capacity, savings(instance, intervals))
    return solution_of(instance, order, kept, intervals)
