"""The worst sequence in closed form, for one non-decreasing table and long horizons."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ...instance import (
    AdversarialOnlineSequenceInstance,
    AdversarialOnlineSequenceSolution,
)
from ...subproblems.welfare import (
    Welfare,
    unbounded,
)
from ..certificate import AdversarialOnlineSequenceCertificate

#: Steps of a dynamic program that the check of the value may take: about a second.
#: Tuned: `benchmarks/constants.py`.
MOST_STEPS = 10**6


@method(kind="exact", reference="standard theory, reconstructed", formulation="closed_form")
def closed_form(instance: AdversarialOnlineSequenceInstance) -> MethodOutcome:
    r"""Cheapest sales to every state, then k requests just below the next price.

    Return a worst sequence of one non-decreasing table, if :math:`N \ge 2k`.

    For every number i of units sold: the cheapest requests that buy them, then k requests of the
    largest level below :math:`\varphi_i`, or of the largest level at all once i = k.

    Parameters
    ----------
    instance : AdversarialOnlineSequenceInstance

    Notes
    -----
    O(k log J) amounts. Whatever the sequence, when it leaves i units sold, all that was rejected is
    below :math:`\varphi_i`, so at best the k largest of the sales and k such requests are served
    offline. To lower a sale to the cheapest lowers ALG by as much as OPT at least, which raises
    the ratio, since OPT is no less, and does not lower the regret. So the formula is also an
    upper bound. On small instances the dynamic program checks it.

    Raises
    ------
    ModelRefused
        If the prices are a lottery, fall somewhere, or N < 2k; or demands are not of one unit of
        one resource.
    """
    if not instance.unit_demand:
        raise ModelRefused("types: the formula is for demands of one unit of one resource")
    if len(instance.policy) > 1 or not instance.policy[0].monotone:
        raise ModelRefused("policy: the formula is for one non-decreasing table")
    k = instance.capacity[0]
    if instance.horizon < 2 * k:
        raise ModelRefused(f"horizon: {instance.horizon}, the formula needs at least 2k, {2 * k}")
    if instance.payoff == "ratio" and instance.refused:
        return unbounded(instance)
    best = max(_worst_by_state(instance, k), key=lambda w: w.objective(instance.payoff))
    value = best.objective(instance.payoff)
    checked = 2 * k * (k + 1) ** 2 * len(instance.types) <= MOST_STEPS
    return MethodOutcome(
        solution=AdversarialOnlineSequenceSolution(arrivals=best.arrivals),
        claimed_objective=value,
        dual_bound=value,
        certificate=AdversarialOnlineSequenceCertificate(bound=value) if checked else None,
    )


def _worst_by_state(instance: AdversarialOnlineSequenceInstance, k: int) -> list[Welfare]:
    """Return the worst sequence that leaves i units sold, for every i that is reached."""
    order = sorted(range(len(instance.types)), key=lambda j: instance.types[j].value)
    values = [instance.types[j].value for j in order]
    prices = instance.policy[0].prices[0]
    found = []
    bought: list[int] = []  # cheapest levels, non-decreasing as the prices are
    online = Fraction(0)
    for i in range(k + 1):
        below = len(values) if i == k else bisect_left(values, prices[i])
        if below:
            last = below - 1
            # Of the sales those above the last level are served offline too.
            kept = sum((values[j] for j in bought if j > last), Fraction(0))
            free = k - sum(1 for j in bought if j > last)
            arrivals = [*bought, *([last] * k)]
            found.append(
                Welfare(tuple(order[j] for j in arrivals), online, kept + free * values[last])
            )
        elif i:
            found.append(Welfare(tuple(order[j] for j in bought), online, online))
        if i == k or below == len(values):
            break  # nobody buys any more
        bought.append(below)
        online += values[below]
    return found
