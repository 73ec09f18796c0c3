"""Instances, solutions and certificates, as files hold them.

Resources and the requests that may come; a randomised seller; a lottery over sequences.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Self

from pydantic import Field, model_validator

from gadgetopt.system.data import (
    Certificate,
    Data,
    Instance,
    NonNegativeInt,
    PositiveInt,
    PositiveRationalSize,
    Probability,
    Rational,
    Solution,
)

from .stocks import Stocks, stocks_of


class RequestType(Data):
    r"""A request that may come, any number of times.

    Attributes
    ----------
    value : Rational
        :math:`v_j`, in money.
    demand : tuple of int
        :math:`d_{jr}`, units of every resource: the bundle.
    duration : int or None
        :math:`\delta_j`: rounds for which it keeps its units, its own included; None for good.
    """

    value: PositiveRationalSize
    demand: tuple[NonNegativeInt, ...]
    duration: PositiveInt | None = None


class AdversarialBundlesInstance(Instance):
    r"""Units of several resources, and the requests that an adversary may bring.

    Attributes
    ----------
    capacity : tuple of int
        :math:`C_r`, units of every resource.
    types : tuple of RequestType
        Numbered from 0.
    horizon : int
        :math:`N`: at most as many requests come; the sequence may stop earlier.
    """

    capacity: Annotated[tuple[PositiveInt, ...], Field(min_length=1)]
    types: Annotated[tuple[RequestType, ...], Field(min_length=1)]
    horizon: PositiveInt

    @model_validator(mode="after")
    def _check(self) -> Self:
        for j, kind in enumerate(self.types):
            if len(kind.demand) != len(self.capacity):
                raise ValueError(
                    f"types[{j}].demand: {len(kind.demand)} entries, expected one for each of "
                    f"{len(self.capacity)} resources"
                )
            if not any(kind.demand):
                raise ValueError(f"types[{j}].demand: nothing, expected a unit of some resource")
            for r, units in enumerate(kind.demand):
                if units > self.capacity[r]:
                    raise ValueError(
                        f"types[{j}].demand[{r}]: {units}, expected at most capacity[{r}], "
                        f"{self.capacity[r]}"
                    )
        return self

    def rounds_held(self, j: int) -> int:
        """Return for how many rounds of the game a request keeps its units, at most N."""
        return min(self.types[j].duration or self.horizon, self.horizon)

    @cached_property
    def stocks(self) -> Stocks:
        """What may be held before every round, and what a sale makes of it."""
        demands = [kind.demand for kind in self.types]
        held = [self.rounds_held(j) for j in range(len(self.types))]
        return stocks_of(self.capacity, demands, held, self.horizon)

    @cached_property
    def prices_alike(self) -> tuple[tuple[int, ...], ...]:
        """Types of one bundle and duration, by value: what one posted price is for."""
        classes: dict[tuple[tuple[int, ...], int], list[int]] = {}
        for j, kind in enumerate(self.types):
            classes.setdefault((kind.demand, self.rounds_held(j)), []).append(j)
        return tuple(
            tuple(sorted(alike, key=lambda j: self.types[j].value)) for alike in classes.values()
        )


class AdversarialBundlesSolution(Solution):
    r"""A randomised seller, by what happens: sales of every history with every stock.

    Attributes
    ----------
    sale_probability : tuple of Rational
        :math:`y(h, s)`: the probability that stock s is held when the last request of history h
        comes, and that it is sold to. Of all histories of 1 to N types, the short ones first, those
        of one length in lexicographic order; for each, of all stocks of its round in the order of
        `instance.stocks`.
    """

    sale_probability: tuple[Probability, ...]


class WeightedSequence(Data):
    """A sequence with which the adversary may come.

    Attributes
    ----------
    types : tuple of int
    weight : Rational
        In any unit.
    """

    types: Annotated[tuple[NonNegativeInt, ...], Field(min_length=1)]
    weight: Rational


class AdversarialBundlesCertificate(Certificate):
    """The adversary's lottery."""

    sequences: Annotated[tuple[WeightedSequence, ...], Field(min_length=1)]


def size(instance: AdversarialBundlesInstance) -> dict[str, int]:
    """Return the numbers that describe the size of an instance."""
    return {
        "resources": len(instance.capacity),
        "types": len(instance.types),
        "horizon": instance.horizon,
    }
