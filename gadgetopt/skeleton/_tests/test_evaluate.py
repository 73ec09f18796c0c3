"""The evaluator on choices that are checked by hand."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gadgetopt.skeleton.system.evaluate import evaluate
from gadgetopt.skeleton.system.instance import (
    SkeletonInstance,
    SkeletonSolution,
)

#: Items 0 and 2 weigh 3 kg and are worth 9; all three weigh 5 kg.
THREE = SkeletonInstance(capacity_kg=4, weight_kg=(2, 2, 1), value=(5, 3, 4))


def test_a_choice_is_worth_what_its_items_are() -> None:
    found = evaluate(THREE, SkeletonSolution(chosen=(2, 0)))
    assert (found.objective, found.violations) == (9, ())
    assert found.components == {"weight_kg": 3}


@pytest.mark.parametrize(
    ("chosen", "name", "place", "amount"),
    [
        ((0, 1, 2), "capacity", "all items", 1),
        ((0, 3), "unknown_item", "chosen[1]", 1),
        ((1, 1), "repeated_item", "chosen[1]", 1),
    ],
)
def test_what_is_not_allowed_is_named(
    chosen: tuple[int, ...], name: str, place: str, amount: int
) -> None:
    (violation,) = evaluate(THREE, SkeletonSolution(chosen=chosen)).violations
    assert (violation.constraint, violation.where, violation.amount) == (name, place, amount)


def test_every_item_has_a_value() -> None:
    with pytest.raises(ValidationError, match="value: 1 values, expected 2, one an item"):
        SkeletonInstance(capacity_kg=1, weight_kg=(1, 1), value=(1,))
