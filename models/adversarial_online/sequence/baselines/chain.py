"""The sequence that a seller would try first: the chain of all levels."""

from __future__ import annotations

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..instance import AdversarialOnlineSequenceInstance
from ..subproblems.welfare import outcome_of, single_request, unbounded, welfare, worse


@method(kind="baseline", reference="standard theory, reconstructed")
def chain(instance: AdversarialOnlineSequenceInstance) -> MethodOutcome:
    """As many copies of each type as fit, the least value first; the worst prefix.

    As many copies as fit offline; of N requests, every type has its share.

    Parameters
    ----------
    instance : AdversarialOnlineSequenceInstance
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
