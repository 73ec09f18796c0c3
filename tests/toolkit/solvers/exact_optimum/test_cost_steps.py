"""Objectives whose small costs doubles lose beside the large ones are not called optimal for it.

Every backend either has the optimum confirmed in integers, or calls its point feasible.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from random import Random

import pyomo.environ as pyo
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.solvers import solve_model
from gadgetopt.solvers.exact_optimum.cost_steps import size_beyond_doubles
from gadgetopt.solvers.formulations.backends import installed
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.result import Limits, Status

BACKENDS = ("highs", "scip", "cpsat", "cbc", "glpk")
SIDES = range(5)


def drawn(seed: int, digits: int) -> tuple[pyo.ConcreteModel, Fraction | int]:
    """Return a model with costs of one digit and of many, and its optimum by enumeration."""
    rng = Random(f"{seed} {digits}")
    n = rng.randint(2, 4)
    large = 10**digits
    whole = [rng.choice([-1, 1]) * (rng.randint(1, 9) * large + rng.randint(0, 9))]
    whole += [rng.choice([large, 1, 1]) * rng.randint(-9, 9) for _ in range(n - 1)]
    if rng.random() < 0.5:  # nearly multiples of each other, with no small cost among them
        whole = [rng.randint(1, 2) * large + rng.randint(-9, 9) for _ in range(n)]
    point = [rng.choice(SIDES) for _ in range(n)]
    rows = [[rng.randint(-3, 5) for _ in range(n)] for _ in range(rng.randint(1, 2))]
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(n), domain=pyo.Integers, bounds=(SIDES[0], SIDES[-1]))
    model.rows = pyo.ConstraintList()
    for row in rows:
        if any(row):
            model.rows.add(
                pyo.quicksum(a * model.x[j] for j, a in enumerate(row)) >= dot(row, point)
            )
    model.cost = pyo.Objective(expr=pyo.quicksum(a * model.x[j] for j, a in enumerate(whole)))
    feasible = (
        x
        for x in itertools.product(SIDES, repeat=n)
        if all(dot(row, x) >= dot(row, point) for row in rows)
    )
    return model, min(dot(whole, x) for x in feasible)


def dot(a, x):
    return sum(i * j for i, j in zip(a, x, strict=True))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("digits", [2, 10, 14, 18, 24])
def test_small_costs_beside_large_ones_are_not_lost(backend, digits):
    if not installed(backend):
        pytest.skip(f"{backend} is not installed")
    for seed in range(4):
        model, optimum = drawn(seed, digits)
        try:
            outcome = solve_model(model, backend, Limits(time_s=20))
        except ModelRefused:
            assert backend == "cpsat"
            assert digits >= 18
            continue
        where = (seed, outcome, optimum)
        assert outcome.objective >= optimum, where
        assert outcome.bound <= optimum or outcome.bound == float(optimum), where
        if outcome.status is Status.OPTIMAL:
            assert outcome.objective == optimum, where
        else:
            assert outcome.status is Status.FEASIBLE, where
            assert digits > 2, where
            assert "too far apart" in outcome.reason, where


@pytest.mark.parametrize("backend", [name for name in BACKENDS if name != "cpsat"])
def test_an_optimum_that_nobody_confirms_is_feasible_with_a_weaker_bound(backend):
    # 27350538557483258 * 10^10 takes all digits of a double: what y costs is lost.
    if not installed(backend):
        pytest.skip(f"{backend} is not installed")
    model = pyo.ConcreteModel()
    model.x = pyo.Var(domain=pyo.Integers, bounds=(-3, -2))
    model.y = pyo.Var(domain=pyo.Integers, bounds=(-1, 1))
    model.cost = pyo.Objective(expr=-273505385574832583019068213 * model.x + model.y)
    outcome = solve_model(model, backend)
    optimum = 2 * 273505385574832583019068213 - 1
    assert outcome.status is Status.FEASIBLE
    assert outcome.bound < optimum <= outcome.objective
    assert outcome.reason.endswith("which computes in doubles; its optimum is not confirmed")


@pytest.mark.parametrize("backend", [name for name in BACKENDS if name != "cpsat"])
def test_integer_optima_within_64_bits_are_confirmed(backend):
    if not installed(backend):
        pytest.skip(f"{backend} is not installed")
    model = pyo.ConcreteModel()
    model.x = pyo.Var([0, 1, 2], domain=pyo.Integers, bounds=(0, 4))
    model.row = pyo.Constraint(expr=3 * model.x[0] + 2 * model.x[1] + 5 * model.x[2] >= 13)
    model.cost = pyo.Objective(expr=10**16 * model.x[0] + model.x[1] + 10**16 * model.x[2])
    outcome = solve_model(model, backend)
    assert (outcome.status, outcome.objective) == (Status.OPTIMAL, 10**16 + 4)
    assert outcome.bound == 10**16 + 4


@pytest.mark.parametrize(
    ("costs", "told_apart"),
    [
        ((3, 5), True),
        ((10**9, 1), True),
        ((10**12, 1), False),
        ((10**12, 10**12), True),
        ((10**12, 3 * 10**12), True),
        ((10**12, 2 * 10**12 + 1), False),
        ((0.1, 0.2), True),
        ((0.1234567890123456, 0.9876543210987654), True),
        ((0.1234567890123456, 1e12), False),
        # Data of 17 digits are rounded themselves: that two costs nearly agree says nothing.
        ((0.1234567890123456, math.nextafter(0.1234567890123456, 1)), True),
    ],
)
def test_which_costs_doubles_tell_apart(costs, told_apart):
    model = pyo.ConcreteModel()
    model.x = pyo.Var([0, 1], domain=pyo.Integers, bounds=(0, 1))
    model.cost = pyo.Objective(expr=costs[0] * model.x[0] + costs[1] * model.x[1])
    size = size_beyond_doubles(compile_model(model), SolverOutcome(Status.OPTIMAL))
    assert (size is None) == told_apart


def test_costs_of_fixed_columns_and_constants_do_not_matter():
    model = pyo.ConcreteModel()
    model.x = pyo.Var([0, 1], domain=pyo.Integers, bounds=(0, 1))
    model.x[1].setlb(1)
    model.cost = pyo.Objective(expr=10**12 * model.x[0] + model.x[1] + 10**20)
    outcome = SolverOutcome(Status.OPTIMAL, bound=float(10**20))
    assert size_beyond_doubles(compile_model(model), outcome) is None
