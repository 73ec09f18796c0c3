r"""Exponential prices of resources by the part that is promised to jobs.

After PD-ORS, in the form of equation (22) of the OASiS paper. With :math:`\rho_h^r[t]` of the
capacity promised, resource r of machine h costs in slot t

.. math::
    p_h^r[t] = L \left(\frac{U^r}{L}\right)^{\rho_h^r[t] / C_h^r}, \qquad
    U^r = \max_i \frac{u_i(d_i^{min})}{\alpha_i^r + \beta_i^r}, \qquad
    L = \min_i \frac{\frac{1}{2 \mu} u_i(T - a_i)}
                    {\lceil E_i K_i \kappa_i^{ext} \rceil \sum_r (\alpha_i^r + \beta_i^r)},

    \mu = \max_i \frac{T \sum_{h,r} C_h^r}
                      {\lceil E_i K_i \kappa_i^{int} \rceil \sum_r (\alpha_i^r + \beta_i^r)}, \qquad
    d_i^{min} = \lceil E_i K_i \kappa_i^{int} / F_i \rceil - 1

(reconstructed: recalled). As U/L may be beyond e^100, all of it is kept as logarithms; where U^r
is less than L the price is L. Utilities enter however small they are, other than in the objective,
where those below 1e-9 of theta_1 are nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints

from ..terms import JobTerms, Terms

if TYPE_CHECKING:
    from ..instance import PdOrsInstance, PdOrsSolution

Upper = Literal["min", "sum"]
Mode = Literal["internal", "external"]


@dataclass(frozen=True)
class PriceRange:
    """Prices of a resource at no load and at full load, as natural logarithms.

    Attributes
    ----------
    log_upper : tuple of float
        ln U^r, per measure of each resource; minus infinity where there is no demand.
    log_lower : float
        ln L, per measure of any resource.
    log_mu : float or None
        ln mu; None where L does not come from it.
    measure : tuple of float
        The amount of each resource that a price is for: 1 unless resources are normalised.
    """

    log_upper: tuple[float, ...]
    log_lower: float
    log_mu: float | None
    measure: tuple[float, ...]

    @property
    def log_spans(self) -> tuple[float, ...]:
        """ln(U^r / L) of each resource, 0 where U^r is less than L."""
        return tuple(max(0.0, u - self.log_lower) for u in self.log_upper)


def price_range(
    instance: PdOrsInstance,
    *,
    upper: Upper = "min",
    log_price_span: float | None = None,
    normalise_resources: bool = False,
) -> PriceRange:
    r"""Return U^r and L of an instance, of which all jobs are known.

    Parameters
    ----------
    instance : PdOrsInstance
    upper : "min" or "sum", default "min"
        The divisor of u_i in U^r: the lesser positive demand of a worker and a server for the
        resource, as OASiS has it; or the sum, as recalled. Only with "min" does an
        exhausted resource cost every worker and every server as much as any job is worth.
    log_price_span : float, optional
        k of :math:`L = e^{-k} \min_r U^r` instead of L above (reconstructed). With time-critical
        jobs :math:`u_i(T - a_i)` is 1e-20 to 1e-40, and prices next to nothing until a machine is
        almost full.
    normalise_resources : bool, default False
        Measure every resource by its largest capacity, so that sums over resources do not depend on
        units (reconstructed).

    Notes
    -----
    A job of no utility in the last slot would make L = 0: its least positive utility in a slot
    before is taken instead (reconstructed).
    """
    if upper not in {"min", "sum"}:
        raise ValueError(f"upper: {upper!r} is not 'min' or 'sum'")
    terms = instance.terms
    return family_range(
        terms,
        [_less(job) if upper == "min" else job.alpha + job.beta for job in terms.jobs],
        [job.alpha + job.beta for job in terms.jobs],
        terms.capacity,
        fastest="internal",
        part=0.5,
        log_price_span=log_price_span,
        measure=_measures(terms) if normalise_resources else (1.0,) * len(terms.unit),
    )


def _less(job: JobTerms) -> Ints:
    """Return the lesser positive demand of a worker and a server."""
    one = (job.alpha == 0) | (job.beta == 0)
    return np.where(one, job.alpha + job.beta, np.minimum(job.alpha, job.beta))


def family_range(
    terms: Terms,
    least: list[Ints],
    demand: list[Ints],
    capacity: Ints,
    *,
    fastest: Mode,
    part: float,
    log_price_span: float | None = None,
    measure: tuple[float, ...],
) -> PriceRange:
    """Return U^r and L of a family of prices.

    Parameters
    ----------
    terms : Terms
    least : list of array of int, shape (resources,)
        The divisor of every job's utility in U^r; none where 0.
    demand : list of array of int, shape (resources,)
        The demand of every job that is summed over resources in L and mu.
    capacity : array of int, shape (machines, resources)
        Of the machines that these prices are for.
    fastest : "internal" or "external"
        The speed in mu and in the least time of a job.
    part : float
        Of the optimum that the initial prices are to stay below.
    log_price_span, measure
        As in `price_range` and `PriceRange`.
    """
    unit = [float(u) / m for u, m in zip(terms.unit, measure, strict=True)]
    log_upper = [-math.inf] * len(unit)
    for job, amounts in zip(terms.jobs, least, strict=True):
        utility = job.job.utility.log_at(_work_slots(job, fastest, job.batch) - 1)
        for r, amount in enumerate(amounts.tolist()):
            if amount:
                log_upper[r] = max(log_upper[r], utility - math.log(amount * unit[r]))
    if log_price_span is not None:
        lowest = min((x for x in log_upper if math.isfinite(x)), default=0.0)
        return PriceRange(tuple(log_upper), lowest - log_price_span, None, measure)
    totals = [float(amounts @ np.array(unit)) for amounts in demand]
    jobs = [(j, math.log(d)) for j, d in zip(terms.jobs, totals, strict=True) if d > 0]
    volume = terms.horizon * float(capacity.sum(axis=0) @ np.array(unit))
    works = [math.log(_work_slots(job, fastest)) + size for job, size in jobs]
    log_mu = math.log(volume) - min(works) if works and volume else 0.0
    lows = [
        _last_log_utility(job) + math.log(part) - log_mu - math.log(_work_slots(job)) - size
        for job, size in jobs
    ]
    lowest = min((x for x in lows if math.isfinite(x)), default=0.0)
    return PriceRange(tuple(log_upper), lowest, log_mu, measure)


def log_steps(span: Floats, z: Floats) -> Floats:
    """Return ln of k (e^z - 1) / z, which is k at z = 0; minus infinity at k = 0.

    A step z of the logarithm of a price raises it by z (e^z - 1) / z times its value.
    """
    with np.errstate(divide="ignore"):
        log_span = np.log(span)
    # ln (e^z - 1) = z + ln (1 - e^-z), safe for large z.
    safe = np.maximum(z, 1e-12)
    growth = np.where(z > 1e-9, z + np.log(-np.expm1(-safe)) - np.log(safe), z / 2)
    return np.asarray(log_span + growth)


def given_range(instance: PdOrsInstance, upper: float, lower: float) -> PriceRange:
    """Return the range of given U, the same for all resources, and L, per amount of 1."""
    if not 0 < lower <= upper:
        raise ValueError(f"lower, upper: {lower}, {upper}, expected 0 < lower <= upper")
    resources = len(instance.resources)
    return PriceRange((math.log(upper),) * resources, math.log(lower), None, (1.0,) * resources)


def past_range(instance: PdOrsInstance, history: str) -> PriceRange:
    """Return the range of another instance with the same resources, of which a file is given.

    Raises
    ------
    ValueError
        If there is no file, or the resources are others.
    InputError
        If it is no instance.
    """
    from gadgetopt.system.files import read_instance

    from ..instance import PdOrsInstance

    if not history:
        raise ValueError("history: none, expected the file of an instance")
    past = read_instance(Path(history)).data
    if not isinstance(past, PdOrsInstance) or past.resources != instance.resources:
        raise ValueError(f"history: {history} does not have the resources of this instance")
    return price_range(past)


def _measures(terms: Terms) -> tuple[float, ...]:
    """Return the largest capacity of each resource, 1 if that is 0."""
    largest = terms.capacity.max(axis=0).tolist()
    return tuple(float(c * unit) or 1.0 for c, unit in zip(largest, terms.unit, strict=True))


def _work_slots(job: JobTerms, mode: Mode = "external", workers: int = 1) -> int:
    """Return the slots that a number of workers needs, rounded up."""
    kappa = job.kappa_internal if mode == "internal" else job.kappa_external
    return math.ceil(job.job.epochs * job.job.samples * kappa / workers)


def _last_log_utility(job: JobTerms) -> float:
    """Return ln u(T - a), or of the last slot in which there is any utility."""
    latest = job.instance.horizon_slots - job.arrival
    logs = (job.job.utility.log_at(d) for d in range(latest, -1, -1))
    return next((x for x in logs if math.isfinite(x)), -math.inf)


class PriceTable:
    """Promised amounts of every machine in every slot, and the prices of the rest.

    Prices are updated only where an accepted job takes something.

    Attributes
    ----------
    price : array of float, shape (slots, machines, resources)
        Per unit; slot t is at t - 1.
    room : array of int, shape (slots, machines, resources)
        Free capacity, in units.
    alike : array of int, shape (slots,)
        Slots with the same number have the same prices and room.
    """

    def __init__(self, terms: Terms, log_lower: Floats, log_span: Floats):
        self._terms = terms
        self._log_lower, self._log_span = log_lower, log_span
        shape = (terms.horizon, *terms.capacity.shape)
        self.room: Ints = np.broadcast_to(terms.capacity, shape).copy()
        self.price: Floats = np.broadcast_to(np.exp(log_lower), shape).copy()
        self.alike: Ints = np.zeros(terms.horizon, dtype=np.int64)

    @classmethod
    def of_range(cls, terms: Terms, limits: PriceRange) -> PriceTable:
        """Return the table of one pool of machines."""
        log_lower, log_span = logs_per_unit(terms, limits)
        shape = terms.capacity.shape
        return cls(terms, np.broadcast_to(log_lower, shape), np.broadcast_to(log_span, shape))

    def take(self, slots: Ints, machines: Ints, amounts: Ints) -> None:
        """Promise amounts, shape (entries, resources), on machines in slots numbered from 1."""
        at = (slots - 1, machines)
        np.subtract.at(self.room, at, amounts)
        capacity = self._terms.capacity[machines]
        load = 1 - self.room[at] / np.maximum(capacity, 1)
        load[capacity == 0] = 0.0
        self.price[at] = np.exp(self._log_lower[machines] + self._log_span[machines] * load)
        self.alike[slots - 1] = slots

    @property
    def load(self) -> Floats:
        """Part of the capacity that is promised, shape (slots, machines, resources); 0 of none."""
        capacity = self._terms.capacity
        return np.where(capacity > 0, 1 - self.room / np.maximum(capacity, 1), 0.0)

    def per_amount(self) -> Floats:
        """Return the prices per amount of 1 of each resource, as the paper counts."""
        return self.price / np.array([float(u) for u in self._terms.unit])


def logs_per_unit(terms: Terms, limits: PriceRange) -> tuple[Floats, Floats]:
    """Return the logarithms of the least price per unit and of U/L, each of shape (resources,)."""
    unit = np.array([float(u) / m for u, m in zip(terms.unit, limits.measure, strict=True)])
    return limits.log_lower + np.log(unit), np.array(limits.log_spans)


def replay(
    instance: PdOrsInstance, solution: PdOrsSolution, limits: PriceRange
) -> Iterator[tuple[int, PriceTable]]:
    """Yield after each accepted job, in order of arrival, its number and the prices from then on.

    It is one table that changes from step to step.
    """
    terms = instance.terms
    table = PriceTable.of_range(terms, limits)
    for i in by_arrival(instance):
        schedule = solution.schedules[i]
        if schedule is None:
            continue
        entries = [
            (plan.slot, place.machine, place.workers, place.servers)
            for plan in schedule
            for place in plan.placements
        ]
        slots, machines, workers, servers = np.array(entries, dtype=np.int64).reshape(-1, 4).T
        job = terms.jobs[i]
        table.take(slots, machines, workers[:, None] * job.alpha + servers[:, None] * job.beta)
        yield i, table


def by_arrival(instance: PdOrsInstance) -> list[int]:
    """Return the jobs in order of arrival, those of one slot by their number."""
    return sorted(range(len(instance.jobs)), key=lambda i: instance.jobs[i].arrival_slot)
