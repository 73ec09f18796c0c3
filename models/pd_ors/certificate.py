r"""Certificates of bounds on the total utility: prices of every resource, machine and slot.

By weak duality any prices :math:`p_h^r[t] \ge 0` bound the optimum by

.. math::
    D(p) = \sum_{t,h,r} C_h^r p_h^r[t] + \sum_i \max\Big(0, \max_{\pi \in \Pi_i} u_i(\tilde t_\pi -
        a_i) - \sum_{t,h,r} p_h^r[t] (\alpha_i^r w^\pi_{ht} + \beta_i^r s^\pi_{ht})\Big),

with full capacities in :math:`\Pi_i` (11). The check finds by itself what schedules cost at least
(`least_costs.py`), and rounds each sum in the direction that leaves more. With all prices zero
the bound is what the jobs would earn if each had the cluster to itself.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import Field

from gadgetopt.data import Certificate, NonNegativeInt, Rational

from .instance import PdOrsInstance
from .least_costs import least_costs

Floats = npt.NDArray[np.float64]

#: More than the relative error of a few thousand operations on positive doubles, and of exp.
ROUNDING = 2.0**-40

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
        If there are not prices for all slots, machines and resources, or one is negative.
    """
    price = _unit_prices(instance, certificate)
    capacity = instance.terms.capacity.astype(np.float64)
    cluster = math.fsum((price * capacity).ravel().tolist())
    gains = (
        gain_above(job.utility, cost)
        for job, cost in zip(instance.terms.jobs, least_costs(instance, price), strict=True)
    )
    return math.fsum([cluster, *gains]) * (1 + ROUNDING)


def gain_above(utility: Floats, cost: Floats) -> float:
    """Return the most that a utility leaves after paying, rounded up; at least 0."""
    # Beyond the last slot of any utility costs are infinite, hence nothing is left.
    return max(0.0, float((utility * (1 + ROUNDING) - cost * (1 - ROUNDING)).max()))


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


def _unit_prices(instance: PdOrsInstance, certificate: PdOrsCertificate) -> Floats:
    """Return prices per unit of `Terms.unit`, shape (slots, machines, resources)."""
    machines, resources = len(instance.machines), len(instance.resources)
    if len(certificate.prices) != instance.horizon_slots:
        raise ValueError(
            f"prices: of {len(certificate.prices)} slots, expected {instance.horizon_slots}"
        )
    if len(certificate.row) != machines:
        raise ValueError(f"row: {len(certificate.row)} numbers for {machines} machines")
    rows = max(certificate.row) + 1
    unit = instance.terms.unit
    table = np.zeros((instance.horizon_slots, rows, resources))
    for t, of_slot in enumerate(certificate.prices):
        if len(of_slot) != rows:
            raise ValueError(f"prices[{t}]: {len(of_slot)} rows, expected {rows}")
        for k, of_row in enumerate(of_slot):
            if len(of_row) != resources:
                raise ValueError(f"prices[{t}][{k}]: {len(of_row)} for {resources} resources")
            if any(x < 0 for x in of_row):
                raise ValueError(f"prices[{t}][{k}]: {min(of_row)} is negative")
            table[t, k] = [float(x * u) for x, u in zip(of_row, unit, strict=True)]
    return table[:, certificate.row]
