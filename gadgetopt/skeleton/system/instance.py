"""Instances and solutions: items with weights and values, and those that are chosen."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from gadgetopt.system.data import Instance, NonNegativeInt, PositiveInt, Solution


class SkeletonInstance(Instance):
    """Items with weights and values, and the weight that can be carried.

    Attributes
    ----------
    capacity_kg : int
        C.
    weight_kg : tuple of int
        w_i of every item i.
    value : tuple of int
        v_i.
    """

    capacity_kg: NonNegativeInt
    weight_kg: Annotated[tuple[PositiveInt, ...], Field(min_length=1)]
    value: tuple[PositiveInt, ...]

    @model_validator(mode="after")
    def _check(self) -> Self:
        items = len(self.weight_kg)
        if len(self.value) != items:
            raise ValueError(f"value: {len(self.value)} values, expected {items}, one an item")
        return self


class SkeletonSolution(Solution):
    """The numbers of the items chosen, from 0. A solution never holds its objective."""

    chosen: tuple[NonNegativeInt, ...]


def size(instance: SkeletonInstance) -> dict[str, int]:
    """Return the numbers by which one judges an instance."""
    return {"items": len(instance.weight_kg)}
