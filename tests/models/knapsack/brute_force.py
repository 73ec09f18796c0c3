"""Brute force over every choice, and small random instances for it."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from gadgetopt.models.knapsack.evaluate import evaluate
from gadgetopt.models.knapsack.instance import Item, KnapsackInstance, KnapsackSolution


def optimum(instance: KnapsackInstance) -> Fraction | None:
    """The largest profit of a feasible choice, None if there is none."""
    best = None
    for choice in itertools.product(*([None, *range(len(g))] for g in instance.groups)):
        evaluation = evaluate(instance, KnapsackSolution(chosen=choice))
        if evaluation.feasible and (best is None or evaluation.objective > best):
            best = evaluation.objective
    return best


def single(profits, rows, capacities) -> KnapsackInstance:
    """A multi-dimensional knapsack, rows of weights as they are printed."""
    columns = zip(profits, zip(*rows, strict=True), strict=True)
    return KnapsackInstance(
        capacities=tuple(capacities),
        groups=tuple((Item(profit=p, weights=tuple(a)),) for p, a in columns),
    )


def small_instance(rng: np.random.Generator, *, single_items: bool = False) -> KnapsackInstance:
    """Up to five groups of up to three items; decimals, zeros and items that do not fit occur."""
    rows = int(rng.integers(1, 4))
    denominator = int(rng.choice([1, 1, 10, 3]))

    def amounts(most: int, count: int) -> tuple[Fraction, ...]:
        return tuple(Fraction(int(x), denominator) for x in rng.integers(0, most + 1, count))

    groups = tuple(
        tuple(
            Item(profit=amounts(20, 1)[0], weights=amounts(9, rows))
            for _ in range(1 if single_items else int(rng.integers(1, 4)))
        )
        for _ in range(int(rng.integers(1, 6)))
    )
    return KnapsackInstance(
        capacities=amounts(25, rows),
        groups=groups,
        exactly_one=not single_items and bool(rng.integers(2)),
    )


@st.composite
def small_instances(draw: st.DrawFn, *, single_items: bool = False) -> KnapsackInstance:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return small_instance(rng, single_items=single_items)
