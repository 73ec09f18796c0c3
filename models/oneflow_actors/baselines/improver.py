r"""The Improver: slots by longest ways, at the least period that memory seems to allow.

OneFlow's compiler had a pass, since removed, that gave register e
:math:`\lceil L_e / \lambda \rceil` slots, with :math:`L_e` the longest way from the start of its
producer to the end of a consumer and :math:`\lambda` the busiest stream's load; and if memory did
not suffice, the least :math:`\lambda` for which it does. That period is a lower bound; slots chosen
so need not attain it. The pass searched :math:`\lambda` by halving, to a tolerance; here it is
exact.
"""

from __future__ import annotations

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..instance import OneflowActorsInstance
from ..subproblems.dispatch import Rule, outcome_of
from ..subproblems.ways import least_period, lifetimes, slots_for


@method(kind="baseline", reference="OneFlow's source: job/improver.cpp, removed since")
def improver(instance: OneflowActorsInstance, *, dispatch: Rule = "fcfs") -> MethodOutcome:
    """Slots by longest ways, at the least period for which memory holds them.

    Raises
    ------
    ModelRefused
        If memories do not hold one slot each.
    """
    return outcome_of(instance, improved_slots(instance), dispatch)


def improved_slots(instance: OneflowActorsInstance) -> list[int]:
    """Return the slots of the Improver."""
    life = lifetimes(instance)
    load = max(
        sum(instance.ticks[a] for a in actors) for actors in instance.actors_of_stream.values()
    )
    return slots_for(instance, life, least_period(instance, life, load).ticks)
