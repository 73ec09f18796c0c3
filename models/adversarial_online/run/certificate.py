r"""Certificates of upper bounds on the offline welfare, and their check in exact numbers.

* `ResourcePrices`: the dual of the linear relaxation of (P). Any prices :math:`\lambda \ge 0` prove

  .. math:: OPT \le \sum_r C_r \lambda_r + \sum_j \Big(v_j - \sum_r d_{jr} \lambda_r\Big)^+ .

  The prices that a policy posts at the end of its run are such a proof, without a solver.
* `NearPrices`: prices, and a welfare than which the dynamic program over requests of small gain at
  these prices finds nothing better; the check repeats it (`subproblems.core` of the family).
* `Recursion`: the dynamic program over the units used, which the check repeats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from gadgetopt.numbers.exact import ceiling, check_prices, dot
from gadgetopt.system.data import Certificate, Data, Rational

from ..subproblems.core import Core
from ..subproblems.whole import Whole
from .instance import AdversarialOnlineRunInstance

#: Table entries that the dynamic program may compute, and those it may hold.
MOST_STEPS, MOST_CELLS = 10**9, 10**7


#: Bits, eight in each.
Bytes = NDArray[np.uint8]


class TableTooLarge(ValueError):
    """The dynamic program would take too long."""


class ResourcePrices(Data):
    r"""A price :math:`\lambda_r` of a unit of each resource."""

    kind: Literal["prices"] = "prices"
    price: tuple[Rational, ...]


class NearPrices(Data):
    r"""Prices :math:`\lambda_r`, and a welfare that no solution near them exceeds.

    Attributes
    ----------
    price : tuple of Rational
        Of a unit of each resource.
    welfare : Rational
    """

    kind: Literal["near_prices"] = "near_prices"
    price: tuple[Rational, ...]
    welfare: Rational


class Recursion(Data):
    """The dynamic program over the units used."""

    kind: Literal["recursion"] = "recursion"


class AdversarialOnlineRunCertificate(Certificate):
    """A proof of an upper bound on the welfare of any seller, online or offline."""

    proof: Annotated[ResourcePrices | NearPrices | Recursion, Field(discriminator="kind")]

    @classmethod
    def of(cls, prices: Sequence[Fraction]) -> AdversarialOnlineRunCertificate:
        """Return the certificate of some prices."""
        return cls(proof=ResourcePrices(price=tuple(prices)))


def check_bound(
    instance: AdversarialOnlineRunInstance, certificate: AdversarialOnlineRunCertificate
) -> Fraction:
    """Return the upper bound on the welfare that a certificate proves.

    Raises
    ------
    ValueError
        If the prices are not one of each resource and non-negative, or if a dynamic program would
        be too large.
    """
    if isinstance(certificate.proof, Recursion):
        whole, scale = instance.whole_values
        return Fraction(int(best_welfare(instance.capacity, whole, instance.demands)), scale)
    if isinstance(certificate.proof, NearPrices):
        return _near_prices(instance, certificate.proof)
    return price_bound(instance, certificate.proof.price)


def core_at(instance: AdversarialOnlineRunInstance, price: Sequence[Fraction]) -> Core:
    """Return the gains of the requests at prices.

    Raises
    ------
    CoreTooLarge
    """
    whole, scale = instance.whole_values
    return Core(instance.capacity, whole, instance.demands, price, scale)


def _near_prices(instance: AdversarialOnlineRunInstance, proof: NearPrices) -> Fraction:
    """Return the stated welfare, or that of the best solution if it is better."""
    check_prices(proof.price, "price", len(instance.capacity), "resources")
    core = core_at(instance, proof.price)
    found = core.search(core.loss(proof.welfare))
    if not found.complete:
        raise ValueError("welfare: too many requests of small gain to find nothing better")
    return proof.welfare if found.accepted is None else core.welfare(found.loss)


def price_bound(instance: AdversarialOnlineRunInstance, price: Sequence[Fraction]) -> Fraction:
    """Return the bound that prices of the resources prove."""
    check_prices(price, "price", len(instance.capacity), "resources")
    whole, scale = instance.whole_values
    bound = sum((c * x for c, x in zip(instance.capacity, price, strict=True)), Fraction(0))
    demands, kind_of = instance.kinds
    costs = [dot(price, demand) * scale for demand in demands]
    least = np.array([ceiling(cost) for cost in costs], dtype=object)
    if max(least) <= np.iinfo(np.int64).max:
        least = least.astype(np.int64)
    accepted = whole >= least[kind_of]
    total = sum(whole[accepted].tolist())
    of_kind = np.bincount(kind_of[accepted], minlength=len(demands)).tolist()
    return bound + (total - dot(costs, of_kind)) / scale


def best_welfare(
    capacity: Sequence[int],
    values: Whole,
    demands: Sequence[Sequence[int]],
    taken: list[Bytes] | None = None,
) -> int:
    """Return the optimum of (P) by dynamic programming over the units used.

    Parameters
    ----------
    capacity : sequence of int
    values : array of integers, shape (requests,)
    demands : sequence of sequence of int, shape (requests, resources)
    taken : list, optional
        Receives, for every request, in which states it is worth accepting, as bits.

    Raises
    ------
    TableTooLarge
    """
    cells = math.prod(c + 1 for c in capacity)
    if cells > MOST_CELLS or cells * len(values) > MOST_STEPS:
        raise TableTooLarge(
            f"the table has {cells} states for {len(values)} requests, expected at most "
            f"{MOST_CELLS} states and {MOST_STEPS} in all"
        )
    amounts = values.tolist()
    small = sum(amounts) < 2**62
    best = np.zeros([c + 1 for c in capacity], dtype=np.int64 if small else object)
    better = np.zeros(best.shape, dtype=np.bool_)
    for amount, demand in zip(amounts, demands, strict=True):
        before = tuple(slice(0, max(0, c + 1 - d)) for c, d in zip(capacity, demand, strict=True))
        after = tuple(slice(d, None) for d in demand)
        with_it = best[before] + amount
        without = best[after]
        if taken is not None:
            better[...] = False
            np.greater(with_it, without, out=better[after])
            taken.append(np.packbits(better))
        np.maximum(without, with_it, out=without)
    return int(best[tuple(capacity)])
