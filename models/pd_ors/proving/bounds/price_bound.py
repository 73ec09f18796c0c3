"""The final prices of PD-ORS as a dual solution, times the best scalar (reconstructed)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...algorithms.pd_ors import pd_ors_run
from ...instance import PdOrsInstance
from ...subproblems.prices import Upper, price_range
from ...subproblems.slot_methods import SlotOptions
from ..certificate.check import certificate_of
from ..certificate.least_costs import least_costs

#: Numbers of workers that PD-ORS tries where the exact program over machines is too large.
#: Tuned: `benchmarks/constants.py`.
GRID = 16


@method(kind="relaxation", reference="D(s) (reconstructed)", formulation="price_bound")
def price_bound(
    instance: PdOrsInstance,
    limits: Limits,
    *,
    upper: Upper = "min",
    log_price_span: float | None = None,
) -> MethodOutcome:
    r"""The final prices of PD-ORS, scaled, as a dual solution.

    Return the least of the bounds that the final prices of PD-ORS prove, times any s >= 0.

    .. math::
        D(s) = \sum_i \max\big\{0, \max_\pi (u_\pi - s \, \text{cost}_p(\pi))\big\}
               + s \sum_{t,h,r} C_h^r p_h^r[t]

    is convex and piecewise linear; the costs of schedules at s = 1 are computed once.

    Parameters
    ----------
    upper : "min" or "sum"
    log_price_span : float, optional
        Of the prices, see `prices.price_range`.
    """
    price = final_prices(instance, limits, upper=upper, log_price_span=log_price_span)
    if price is None:
        return MethodOutcome(limit_hit="time_s")
    scale = best_scale(instance, price)
    return MethodOutcome(
        certificate=certificate_of(instance, scale * price), notes={"scale": scale}
    )


def final_prices(
    instance: PdOrsInstance,
    limits: Limits,
    *,
    upper: Upper = "min",
    log_price_span: float | None = None,
) -> Floats | None:
    """Return the prices at the end of a run of PD-ORS, per unit; None if it was stopped.

    Returns
    -------
    array, shape (slots, machines, resources)
    """
    span = price_range(instance, upper=upper, log_price_span=log_price_span)
    run = pd_ors_run(instance, limits, span, SlotOptions("auto", grid=GRID))
    return None if run.limit_hit else run.table.price


@dataclass(frozen=True)
class _Tangent:
    """A straight line below D that touches it: value at 0, and slope."""

    value: float
    slope: float

    def meets(self, other: _Tangent) -> float:
        """Return the s at which it crosses a line of another slope."""
        return (other.value - self.value) / (self.slope - other.slope)


def best_scale(instance: PdOrsInstance, price: Floats) -> float:
    """Return the s of the least D(s): tangents from both sides close in on it.

    Parameters
    ----------
    price : array, shape (slots, machines, resources)
        Per unit.
    """
    utility = np.array([job.utility for job in instance.terms.jobs])
    cost = np.array(least_costs(instance, price))
    possible = np.isfinite(cost)
    cost = np.where(possible, cost, 0.0)
    utility = np.where(possible, utility, 0.0)
    capital = float((price * instance.terms.capacity).sum())

    def touch(s: float) -> _Tangent:
        payoff = utility - s * cost
        best = payoff.argmax(axis=1)
        rows = np.arange(len(payoff))
        paid = payoff[rows, best] > 0
        chosen = rows[paid], best[paid]
        return _Tangent(float(utility[chosen].sum()), capital - float(cost[chosen].sum()))

    left, s = touch(0.0), 1.0
    if left.slope >= 0:
        return 0.0
    while (right := touch(s)).slope < 0:
        left, s = right, 2 * s
    while True:
        s = left.meets(right)
        new = touch(s)
        met = left.value + left.slope * s
        if new.value + new.slope * s <= met + 1e-12 * abs(met):
            return s
        if new.slope < 0:
            left = new
        else:
            right = new
