"""The first witness: every set of requests, every seed interval, and small random streams."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from gadgetopt.models.adversarial_online.run.instance import AdversarialOnlineRunInstance
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Result
from gadgetopt.trust.run import solve


def values_of(instance: AdversarialOnlineRunInstance) -> list[Fraction]:
    """The rationals that the decimals of the values denote."""
    return [decimal_rational(value) for value in instance.value]


def optimum(instance: AdversarialOnlineRunInstance) -> Fraction:
    """The best welfare of all sets of requests that fit."""
    best, values = Fraction(0), values_of(instance)
    for chosen in itertools.product((0, 1), repeat=len(values)):
        used = [
            sum(z * demand[r] for z, demand in zip(chosen, instance.demands, strict=True))
            for r in range(len(instance.capacity))
        ]
        if all(u <= c for u, c in zip(used, instance.capacity, strict=True)):
            best = max(best, sum((z * v for z, v in zip(chosen, values, strict=True)), Fraction(0)))
    return best


def run(instance: AdversarialOnlineRunInstance, method: str) -> Result:
    name = "adversarial_online_run"
    document = Document(problem=problem(name), kind="instance", name="drawn", data=instance)
    return solve(document, method, Limits(time_s=30))


def small_instance(
    rng: np.random.Generator, *, units_only: bool = False, grid: bool = False
) -> AdversarialOnlineRunInstance:
    """Up to nine requests of one unit, of several units, or of two resources."""
    n = int(rng.integers(1, 10))
    resources = 1 if units_only else int(rng.integers(1, 3))
    capacity = tuple(rng.integers(1, 6, size=resources).tolist())
    if units_only:
        demand = np.ones((n, 1), dtype=int)
    else:
        demand = rng.integers(0, 4, size=(n, resources))
        demand[demand.sum(axis=1) == 0, 0] = 1
    levels = (1, 2, 3, 5, 8)
    unit_value = rng.choice(levels, size=n) if grid else np.round(rng.uniform(1, 8, size=n), 2)
    value = np.round(unit_value * demand.sum(axis=1), 2)
    return AdversarialOnlineRunInstance(
        capacity=capacity,
        value=tuple(map(float, value)),
        demand=() if units_only else tuple(map(tuple, demand.tolist())),
        value_min=1,
        value_max=8,
        levels=levels if grid else (),
    )


@st.composite
def small_instances(draw, *, units_only: bool = False, grid: bool = False):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    return small_instance(rng, units_only=units_only, grid=grid)
