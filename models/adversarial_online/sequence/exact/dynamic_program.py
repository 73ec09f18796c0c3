"""The worst sequence by dynamic programming: exact, for any prices and several resources."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome

from ...subproblems.adversary import Worst
from ..certificate import automaton_of, certificate_of, fraction_of
from ..instance import AdversarialOnlineSequenceInstance, AdversarialOnlineSequenceSolution
from ..subproblems.welfare import Welfare, single_request, unbounded, welfare


def dynamic_program(
    instance: AdversarialOnlineSequenceInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    r"""Return a worst sequence, with a potential that proves it.

    Dinkelbach's iteration: at a ratio p/q the dynamic program finds the sequence with the largest
    :math:`q\,OPT - p\,ALG`. If that is 0, no sequence has a larger ratio; else the sequence's own
    ratio is the next. All of it is in integers, so the last ratio is the exact optimum. A regret
    takes one dynamic program.

    Parameters
    ----------
    instance : AdversarialOnlineSequenceInstance
    limits : Limits
        `time_s` stops after a request of a dynamic program; the best sequence so far is returned.
    rng
        Not used: nothing is drawn.

    Notes
    -----
    :math:`O(N (k+1)^2 J)` a ratio for one resource and one table, N being at most 2k; 3 to 5 ratios
    suffice. A lottery or several resources have more states.

    Raises
    ------
    ModelRefused
        If there are too many states.
    """
    if instance.payoff == "ratio" and instance.refused:
        return unbounded(instance)
    clock = Clock(limits)
    with clock.phase("states"):
        a = automaton_of(instance)
    best = single_request(instance)
    rounds = 0
    while True:
        rounds += 1
        p, q = fraction_of(instance, best.objective(instance.payoff))
        with clock.phase("dynamic program"):
            tables = Worst(a, p, q, instance.horizon, lambda: clock.expired)
            found = welfare(instance, tables.sequence())
        if found.objective(instance.payoff) > best.objective(instance.payoff):
            best = found
        elif not tables.stopped:
            break
        if tables.stopped:
            return _outcome(best, instance, clock, rounds, limit_hit="time_s")
        if instance.payoff == "regret":
            break
    bound = best.objective(instance.payoff)
    outcome = _outcome(best, instance, clock, rounds)
    outcome.dual_bound = bound
    outcome.certificate = certificate_of(instance, bound, tables)
    return outcome


def _outcome(
    best: Welfare,
    instance: AdversarialOnlineSequenceInstance,
    clock: Clock,
    rounds: int,
    limit_hit: str | None = None,
) -> MethodOutcome:
    value: Fraction = best.objective(instance.payoff)
    return MethodOutcome(
        solution=AdversarialOnlineSequenceSolution(arrivals=best.arrivals),
        claimed_objective=value,
        limit_hit=limit_hit,
        phases_s=clock.phases_s,
        notes={"ratios tried": rounds},
    )
