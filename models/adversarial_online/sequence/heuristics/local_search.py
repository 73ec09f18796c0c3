"""Local search: one request of a sequence is changed, added or dropped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import AdversarialOnlineSequenceInstance, AdversarialOnlineSequenceSolution
from ..subproblems.welfare import Welfare, single_request, unbounded, welfare, worse


@method(kind="heuristic", reference="this project")
def local_search(
    instance: AdversarialOnlineSequenceInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    starts: int = 20,
) -> MethodOutcome:
    """Changes, adds or drops one request while that makes the sequence worse.

    Return the worst of several local optima: no change of one request makes them worse.

    Parameters
    ----------
    instance : AdversarialOnlineSequenceInstance
    limits : Limits
        `time_s` stops between two sequences.
    rng : numpy.random.Generator
    starts : int, default 20
        Random sequences to start from.

    Raises
    ------
    ModelRefused
        If there is no start.
    """
    if starts < 1:
        raise ModelRefused(f"starts: {starts}, expected at least 1")
    if instance.payoff == "ratio" and instance.refused:
        return unbounded(instance)
    search: Search[Welfare] = Search("max", limits)
    best = single_request(instance)
    search.offer(best.objective(instance.payoff), best)
    for _ in range(starts):
        if search.clock.expired:
            break
        length = int(rng.integers(1, instance.horizon + 1))
        drawn = rng.integers(0, len(instance.types), size=length).tolist()
        here = welfare(instance, sorted(drawn, key=lambda j: instance.types[j].value))
        better: Welfare | None = here
        while better is not None:
            here = better
            better = None
            for neighbour in _neighbours(instance, here.arrivals):
                if search.clock.expired:
                    break
                found = welfare(instance, neighbour)
                if worse(instance, here, found) is not here:
                    better = found
                    break
        if search.offer(here.objective(instance.payoff), here):
            best = here
    return search.outcome(AdversarialOnlineSequenceSolution(arrivals=best.arrivals))


def _neighbours(
    instance: AdversarialOnlineSequenceInstance, arrivals: Sequence[int]
) -> Iterator[list[int]]:
    """Yield the sequences that differ in one request."""
    kinds = range(len(instance.types))
    for t in range(len(arrivals)):
        if len(arrivals) > 1:
            yield [*arrivals[:t], *arrivals[t + 1 :]]
        for j in kinds:
            if j != arrivals[t]:
                yield [*arrivals[:t], j, *arrivals[t + 1 :]]
    if len(arrivals) < instance.horizon:
        for t in range(len(arrivals) + 1):
            for j in kinds:
                yield [*arrivals[:t], j, *arrivals[t:]]
