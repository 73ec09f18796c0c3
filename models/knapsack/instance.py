"""Instances and solutions: groups of items with exact profits and weights, at most one of each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticKnownError

from gadgetopt.system.data import (
    Data,
    Instance,
    NonNegativeInt,
    Rational,
    Solution,
)


def _not_negative(value: Fraction) -> Fraction:
    if value < 0:
        raise PydanticKnownError("greater_than_equal", {"ge": 0})
    return value


#: An exact number that is not negative.
Amount = Annotated[Rational, AfterValidator(_not_negative)]


class Item(Data):
    r"""Something that can be packed.

    Attributes
    ----------
    profit : Fraction
        :math:`\pi_c \ge 0`.
    weights : tuple of Fraction
        :math:`a^r_c \ge 0`, one for every row.
    """

    profit: Amount
    weights: tuple[Amount, ...]


Group = Annotated[tuple[Item, ...], Field(min_length=1)]


class KnapsackInstance(Instance):
    """Items in groups, and the capacities of the knapsack's rows.

    Attributes
    ----------
    capacities : tuple of Fraction
        C^r, one for every row.
    groups : tuple of tuple of Item
        With one item in every group it is the multi-dimensional 0/1 knapsack.
    exactly_one : bool
        True if every group must have an item chosen, as in the multiple-choice knapsack of the
        literature; False if it may be left out.
    """

    capacities: Annotated[tuple[Amount, ...], Field(min_length=1)]
    groups: Annotated[tuple[Group, ...], Field(min_length=1)]
    exactly_one: bool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        rows = len(self.capacities)
        for g, items in enumerate(self.groups):
            for c, item in enumerate(items):
                if len(item.weights) != rows:
                    raise ValueError(
                        f"groups[{g}][{c}].weights: {len(item.weights)} weights, "
                        f"expected {rows} as there are capacities"
                    )
        return self

    @cached_property
    def whole(self) -> WholeNumbers:
        """The instance in whole numbers."""
        return WholeNumbers.of(self)

    @property
    def num_items(self) -> int:
        """Number of items in all groups."""
        return sum(map(len, self.groups))

    @property
    def multiple_choice(self) -> bool:
        """True if a group holds several items, or must have one chosen."""
        return self.exactly_one or any(len(items) > 1 for items in self.groups)


@dataclass(frozen=True)
class WholeNumbers:
    """An instance with profits divided by their unit and rows multiplied by their denominators.

    Attributes
    ----------
    unit : Fraction
        The largest number of which every profit, hence every objective, is a multiple.
    row_scales : tuple of int
        What each row was multiplied by.
    capacities : tuple of int
    items : tuple of tuple of (int, tuple of int)
        Profit and weights of the items of each group.
    """

    unit: Fraction
    row_scales: tuple[int, ...]
    capacities: tuple[int, ...]
    items: tuple[tuple[tuple[int, tuple[int, ...]], ...], ...]

    @classmethod
    def of(cls, instance: KnapsackInstance) -> WholeNumbers:
        """Return an instance in whole numbers."""
        every = [item for items in instance.groups for item in items]
        denominator = math.lcm(*{item.profit.denominator for item in every})
        numerator = math.gcd(*(_times(item.profit, denominator) for item in every))
        unit = Fraction(numerator or 1, denominator)
        scales = tuple(
            math.lcm(capacity.denominator, *{item.weights[r].denominator for item in every})
            for r, capacity in enumerate(instance.capacities)
        )
        return cls(
            unit,
            scales,
            tuple(map(_times, instance.capacities, scales)),
            tuple(
                tuple(
                    (
                        _times(item.profit, denominator) // unit.numerator,
                        tuple(map(_times, item.weights, scales)),
                    )
                    for item in items
                )
                for items in instance.groups
            ),
        )


def _times(value: Fraction, multiple: int) -> int:
    """Return a number times a multiple of its denominator."""
    return value.numerator * (multiple // value.denominator)


class KnapsackSolution(Solution):
    """The item chosen of each group.

    Attributes
    ----------
    chosen : tuple of int or None
        Number of the item in its group, from 0; None for a group that is left out.
    """

    chosen: tuple[NonNegativeInt | None, ...]


def size(instance: KnapsackInstance) -> dict[str, int]:
    """Return the counts that say how large an instance is."""
    return {
        "items": instance.num_items,
        "groups": len(instance.groups),
        "rows": len(instance.capacities),
    }
