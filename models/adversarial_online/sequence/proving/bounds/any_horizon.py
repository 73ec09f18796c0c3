"""The bound that holds for every horizon: sequences of any length."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ....subproblems.adversary import worst_sequence
from ...instance import AdversarialOnlineSequenceInstance
from ...subproblems.welfare import unbounded
from ..certificate import automaton_of
from ..writing import certificate_of


@method(kind="relaxation", reference="this project", formulation="any_horizon")
def any_horizon(instance: AdversarialOnlineSequenceInstance, limits: Limits) -> MethodOutcome:
    """The ratio or regret of sequences of any length: the horizon is left out.

    A request that is of use is sold or served offline, so there are at most as many as there are
    units on both sides, and the dynamic program ends. Its certificate is one table, whatever N.

    Parameters
    ----------
    instance : AdversarialOnlineSequenceInstance
    limits : Limits
        `time_s` stops after a request of a dynamic program, without a bound.

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
    found = worst_sequence(a, instance.payoff, longest + 1, lambda: clock.expired)
    assert found.tables is not None, "no type is refused"
    if found.tables.stopped:
        return MethodOutcome(limit_hit="time_s", phases_s=clock.phases_s)
    regret = Fraction(found.offline - found.online, a.scale)
    value = regret if instance.payoff == "regret" else Fraction(found.offline, found.online)
    return MethodOutcome(
        dual_bound=value,
        certificate=certificate_of(instance, value, found.tables),
        phases_s=clock.phases_s,
    )
