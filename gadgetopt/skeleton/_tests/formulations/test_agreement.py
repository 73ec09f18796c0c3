"""All exact routes find the optimum, and relaxations and heuristics are on their side of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import gadgetopt
from gadgetopt.skeleton.system.instance import (
    SkeletonInstance,
)

Optimum = Callable[[SkeletonInstance], int]
Run = Callable[[SkeletonInstance, str], gadgetopt.Result]


@pytest.mark.parametrize("method", ["binary@highs", "binary@cpsat", "branch_and_bound"])
def test_every_exact_route_agrees_with_brute_force(
    method: str, drawn: list[SkeletonInstance], optimum: Optimum, run: Run
) -> None:
    for instance in drawn[:40]:
        found = run(instance, method)
        assert found.status == "optimal", (instance, found.reason)
        assert found.objective == found.bound == optimum(instance), instance


def test_a_heuristic_is_never_better_than_the_optimum_nor_a_bound_worse(
    drawn: list[SkeletonInstance], optimum: Optimum, run: Run
) -> None:
    for instance in drawn[:40]:
        best = optimum(instance)
        for method in ("greedy", "by_value"):
            value = run(instance, method).objective
            assert value is not None
            assert value <= best
        for method in ("price", "binary_lp@highs"):
            bound = run(instance, method).bound
            assert bound is not None
            assert bound >= best
