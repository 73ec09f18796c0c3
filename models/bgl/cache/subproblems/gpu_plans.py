"""Plans of several GPUs from what each holds after each step."""

from __future__ import annotations

from collections.abc import Sequence

from ..gpus import asked, cache_of_each, solution_of_each, steps_of
from ..instance import CacheInstance, CacheSolution, GpuPlan
from .intervals import solution_of_contents


def solution_of_held(
    instance: CacheInstance, order: Sequence[int], held: Sequence[Sequence[set[int]]]
) -> CacheSolution:
    """Return the solution of an order whose GPUs hold given nodes after each step but the last."""
    assert instance.gpus is not None, "there are several GPUs"
    if instance.gpus.caches == "shared":
        plans = [
            GpuPlan(held=tuple(tuple(sorted(of_all[g])) for of_all in held))
            for g in range(instance.gpus.count)
        ]
        return CacheSolution(order=tuple(order), evicted=(), gpus=tuple(plans))
    found: list[CacheSolution | None] = []
    for g, cache in enumerate(cache_of_each(instance, order)):
        if cache is None:
            found.append(None)
            continue
        steps = [p for p, step in enumerate(steps_of(instance, order)) if asked(instance, step)[g]]
        # What a cache holds until it is asked again is what it holds just before.
        contents = [(held[p - 1][g], set[int]()) for p in steps[1:]]
        found.append(solution_of_contents(cache, range(len(cache.requests)), contents))
    return solution_of_each(order, found, None)
