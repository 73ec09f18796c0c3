"""Instances and solutions: posted prices and the requests that may come; a sequence of requests."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Annotated, Self

from pydantic import Field, model_validator

from gadgetopt.system.data import (
    Data,
    Instance,
    NonNegativeInt,
    PositiveInt,
    PositiveRationalSize,
    Solution,
)

from ..subproblems.offline import is_unit
from ..subproblems.prices import Payoff, PostedPrices, check_lottery


class RequestType(Data):
    """A request that may come, any number of times.

    Attributes
    ----------
    value : Rational
        What the buyer is willing to pay in all.
    demand : tuple of int
        :math:`d_{jr}`, units of each resource.
    """

    value: PositiveRationalSize
    demand: Annotated[tuple[NonNegativeInt, ...], Field(min_length=1)] = (1,)


class AdversarialOnlineSequenceInstance(Instance):
    """Posted prices against the worst sequence of requests.

    Attributes
    ----------
    capacity : tuple of int
        :math:`C_r`, units of each resource.
    types : tuple of RequestType
        In any order.
    horizon : int
        :math:`N`: at most as many requests come.
    policy : tuple of PostedPrices
        One of these is drawn once; whoever chooses the sequence knows all of them and not the draw.
    payoff : "ratio" or "regret"
        OPT/ALG or OPT - ALG, with the policy's expected welfare as ALG.
    """

    capacity: Annotated[tuple[PositiveInt, ...], Field(min_length=1)]
    types: Annotated[tuple[RequestType, ...], Field(min_length=1)]
    horizon: PositiveInt
    policy: Annotated[tuple[PostedPrices, ...], Field(min_length=1)]
    payoff: Payoff = "ratio"

    @model_validator(mode="after")
    def _check(self) -> Self:
        for j, kind in enumerate(self.types):
            if len(kind.demand) != len(self.capacity):
                raise ValueError(
                    f"types[{j}].demand: of {len(kind.demand)} resources, "
                    f"expected {len(self.capacity)}"
                )
            if not any(kind.demand):
                raise ValueError(f"types[{j}].demand: nothing, expected at least one unit")
            if any(d > c for d, c in zip(kind.demand, self.capacity, strict=True)):
                raise ValueError(
                    f"types[{j}].demand: {list(kind.demand)}, expected at most the capacity, "
                    f"{list(self.capacity)}"
                )
        if len({(kind.value, kind.demand) for kind in self.types}) < len(self.types):
            raise ValueError("types: two are equal, expected every one once")
        check_lottery(self.policy, self.capacity, "policy")
        return self

    @cached_property
    def unit_demand(self) -> bool:
        """True if there is one resource, of which every request demands one unit."""
        return is_unit(self.capacity, [kind.demand for kind in self.types])

    @cached_property
    def levels(self) -> tuple[Fraction, ...]:
        """The values of the types, from the smallest; each once."""
        return tuple(sorted({kind.value for kind in self.types}))

    @cached_property
    def refused(self) -> tuple[int, ...]:
        """Types that all the prices refuse to an empty seller: with one, the ratio is infinite."""
        return tuple(
            j
            for j, kind in enumerate(self.types)
            if all(
                kind.value < sum(d * t[0] for d, t in zip(kind.demand, p.prices, strict=True))
                for p in self.policy
            )
        )


class AdversarialOnlineSequenceSolution(Solution):
    """The types of the requests, in their order, numbered from 0."""

    arrivals: tuple[NonNegativeInt, ...]


def size(instance: AdversarialOnlineSequenceInstance) -> dict[str, int]:
    """Return the numbers that describe the size of an instance."""
    return {
        "types": len(instance.types),
        "horizon": instance.horizon,
        "units": sum(instance.capacity),
        "resources": len(instance.capacity),
        "tables": len(instance.policy),
    }
