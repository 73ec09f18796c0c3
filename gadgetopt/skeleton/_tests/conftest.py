"""Brute force, which all else is held against, and small random instances to try it on."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

import gadgetopt
from gadgetopt.skeleton.system import PROBLEM
from gadgetopt.skeleton.system.evaluate import evaluate
from gadgetopt.skeleton.system.instance import (
    SkeletonInstance,
    SkeletonSolution,
)


def _small(seed: int, most_items: int) -> SkeletonInstance:
    """Up to some items; items that do not fit alone, and equal ones, occur."""
    rng = np.random.default_rng(seed)
    items = int(rng.integers(1, most_items + 1))
    weight_kg = rng.integers(1, 12, size=items).tolist()
    return SkeletonInstance(
        capacity_kg=int(rng.integers(0, sum(weight_kg) + 1)),
        weight_kg=tuple(weight_kg),
        value=tuple(rng.integers(1, 12, size=items).tolist()),
    )


@pytest.fixture(scope="session")
def drawn() -> list[SkeletonInstance]:
    """Random instances that brute force solves."""
    return [_small(seed, most_items=7) for seed in range(150)]


def _optimum(instance: SkeletonInstance) -> int:
    items = range(len(instance.weight_kg))
    choices = (c for k in range(len(items) + 1) for c in itertools.combinations(items, k))
    solutions = (SkeletonSolution(chosen=chosen) for chosen in choices)
    found = (evaluate(instance, solution) for solution in solutions)
    return max(int(e.objective or 0) for e in found if e.feasible)


@pytest.fixture(scope="session")
def optimum() -> Callable[[SkeletonInstance], int]:
    """The largest value of all choices that fit."""
    return _optimum


@pytest.fixture(scope="session")
def run() -> Callable[[SkeletonInstance, str], gadgetopt.Result]:
    """What the toolkit makes of a method on an instance."""

    def solved(instance: SkeletonInstance, method: str) -> gadgetopt.Result:
        document = gadgetopt.Document(PROBLEM, "instance", "test", instance)
        return gadgetopt.solve(document, method, time_limit=60)

    return solved
