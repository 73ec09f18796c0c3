"""Bounds recomputed from duals: valid, and as tight as the duals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyomo.environ as pyo
import pytest

from gadgetopt.numbers.arrays import Floats
from gadgetopt.solvers.dual_bounds import rational_duals
from gadgetopt.solvers.highs import solve_form
from gadgetopt.solvers.standard_form import StandardForm, compile_model
from gadgetopt.system.result import Limits, Status


def lp_dual_bound(form: StandardForm, row_duals: Floats) -> Fraction | None:
    """Return the bound on the optimum of a linear model that a solver's row duals prove."""
    proved = rational_duals(form, row_duals)
    return None if proved is None else proved[0]


def random_lp(seed: int, integer: bool = False) -> pyo.ConcreteModel:
    """Build a feasible bounded program around a known point, with rows of every kind."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 9)), int(rng.integers(0, 9))
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(n), domain=pyo.Integers if integer else pyo.Reals)
    point = rng.integers(-3, 4, size=n)
    for j, v in model.x.items():
        v.setlb(int(point[j]) - int(rng.integers(0, 4)))
        v.setub(int(point[j]) + int(rng.integers(0, 4)))
    model.rows = pyo.ConstraintList()
    for _ in range(m):
        row = np.round(rng.normal(size=n), 2)
        if not row.any():
            continue
        at = float(row @ point)
        bounds = [(None, at + 0.4), (at - 0.4, None), (at - 1, at + 1), (at, at)]
        low, high = bounds[int(rng.integers(0, 4))]
        model.rows.add(
            (low, sum(float(a) * v for a, v in zip(row, model.x.values(), strict=True)), high)
        )
    costs = np.round(rng.normal(size=n), 3).tolist()
    model.cost = pyo.Objective(
        expr=sum(c * v for c, v in zip(costs, model.x.values(), strict=True)) + 1.25,
        sense=pyo.maximize if seed % 2 else pyo.minimize,
    )
    return model


@pytest.mark.parametrize("seed", range(100))
def test_bound_is_within_a_millionth_of_the_optimum(seed):
    form = compile_model(random_lp(seed))
    outcome = solve_form(form, Limits())
    assert outcome.status is Status.OPTIMAL
    bound = lp_dual_bound(form, outcome.row_duals)
    assert isinstance(bound, Fraction)
    assert float(bound) == pytest.approx(outcome.objective, abs=1e-6)


@pytest.mark.parametrize("seed", range(60))
def test_any_duals_prove_a_bound_that_never_passes_the_integer_optimum(seed):
    form = compile_model(random_lp(seed, integer=True))
    optimum = solve_form(form, Limits()).objective
    duals = np.random.default_rng(seed).normal(size=len(form.rows))
    bound = lp_dual_bound(form, duals)
    sign = -1 if form.sense == "max" else 1
    assert sign * float(bound) <= sign * optimum + 1e-6


def test_exact_duals_prove_the_exact_optimum():
    # max x + y with 3x + y <= 1, x + 3y <= 1: x = y = 1/4, duals 1/4 each.
    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var(within=pyo.NonNegativeReals), pyo.Var(within=pyo.NonNegativeReals)
    model.a = pyo.Constraint(expr=3 * model.x + model.y <= 1)
    model.b = pyo.Constraint(expr=model.x + 3 * model.y <= 1)
    model.value = pyo.Objective(expr=model.x + model.y, sense=pyo.maximize)
    form = compile_model(model)
    assert lp_dual_bound(form, solve_form(form, Limits()).row_duals) == Fraction(1, 2)
    assert lp_dual_bound(form, np.zeros(2)) is None


def test_duals_of_the_wrong_sign_are_ignored():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(bounds=(0, 10))
    model.row = pyo.Constraint(expr=model.x >= 2)
    model.cost = pyo.Objective(expr=model.x)
    form = compile_model(model)
    assert lp_dual_bound(form, np.array([-5.0])) == 0
    assert lp_dual_bound(form, np.array([1.0])) == 2
    assert lp_dual_bound(form, np.array([np.nan])) == 0


def test_wrong_number_of_duals_is_an_error():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(bounds=(0, 10))
    model.cost = pyo.Objective(expr=model.x)
    with pytest.raises(ValueError, match="2 duals for 0 rows"):
        lp_dual_bound(compile_model(model), np.zeros(2))
