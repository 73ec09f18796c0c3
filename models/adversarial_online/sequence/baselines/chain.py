"""The sequence that a seller would try first: the chain of all levels."""

from __future__ import annotations

import numpy as np

from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import AdversarialOnlineSequenceInstance
from ..subproblems.welfare import outcome_of, single_request, unbounded, welfare, worse


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
        best = worse(instance, best, welfare(instance, arrivals))
    return outcome_of(instance, best)
