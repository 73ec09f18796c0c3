"""The bound that holds for every horizon: sequences of any length."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome

from ...subproblems.adversary import Worst
from ..certificate import automaton_of, certificate_of, fraction_of
from ..instance import AdversarialOnlineSequenceInstance
from ..subproblems.welfare import single_request, unbounded, welfare


def any_horizon(
    instance: AdversarialOnlineSequenceInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Return the worst ratio or regret over sequences of any length, which is an upper bound.

    A request that is of use is sold or served offline, so there are at most as many as there are
    units on both sides, and the dynamic program ends. Its certificate is one table, whatever N.

    Parameters
    ----------
    instance : AdversarialOnlineSequenceInstance
    limits : Limits
        `time_s` stops after a request of a dynamic program, without a bound.
    rng
        Not used: nothing is drawn.

    Raises
    ------
    ModelRefused
        If there are too many states.
    """
    if instance.payoff == "ratio" and instance.refused:
        return unbounded(instance)
    clock = Clock(limits)
    a = automaton_of(instance)
    # Every table sells each unit at most once, and so does the offline seller.
    longest = sum(instance.capacity) * (len(instance.policy) + 1)
    value: Fraction = single_request(instance).objective(instance.payoff)
    while True:
        p, q = fraction_of(instance, value)
        tables = Worst(a, p, q, longest + 1, lambda: clock.expired)
        if tables.stopped:
            return MethodOutcome(limit_hit="time_s", phases_s=clock.phases_s)
        found = welfare(instance, tables.sequence()).objective(instance.payoff)
        again = found > value
        value = max(value, found)
        if instance.payoff == "regret" or not again:
            break
    return MethodOutcome(dual_bound=value, certificate=certificate_of(instance, value, tables))
