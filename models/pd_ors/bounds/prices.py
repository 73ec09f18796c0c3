r"""Upper bounds on the total utility, each proved by prices; the cheapest to compute first.

`alone`: every job has the cluster to itself. `volume_knapsack`: jobs are items that take the least
worker-slots there are in any schedule, and all slots and machines are one knapsack. `price_bound`:
the final prices of PD-ORS times the best scalar. `column_lp`: the linear relaxation of (10) (all
reconstructed). See `certificate.py` for how prices prove a bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.pieces.knapsack.core import cg_core
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.pieces.knapsack.relaxation import linear_relaxation
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..algorithms.pd_ors import pd_ors_run
from ..certificate import certificate_of
from ..instance import PdOrsInstance
from ..least_costs import least_costs
from ..subproblems.infeasibility import jobs_without_utility
from ..subproblems.prices import Upper, price_range
from ..subproblems.slot_methods import SlotOptions
from ..terms import JobTerms
from .column_generation import generate, pricings
from .restricted_master import RestrictedMaster

#: Numbers of workers that PD-ORS tries where the exact program over machines is too large.
GRID = 16


def alone(instance: PdOrsInstance, limits: Limits, rng: np.random.Generator) -> MethodOutcome:
    r"""Return :math:`\sum_i u_i(\lceil W_i / P_i \rceil - 1)`: the bound of prices zero.

    P_i is the most progress of a slot in the empty cluster. The notes give the reason for each job
    that can earn nothing.
    """
    return MethodOutcome(
        certificate=certificate_of(instance, _uniform(instance, 0.0)),
        notes={f"job {i}": reason for i, reason in jobs_without_utility(instance).items()},
    )


def volume_knapsack(
    instance: PdOrsInstance, limits: Limits, rng: np.random.Generator, *, integral: bool = False
) -> MethodOutcome:
    r"""Return the optimum of a knapsack of whole jobs, or of its linear relaxation.

    .. math::
        \max \sum_i \hat u_i x_i, \qquad \sum_i x_i \big(\alpha_i^r N_i + \beta_i^r \lceil N_i /
        \gamma_i \rceil\big) \le T \sum_h C_h^r, \qquad N_i = \lceil W_i / \sigma_i \rceil,

    with :math:`\hat u_i` as in `alone`, and :math:`\sigma_i = 1` where no worker fits on a machine
    with its server. The relaxation's duals are prices that are the same everywhere; their
    certificate proves at least its value.

    Parameters
    ----------
    integral : bool, default False
        True if jobs are not split; the bound is then claimed by the solver.
    """
    jobs = [job for job in instance.terms.jobs if _alone_utility(job) > 0]
    if not jobs:
        return alone(instance, limits, rng)
    weight = np.array(
        [
            job.alpha * (n := job.least_worker_slots) + job.beta * job.least_server_slots(n)
            for job in jobs
        ],
        dtype=np.float64,
    )
    capacity = instance.horizon_slots * instance.terms.capacity.sum(axis=0).astype(np.float64)
    profit = np.array([_alone_utility(job) for job in jobs])
    knapsack = Knapsack(profit, weight, np.arange(len(jobs)), capacity)
    if integral:
        found = cg_core(knapsack, limits, rng)
        return MethodOutcome(
            dual_bound=found.bound, limit_hit=found.limit_hit, notes={"proof": found.proof}
        )
    relaxation = linear_relaxation(knapsack, limits)
    if relaxation.duals is None:
        return MethodOutcome(limit_hit=relaxation.limit_hit or "time_s")
    certificate = certificate_of(instance, _uniform(instance, relaxation.duals))
    return MethodOutcome(certificate=certificate, limit_hit=relaxation.limit_hit)


def _alone_utility(job: JobTerms) -> float:
    return 0.0 if job.earliest is None else float(job.utility[job.earliest])


def _uniform(instance: PdOrsInstance, price: Floats | float) -> Floats:
    shape = (instance.horizon_slots, len(instance.machines), len(instance.resources))
    return np.broadcast_to(price, shape).astype(np.float64)


def price_bound(
    instance: PdOrsInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    upper: Upper = "min",
    log_price_span: float | None = None,
) -> MethodOutcome:
    r"""Return the least of the bounds that the final prices of PD-ORS prove, times any s >= 0.

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


def column_lp(
    instance: PdOrsInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    quanta: int = 200,
    finest: int = 4000,
    warm_start: bool = True,
) -> MethodOutcome:
    """Return the optimum of the linear relaxation of (10), by column generation.

    Parameters
    ----------
    quanta, finest : int
        Parts of a job's work where it is too large to be counted exactly, at first and in the end.
        The check of the certificate does not depend on them.
    warm_start : bool
        True if the first columns are generated at the prices of `price_bound`, not at zero.
    """
    clock = Clock(limits)
    master = RestrictedMaster(instance)
    jobs = pricings(instance)
    start = np.zeros(master.shape)
    if warm_start:
        start = first_prices(instance, clock.limits(), master)
    done = generate(master, jobs, clock.limits(), quanta=(quanta, finest), start=start)
    return MethodOutcome(
        certificate=certificate_of(instance, done.price[:, master.classes.of_machine]),
        limit_hit=done.limit_hit,
        trace=tuple(done.trace),
        notes={
            "columns": len(master.columns),
            "rounds": done.rounds,
            "master": done.value if done.status is Status.OPTIMAL else None,
        },
    )


def first_prices(instance: PdOrsInstance, limits: Limits, master: RestrictedMaster) -> Floats:
    """Return the prices of `price_bound`, averaged over each class; zero if there are none.

    Returns
    -------
    array, shape (slots, classes, resources)
    """
    price = final_prices(instance, limits)
    out = np.zeros(master.shape)
    if price is not None:
        scaled = best_scale(instance, price) * price
        for c in range(len(master.classes.count)):
            out[:, c] = scaled[:, master.classes.of_machine == c].mean(axis=1)
    return out
