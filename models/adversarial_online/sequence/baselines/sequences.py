"""Sequences that a seller would try first: the chain of all levels, and local search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import AdversarialOnlineSequenceInstance, AdversarialOnlineSequenceSolution
from ..subproblems.welfare import Welfare, single_request, unbounded, welfare


def chain(
    instance: AdversarialOnlineSequenceInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Return the worst prefix of the chain: copies of every type, the least value first.

    As many copies as fit offline; of N requests, every type has its share.

    Parameters
    ----------
    instance : AdversarialOnlineSequenceInstance
    limits, rng
        Not used: nothing is searched or drawn.
    """
    if instance.payoff == "ratio" and instance.refused:
        return unbounded(instance)
    order = sorted(range(len(instance.types)), key=lambda j: instance.types[j].value)
    best = single_request(instance)
    arrivals: list[int] = []
    for place, j in enumerate(order):
        demand = instance.types[j].demand
        copies = min(c // d for c, d in zip(instance.capacity, demand, strict=True) if d)
        share = -(-(instance.horizon - len(arrivals)) // (len(order) - place))
        arrivals += [j] * min(copies, share)
        best = _worse(instance, best, welfare(instance, arrivals))
    return _outcome(instance, best)


def local_search(
    instance: AdversarialOnlineSequenceInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    starts: int = 20,
) -> MethodOutcome:
    """Return the worst of several local optima: no change of one request makes them worse.

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
    clock = Clock(limits)
    best = single_request(instance)
    for _ in range(starts):
        length = int(rng.integers(1, instance.horizon + 1))
        drawn = rng.integers(0, len(instance.types), size=length).tolist()
        here = welfare(instance, sorted(drawn, key=lambda j: instance.types[j].value))
        better: Welfare | None = here
        while better is not None:
            here = better
            better = None
            for neighbour in _neighbours(instance, here.arrivals):
                if clock.expired:
                    return _outcome(instance, _worse(instance, best, here), "time_s")
                found = welfare(instance, neighbour)
                if _worse(instance, here, found) is not here:
                    better = found
                    break
        best = _worse(instance, best, here)
    return _outcome(instance, best)


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


def _worse(instance: AdversarialOnlineSequenceInstance, first: Welfare, second: Welfare) -> Welfare:
    """Return the sequence that is worse for the prices; the first if both are alike."""
    payoff = instance.payoff
    return second if second.objective(payoff) > first.objective(payoff) else first


def _outcome(
    instance: AdversarialOnlineSequenceInstance, best: Welfare, limit_hit: str | None = None
) -> MethodOutcome:
    return MethodOutcome(
        solution=AdversarialOnlineSequenceSolution(arrivals=best.arrivals),
        claimed_objective=best.objective(instance.payoff),
        limit_hit=limit_hit,
    )
