r"""Certificates of bounds on the total utility: prices of every resource, machine and slot.

By weak duality any prices :math:`p_h^r[t] \ge 0` bound the optimum by

.. math::
    D(p) = \sum_{t,h,r} C_h^r p_h^r[t] + \sum_i \max\Big(0, \max_{\pi \in \Pi_i} u_i(\tilde t_\pi -
        a_i) - \sum_{t,h,r} p_h^r[t] (\alpha_i^r w^\pi_{ht} + \beta_i^r s^\pi_{ht})\Big),

with full capacities in :math:`\Pi_i`: a solution of the dual (11). The check computes lower bounds
on the costs of schedules itself (`least_costs.py`). It computes in exact numbers: for each job
utilities and costs are counted in a small part of its largest utility, utilities rounded up and
costs of a worker and of a server rounded down. With all prices zero the bound is what the jobs
would earn if each had the cluster to itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import Field

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.exact import (
    ROUNDING,
    ceiling,
    check_prices,
    common_denominator,
    double_above,
    rationals,
)
from gadgetopt.pieces.utility import sigmoid_above
from gadgetopt.system.data import Certificate, NonNegativeInt, Rational

from .instance import PdOrsInstance, TableUtility
from .least_costs import job_costs
from .terms import JobTerms

#: Integers of any size: dtype object.
Integers = npt.NDArray[np.object_]

#: Binary digits of the most that a job's workers and servers cost in one slot.
COST_BITS = 60

#: Utilities below this part of a job's largest one are not searched slot by slot.
FAINT = Fraction(1, 2**50)

#: Significant digits of prices in a certificate; any prices prove a bound, if not the same.
DIGITS = 12


class PdOrsCertificate(Certificate):
    """Prices per unit in which the instance states a resource; not negative.

    Attributes
    ----------
    row : tuple of int
        For every machine the number of its row of prices: machines may share one.
    prices : tuple of tuple of tuple of Rational
        By slot, row and resource.
    """

    row: Annotated[tuple[NonNegativeInt, ...], Field(min_length=1)]
    prices: Annotated[tuple[tuple[tuple[Rational, ...], ...], ...], Field(min_length=1)]


def check_bound(instance: PdOrsInstance, certificate: PdOrsCertificate) -> float:
    """Return D(p), rounded up, without a solver.

    Raises
    ------
    ValueError
        If there are not prices for all slots, machines and resources, one is negative, or the bound
        is larger than any double.
    """
    _check_shape(instance, certificate)
    price, denominator = _whole_prices(instance, certificate)
    total = Fraction(_worth(instance, certificate.row, price), denominator)
    for job in instance.terms.jobs:
        total += _gain(job, price, certificate.row, denominator)
    return double_above(total)


def _check_shape(instance: PdOrsInstance, certificate: PdOrsCertificate) -> None:
    """Refuse prices whose shape is not that of the instance."""
    if len(certificate.prices) != instance.horizon_slots:
        raise ValueError(
            f"prices: of {len(certificate.prices)} slots, expected {instance.horizon_slots}"
        )
    if len(certificate.row) != len(instance.machines):
        raise ValueError(
            f"row: {len(certificate.row)} numbers for {len(instance.machines)} machines"
        )
    rows = max(certificate.row) + 1
    for t, of_slot in enumerate(certificate.prices):
        if len(of_slot) != rows:
            raise ValueError(f"prices[{t}]: {len(of_slot)} rows, expected {rows}")
        for k, of_row in enumerate(of_slot):
            check_prices(of_row, f"prices[{t}][{k}]", len(instance.resources), "resources")


def _whole_prices(instance: PdOrsInstance, certificate: PdOrsCertificate) -> tuple[Integers, int]:
    """Return prices per unit of `Terms.unit` as integers, by slot, row and resource.

    The second value is their common denominator.
    """
    unit = instance.terms.unit
    each = {x for of_slot in certificate.prices for of_row in of_slot for x in of_row}
    denominator = common_denominator(each) * common_denominator(unit)
    table = [
        [
            [(x * u * denominator).numerator for x, u in zip(of_row, unit, strict=True)]
            for of_row in of_slot
        ]
        for of_slot in certificate.prices
    ]
    return np.array(table, dtype=object), denominator


def _worth(instance: PdOrsInstance, row: Sequence[int], price: Integers) -> int:
    """Return the cost of all machines in all slots."""
    capacity = np.zeros(price.shape[1:], dtype=object)
    np.add.at(capacity, list(row), instance.terms.capacity.astype(object))
    return int((price * capacity).sum())


def _gain(job: JobTerms, price: Integers, row: Sequence[int], denominator: int) -> Fraction:
    """Return an upper bound on the payoff of a job; at least 0."""
    horizon = len(price)
    if job.earliest is None:
        return Fraction(0)
    worth = _utilities_above(job, horizon)
    most = max(worth.values())
    if most == 0:
        return Fraction(0)
    last = max(t for t, u in worth.items() if u > FAINT * most)
    faint = max((u for t, u in worth.items() if t > last), default=Fraction(0))
    # So many parts that what a whole batch costs stays in 64 bits. A worker that costs more than
    # the largest utility never pays.
    parts = 1 << (COST_BITS - (2 * job.batch).bit_length())
    scale = parts / (most * denominator)

    def each(demand: Integers) -> Ints:
        cost = (price @ demand) * scale.numerator // scale.denominator
        return np.asarray(np.minimum(cost, parts + 1), dtype=np.int64)[:, row]

    cost = job_costs(job, each(job.alpha.astype(object)), each(job.beta.astype(object)), last)
    gains = (ceiling(u * parts / most) - int(cost[t]) for t, u in worth.items() if t <= last)
    return max(Fraction(max(0, *gains)) * most / parts, faint)


def _utilities_above(job: JobTerms, horizon: int) -> dict[int, Fraction]:
    """Return upper bounds on the utility of completing in each slot from the earliest on."""
    assert job.earliest is not None
    u = job.job.utility
    late = range(job.earliest - job.arrival, horizon - job.arrival + 1)
    if isinstance(u, TableUtility):
        values = rationals(u.values)
        above = [values[d] if d < len(values) else Fraction(0) for d in late]
    else:
        height, steepness, middle = rationals((u.theta1, u.theta2, u.theta3))
        above = []
        for d in late:
            above.append(sigmoid_above(height, steepness, Fraction(d), middle))
            if above[-1] <= FAINT * above[0]:
                break  # those after it are no larger
    return {job.arrival + d: x * (1 + ROUNDING) for d, x in zip(late, above, strict=False)}


def certificate_of(instance: PdOrsInstance, price: Floats) -> PdOrsCertificate:
    """Return the certificate that prices make, rounded to a few digits; negative ones are 0.

    Parameters
    ----------
    price : array, shape (slots, machines, resources)
        Per unit of `Terms.unit`.
    """
    terms = instance.terms
    unit = np.array([float(u) for u in terms.unit])
    per_amount = np.maximum(price, 0.0) / unit
    rows, row = np.unique(per_amount.transpose(1, 0, 2), axis=0, return_inverse=True)
    exact: dict[float, Fraction] = {}
    for x in np.unique(rows).tolist():
        exact[x] = Fraction(f"{x:.{DIGITS}g}")
    return PdOrsCertificate(
        row=tuple(row.ravel().tolist()),
        prices=tuple(
            tuple(tuple(exact[x] for x in of_row) for of_row in of_slot)
            for of_slot in rows.transpose(1, 0, 2).tolist()
        ),
    )
