"""The worst sequence by dynamic programming: exact, for any prices and several resources."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ....subproblems.adversary import worst_sequence
from ...instance import (
    AdversarialOnlineSequenceInstance,
    AdversarialOnlineSequenceSolution,
)
from ...subproblems.welfare import unbounded
from ..certificate import automaton_of
from ..writing import certificate_of


@method(kind="exact", reference="this project", formulation="dynamic_program")
def dynamic_program(instance: AdversarialOnlineSequenceInstance, limits: Limits) -> MethodOutcome:
    r"""Dynamic program over units sold and units an offline seller has taken, Dinkelbach.

    Return a worst sequence, with a potential that proves it.

    Dinkelbach's iteration: at a ratio p/q the dynamic program finds the sequence with the largest
    :math:`q\,OPT - p\,ALG`. If that is 0, no sequence has a larger ratio; else the sequence's own
    ratio is the next. All of it is in integers, so the last ratio is the exact optimum. A regret
    takes one dynamic program.

    Parameters
    ----------
    instance : AdversarialOnlineSequenceInstance
    limits : Limits
        `time_s` stops after a request of a dynamic program; the best sequence so far is returned.

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
    with clock.phase("dynamic programs"):
        found = worst_sequence(a, instance.payoff, instance.horizon, lambda: clock.expired)
    assert found.tables is not None, "no type is refused"
    regret = Fraction(found.offline - found.online, a.scale)
    value = regret if instance.payoff == "regret" else Fraction(found.offline, found.online)
    stopped = found.tables.stopped
    return MethodOutcome(
        solution=AdversarialOnlineSequenceSolution(arrivals=found.arrivals),
        claimed_objective=value,
        dual_bound=None if stopped else value,
        certificate=None if stopped else certificate_of(instance, value, found.tables),
        limit_hit="time_s" if stopped else None,
        phases_s=clock.phases_s,
        notes={"ratios tried": found.ratios},
    )
