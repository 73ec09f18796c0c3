"""The prices of resources that prove most: an optimal dual of the linear relaxation of (P)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gadgetopt.search.clock import Clock
from gadgetopt.solvers.persistent import PersistentLp
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...instance import AdversarialOnlineRunCertificate, AdversarialOnlineRunInstance


@method(
    kind="relaxation", reference="standard theory (reconstructed)", formulation="hindsight_prices"
)
def hindsight_prices(instance: AdversarialOnlineRunInstance, limits: Limits) -> MethodOutcome:
    """The prices that prove most: by sorting, or duals of the linear relaxation."""
    clock = Clock(limits)
    with clock.phase("prices"):
        prices = best_prices(instance, clock)
    if prices is None:
        return MethodOutcome(limit_hit="time_s", phases_s=clock.phases_s)
    return MethodOutcome(
        certificate=AdversarialOnlineRunCertificate.of(prices), phases_s=clock.phases_s
    )


def best_prices(instance: AdversarialOnlineRunInstance, clock: Clock) -> list[Fraction] | None:
    """Return optimal prices; None if time runs out.

    Of one resource, the value of a unit of the request with which the units run out, dearest units
    first; of several, the duals of HiGHS.
    """
    if len(instance.capacity) == 1:
        return [_price_of_last(instance)]
    lp = PersistentLp("max")
    demands = np.asarray(instance.demands, dtype=float)
    lp.add_rows([0.0] * len(instance.capacity), list(instance.capacity), [], [], [])
    n = len(instance.value)
    requests, resources = np.nonzero(demands)
    starts = np.searchsorted(requests, np.arange(n))
    lp.add_columns(
        instance.value,
        [0.0] * n,
        [1.0] * n,
        starts,
        resources,
        demands[requests, resources],
    )
    if lp.solve(clock.limits()) is not Status.OPTIMAL:
        return None
    return [Fraction(max(0.0, dual)) for dual in lp.row_duals.tolist()]


def _price_of_last(instance: AdversarialOnlineRunInstance) -> Fraction:
    """Return the value of a unit with which the units run out; 0 if they do not."""
    whole, scale = instance.whole_values
    units = np.array([demand[0] for demand in instance.demands], dtype=np.int64)
    # Exact values of a unit decide the order only where doubles tie; any order proves a bound.
    order = np.argsort(-(whole.astype(float) / units), kind="stable")
    filled = np.cumsum(units[order])
    at = int(np.searchsorted(filled, instance.capacity[0]))
    if at == len(order):
        return Fraction(0)
    last = order[at]
    return Fraction(int(whole[last]), scale * int(units[last]))
