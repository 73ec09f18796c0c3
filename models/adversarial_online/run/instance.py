"""Instances, solutions and certificates, as files hold them.

A stream of requests; which of them are accepted, and for what price; what proves that no seller
earns more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.system.data import (
    Certificate,
    Data,
    Instance,
    NonNegativeInt,
    PositiveInt,
    PositiveProbability,
    PositiveRationalSize,
    PositiveSize,
    Rational,
    Solution,
)

from ..subproblems.offline import is_unit
from ..subproblems.whole import Whole, whole_numbers


class AdversarialOnlineRunInstance(Instance):
    r"""A stream of requests in their order, and what a seller knows before it.

    Attributes
    ----------
    capacity : tuple of int
        :math:`C_r`, units of each resource.
    value : tuple of float
        :math:`v_t`, what the buyer of request t is willing to pay in all; read as decimals.
    demand : tuple of tuple of int
        :math:`d_{tr}`, units of each resource; empty if all demand one unit of a single one.
    value_min, value_max : Rational
        :math:`L \le v_t / \sum_r d_{tr} \le U`: known of every unit.
    levels : tuple of Rational
        The values that a unit may have, from the smallest, if the seller knows them; else empty.
    prices : tuple of tuple of Rational
        The user's own prices, of each resource by units sold; empty without any.
    """

    capacity: Annotated[tuple[PositiveInt, ...], Field(min_length=1)]
    value: Annotated[tuple[PositiveSize, ...], Field(min_length=1)]
    demand: tuple[tuple[NonNegativeInt, ...], ...] = ()
    value_min: PositiveRationalSize
    value_max: PositiveRationalSize
    levels: tuple[PositiveRationalSize, ...] = ()
    prices: tuple[tuple[PositiveRationalSize, ...], ...] = ()

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._check_demand()
        if self.value_max < self.value_min:
            raise ValueError(
                f"value_max: {self.value_max}, expected at least value_min, {self.value_min}"
            )
        low, high = self.value_min, self.value_max
        # Doubles decide all but the close cases.
        floor, ceiling = float(low) * (1 + 1e-9), float(high) * (1 - 1e-9)
        units = [sum(demand) for demand in self.demand] or [1] * len(self.value)
        for t, (value, n) in enumerate(zip(self.value, units, strict=True)):
            if not floor * n <= value <= ceiling * n and not (
                low * n <= decimal_rational(value) <= high * n
            ):
                raise ValueError(
                    f"value[{t}]: {value}, expected {low} to {high} for each of its {n} units"
                )
        self._check_levels()
        lengths = [len(table) for table in self.prices]
        if self.prices and lengths != list(self.capacity):
            raise ValueError(
                f"prices: tables of {lengths} prices, expected one of each unit, "
                f"{list(self.capacity)}"
            )
        return self

    def _check_demand(self) -> None:
        if not self.demand:
            if len(self.capacity) > 1:
                raise ValueError(
                    f"demand: none, expected the units of each of {len(self.capacity)} resources"
                )
            return
        if len(self.demand) != len(self.value):
            raise ValueError(f"demand: of {len(self.demand)} requests, expected {len(self.value)}")
        resources = len(self.capacity)
        for t, demand in enumerate(self.demand):
            if len(demand) != resources or not any(demand):
                raise ValueError(
                    f"demand[{t}]: {list(demand)}, expected units of {resources} resources, "
                    f"at least one unit"
                )

    def _check_levels(self) -> None:
        if list(self.levels) != sorted(set(self.levels)):
            raise ValueError("levels: expected each once, from the smallest")
        if self.levels:
            units = [sum(demand) for demand in self.demand] or [1] * len(self.value)
            known = set(self.levels)
            unknown = {
                (value, n)
                for value, n in set(zip(self.value, units, strict=True))
                if decimal_rational(value) / n not in known
            }
            for t, (value, n) in enumerate(zip(self.value, units, strict=True)):
                if unknown and (value, n) in unknown:
                    raise ValueError(f"value[{t}]: {value} for {n} units, expected one of levels")

    @cached_property
    def unit_demand(self) -> bool:
        """True if there is one resource, of which every request demands one unit."""
        return is_unit(self.capacity, self.demand)

    @cached_property
    def whole_values(self) -> tuple[Whole, int]:
        """The values times their common denominator, as integers, and the denominator."""
        return whole_numbers(self.value)

    @cached_property
    def demands(self) -> tuple[tuple[int, ...], ...]:
        """Units of each resource that every request demands."""
        return self.demand or ((1,),) * len(self.value)

    @cached_property
    def kinds(self) -> tuple[tuple[tuple[int, ...], ...], Ints]:
        """Every demand that occurs, and the number of its demand for each request."""
        if not self.demand:
            return ((1,),), np.zeros(len(self.value), dtype=np.int64)
        # A demand as one number in mixed radix sorts much faster than as a row.
        table = np.asarray(self.demand, dtype=np.int64)
        shape = tuple((table.max(axis=0) + 1).tolist())
        if math.prod(shape) > np.iinfo(np.int64).max:
            rows, kind_of = np.unique(table, axis=0, return_inverse=True)
            return tuple(map(tuple, rows.tolist())), kind_of.reshape(-1)
        codes, kind_of = np.unique(np.ravel_multi_index(table.T, shape), return_inverse=True)
        rows = np.stack(np.unravel_index(codes, shape), axis=1)
        return tuple(map(tuple, rows.tolist())), kind_of

    @property
    def spread(self) -> Fraction:
        r""":math:`\theta = U/L`."""
        return self.value_max / self.value_min


class Play(Data):
    """What happens with some probability: which requests are accepted, for what payments.

    Attributes
    ----------
    accepted : tuple of int
        Requests, from 0, in their order.
    share : tuple of Rational
        Probability with which each of them is accepted, within this play: one seed decides by
        systematic sampling, of one resource and demands of one unit. Empty if all are 1.
    payment : tuple of Rational
        Expected payment of each accepted request. Empty if nothing is said about payments.
    probability : Rational
        Of the play.
    """

    accepted: tuple[NonNegativeInt, ...]
    share: tuple[PositiveProbability, ...] = ()
    payment: tuple[Rational, ...] = ()
    probability: PositiveProbability = Fraction(1)


class AdversarialOnlineRunSolution(Solution):
    """The plays that one draw of a policy decides among; one, if nothing is drawn."""

    plays: Annotated[tuple[Play, ...], Field(min_length=1)]


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


def size(instance: AdversarialOnlineRunInstance) -> dict[str, int]:
    """Return the numbers that describe the size of an instance."""
    return {
        "requests": len(instance.value),
        "resources": len(instance.capacity),
        "units": sum(instance.capacity),
    }
