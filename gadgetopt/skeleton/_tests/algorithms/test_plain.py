"""The fast greedy chooses what the printed one does."""

from __future__ import annotations

from gadgetopt.skeleton.system.algorithms import greedy, plain
from gadgetopt.skeleton.system.instance import (
    SkeletonInstance,
)


def test_the_fast_choice_is_the_printed_one(drawn: list[SkeletonInstance]) -> None:
    assert len(drawn) >= 100
    for instance in drawn:
        assert greedy.greedy(instance).solution == plain.greedy(instance), instance
