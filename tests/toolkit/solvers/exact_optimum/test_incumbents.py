"""Mixed models: what HiGHS's tolerances gain is no objective."""

from __future__ import annotations

import itertools
import math
import os
from fractions import Fraction
from random import Random

import numpy as np
import pyomo.environ as pyo
import pytest

from gadgetopt.numbers.tolerance import refutes
from gadgetopt.solvers import solve_model
from gadgetopt.solvers.exact_form import ExactReader, weighted_sum
from gadgetopt.solvers.exact_optimum.outcomes import NO_EXACT_POINT, with_exact_incumbent
from gadgetopt.solvers.exact_optimum.values import exact_values
from gadgetopt.solvers.formulations.backends import THROUGH_PYOMO, installed
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.result import Limits, Status

HERE = [name for name in ("highs", "scip", *THROUGH_PYOMO) if installed(name)]
DRAWN = int(os.environ.get("GADGETOPT_FUZZ", "100"))


def covering(side: float, weight: float = 1) -> pyo.ConcreteModel:
    """Build min 2 x + 3 z with weight * x + z >= side, z integer."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 10))
    m.z = pyo.Var(domain=pyo.Integers, bounds=(0, 10))
    m.row = pyo.Constraint(expr=weight * m.x + m.z >= side)
    m.cost = pyo.Objective(expr=2 * m.x + 3 * m.z)
    return m


@pytest.mark.parametrize(("side", "x"), [(4.5, 4.5), (0.7, 0.7), (9.999, 9.999), (2.5, 2.5)])
def test_a_row_that_is_short_by_less_than_the_tolerance_gains_nothing(side, x):
    m = covering(side)
    outcome = solve_model(m, "highs")
    assert (outcome.status, m.x.value, m.z.value) == (Status.OPTIMAL, x, 0)
    assert outcome.objective == 2 * Fraction(str(x))
    assert outcome.bound <= outcome.objective
    assert exact_values(m)[m.x] == Fraction(str(x))


def test_a_large_coefficient_does_not_magnify_the_tolerance():
    # x <= 1e6 z, where z is cheap only if it is 0: an x of 1 with z = 1e-6 would cost nothing.
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 1))
    m.z = pyo.Var(domain=pyo.Binary)
    m.row = pyo.Constraint(expr=m.x <= 1e6 * m.z)
    m.gain = pyo.Objective(expr=m.x - 1.5 * m.z, sense=pyo.maximize)
    outcome = solve_model(m, "highs")
    assert (outcome.status, outcome.objective) == (Status.OPTIMAL, 0)


def test_an_objective_that_no_values_attain_is_no_optimum():
    # What a solver in doubles may return: x + z is short of 4.5 by 5e-7, and x has no more room.
    m = covering(4.5)
    m.x.setub(Fraction(44999995, 10**7))
    form = compile_model(m)
    claimed = SolverOutcome(
        Status.OPTIMAL, values=np.array([4.4999995, 0.0]), objective=8.999999, bound=8.999999
    )
    outcome = with_exact_incumbent(form, claimed, Limits(), 0)
    assert (outcome.status, outcome.reason) == (Status.FEASIBLE, NO_EXACT_POINT)
    assert outcome.exact_values is None


def test_a_bound_past_an_exact_incumbent_is_dropped():
    form = compile_model(covering(4.5))
    claimed = SolverOutcome(
        Status.OPTIMAL, values=np.array([4.5, 0.0]), objective=9.0, bound=9.0000001
    )
    assert with_exact_incumbent(form, claimed, Limits(), 0).bound == 9.0
    claimed.bound = 9.1
    outcome = with_exact_incumbent(form, claimed, Limits(), 0)
    assert (outcome.status, outcome.bound, outcome.objective) == (Status.FEASIBLE, None, 9.0)
    assert "is past" in outcome.reason


def test_a_run_that_its_time_ended_has_an_exact_incumbent_too():
    claimed = SolverOutcome(
        Status.FEASIBLE, np.array([4.4999995, 0.0]), 8.999999, 8.0, limit_hit="time_s"
    )
    outcome = with_exact_incumbent(compile_model(covering(4.5)), claimed, Limits(time_s=0), 0)
    assert (outcome.status, outcome.objective) == (Status.FEASIBLE, 9.0)
    assert outcome.limit_hit == "time_s"


def number(rng: Random) -> float:
    """Draw a number that is whole, has a few digits or many, or is a power of ten."""
    return rng.choice(
        [
            rng.randint(1, 9),
            -rng.randint(1, 9),
            round(rng.uniform(0.1, 9), rng.randint(1, 3)),
            rng.choice([-1, 1]) * 10 ** rng.randint(2, 6),
            rng.uniform(0.1, 5),
        ]
    )


def drawn(rng: Random) -> pyo.ConcreteModel:
    """Draw a model of up to three integers and three continuous variables, all bounded."""
    m = pyo.ConcreteModel()
    most = [rng.choice([1, 1, 2]) for _ in range(rng.randint(1, 3))]
    m.z = pyo.Var(range(len(most)), domain=pyo.Integers, bounds=lambda _, i: (0, most[i]))
    ends = [(rng.choice([0, -3.5, 0.1]), rng.choice([10, 4.7, 1e5])) for _ in most]
    m.x = pyo.Var(range(len(ends)), bounds=lambda _, i: ends[i])
    every = [*m.z.values(), *m.x.values()]
    m.rows = pyo.ConstraintList()
    for _ in range(rng.randint(1, 4)):
        body = sum(number(rng) * v for v in rng.sample(every, rng.randint(1, len(every))))
        side = number(rng)
        m.rows.add(rng.choice([body >= side, body <= side, body == side]))
    sense = rng.choice([pyo.minimize, pyo.maximize])
    m.cost = pyo.Objective(expr=sum(number(rng) * v for v in every) + 0.5, sense=sense)
    return m


def optimum(m: pyo.ConcreteModel) -> Fraction | None:
    """Return the best exact optimum of the linear programs that the integers leave."""
    integers, found = list(m.z.values()), []
    for point in itertools.product(*(range(v.lb, v.ub + 1) for v in integers)):
        for v, value in zip(integers, point, strict=True):
            v.fix(value)
        outcome = solve_model(m, "highs")
        assert (outcome.exact is None) == (outcome.status is Status.INFEASIBLE)
        found += [] if outcome.exact is None else [outcome.exact.objective]
    m.z.unfix()
    return (max if m.cost.sense == pyo.maximize else min)(found, default=None)


def test_incumbents_hold_exactly_and_are_never_better_than_the_optimum():
    compared = 0
    for seed in range(DRAWN):
        m = drawn(Random(seed))
        best = optimum(m)
        outcome = solve_model(m, "highs")
        if best is None:
            assert outcome.status is Status.INFEASIBLE
            continue
        assert outcome.status is Status.OPTIMAL
        reader = ExactReader(compile_model(m))
        point = outcome.exact_values
        for i in range(len(m.rows)):
            row = reader.row(i)
            assert row.lower <= weighted_sum(row, point) <= row.upper
        value = reader.offset() + sum(a * point[j] for j, a in reader.costs().items())
        assert outcome.objective == value
        maximise = m.cost.sense == pyo.maximize
        assert not refutes(value, outcome.bound, minimise=not maximise)
        assert value <= best if m.cost.sense == pyo.maximize else value >= best
        assert abs(value - best) <= Fraction(1, 10**6) * max(1, abs(best))
        compared += 1
    assert compared > DRAWN // 5


@pytest.mark.parametrize("backend", HERE)
@pytest.mark.parametrize("integer", [True, False])
def test_the_objective_is_the_exact_points_by_every_backend(backend, integer):
    # 2 x + 1/3 with 3 x >= 22/7, where an integer z could help at a cost of 3 for a third of x.
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 10))
    m.z = pyo.Var(domain=pyo.Integers if integer else pyo.Reals, bounds=(0, 10))
    m.row = pyo.Constraint(expr=3 * m.x + m.z >= Fraction(22, 7))
    m.cost = pyo.Objective(expr=2 * m.x + 3 * m.z + Fraction(1, 3))
    outcome = solve_model(m, backend)
    assert (outcome.status, outcome.objective) == (Status.OPTIMAL, Fraction(17, 7))
    assert outcome.bound <= outcome.objective


@pytest.mark.parametrize("backend", HERE)
def test_the_objective_of_rounded_costs_is_a_double_that_its_bound_is_not_past(backend):
    m = covering(0.7)
    m.p = pyo.Param(initialize=2, mutable=True)
    m.del_component(m.cost)
    m.cost = pyo.Objective(expr=pyo.exp(m.p) * m.x + 30 * m.z)
    outcome = solve_model(m, backend)
    assert outcome.status is Status.OPTIMAL
    assert isinstance(outcome.objective, float)
    assert outcome.objective == pytest.approx(0.7 * math.exp(2))
    assert outcome.bound <= outcome.objective
    assert outcome.exact_values is None
