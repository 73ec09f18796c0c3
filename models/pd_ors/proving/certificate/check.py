r"""Certificates of bounds on the total utility: prices of every resource, machine and slot.

By weak duality any prices :math:`p_h^r[t] \ge 0` bound the optimum by

.. math::
    D(p) = \sum_{t,h,r} C_h^r p_h^r[t] + \sum_i \max\Big(0, \max_{\pi \in \Pi_i} u_i(\tilde t_\pi -
        a_i) - \sum_{t,h,r} p_h^r[t] (\alpha_i^r w^\pi_{ht} + \beta_i^r s^\pi_{ht})\Big),

with full capacities in :math:`\Pi_i`: a solution of the dual (11). The check computes lower bounds
on the costs of schedules itself (`least_costs.py`, `payoff_bounds.py`). With all prices zero the
bound is what the jobs would earn if each had the cluster to itself. A certificate of a search has a
tree too, with prices at each of its leaves (`price_tree.py`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.exact import check_prices, common_denominator, double_above
from gadgetopt.proofs.files import unpacked
from gadgetopt.search.checked import checked_once
from gadgetopt.system.data import Certificate, NonNegativeInt, Rational

from ...instance import PdOrsInstance
from .payoff_bounds import Integers
from .price_tree import (
    Pricing,
    tree_bound,
)

#: Significant digits of prices in a certificate; any prices prove a bound, if not the same.
#: Tuned: `benchmarks/constants.py`.
DIGITS = 12


class PdOrsCertificate(Certificate):
    """Prices per unit in which the instance states a resource; not negative.

    Attributes
    ----------
    row : tuple of int
        For every machine the number of its row of prices: machines may share one.
    prices : tuple of tuple of tuple of Rational
        By slot, row and resource.
    tree : str or None
        The text of a tree for the same rows (`price_tree.py`), compressed (`gadgetopt.proofs`).
    """

    #: A search's proof leaves out what takes too long to prove.
    may_prove_less: ClassVar[bool] = True

    row: Annotated[tuple[NonNegativeInt, ...], Field(min_length=1)]
    prices: Annotated[tuple[tuple[tuple[Rational, ...], ...], ...], Field(min_length=1)]
    tree: str | None = None


@checked_once
def check_bound(instance: PdOrsInstance, certificate: PdOrsCertificate) -> float:
    """Return D(p), or what the tree proves if that is less, rounded up, without a solver.

    Raises
    ------
    ValueError
        If there are not prices for all slots, machines and resources, one is negative, the tree is
        no proof, or the bound is larger than any double.
    """
    _check_shape(instance, certificate)
    pricing = Pricing(instance, certificate.row)
    total = pricing.bound(*_whole_prices(instance, certificate))
    assert total is not None  # as every job may be rejected
    if certificate.tree is not None:
        try:
            total = min(total, tree_bound(pricing, unpacked(certificate.tree)))
        except ValueError as error:
            raise ValueError(f"tree: {str(error).removeprefix('proof: ')}") from None
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
