"""The constant of an objective costs no digit, however large it is beside the costs."""

import itertools
import random
from fractions import Fraction

import pyomo.environ as pyo
import pytest

from gadgetopt.solvers import solve_model
from gadgetopt.solvers.outcome import no_better
from gadgetopt.system.result import Limits

BACKENDS = ("highs", "cpsat", "scip")
SENSES = {"min": pyo.minimize, "max": pyo.maximize}


def one_variable(domain, cost, constant, sense):
    """Return a model of x between 3/2 and 5."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(domain=domain, bounds=(0, 5))
    m.row = pyo.Constraint(expr=2 * m.x >= 3)
    m.cost = pyo.Objective(expr=cost * m.x + constant, sense=SENSES[sense])
    return m


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("constant", [2**53 + 1, -(2**60) - 7, 10**30 + 7])
def test_an_objective_over_integers_is_exact(backend, sense, constant):
    pytest.importorskip("pyscipopt")
    found = solve_model(one_variable(pyo.Integers, 1, constant, sense), backend, Limits(10))
    assert found.status == "optimal"
    assert found.objective == constant + (2 if sense == "min" else 5)
    bound = Fraction(found.bound)
    assert bound <= found.objective if sense == "min" else bound >= found.objective


@pytest.mark.parametrize("backend", BACKENDS)
def test_decimals_add_up_exactly(backend):
    pytest.importorskip("pyscipopt")
    found = solve_model(one_variable(pyo.Integers, 0.1, 0.3, "min"), backend, Limits(10))
    assert found.objective == Fraction(1, 2)


@pytest.mark.parametrize("backend", ["highs", "scip"])
@pytest.mark.parametrize("sense", ["min", "max"])
def test_a_linear_program_has_its_objective_in_rationals(backend, sense):
    pytest.importorskip("pyscipopt")
    constant = 2**53 + 1
    found = solve_model(one_variable(pyo.Reals, 1, constant, sense), backend, Limits(10))
    true = constant + (Fraction(3, 2) if sense == "min" else 5)
    assert found.exact.objective == true
    assert found.objective == found.bound == true


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_large_constant_hides_no_costs(backend):
    pytest.importorskip("pyscipopt")
    draw = random.Random(1)
    for _ in range(15):
        constant = draw.choice([2**33 + 1, 2**45, 10**17 + 3, -(2**55) - 1])
        sense = draw.choice(["min", "max"])
        costs = [draw.randint(-9, 9) for _ in range(4)]
        sizes = [draw.randint(1, 9) for _ in range(4)]
        m = pyo.ConcreteModel()
        m.x = pyo.Var(range(4), domain=pyo.Integers, bounds=(0, 3))
        size = sum(sizes[i] * m.x[i] for i in range(4))
        m.row = pyo.Constraint(expr=(10, size, 30))
        m.cost = pyo.Objective(
            expr=sum(costs[i] * m.x[i] for i in range(4)) + constant, sense=SENSES[sense]
        )
        values = [
            sum(c * x for c, x in zip(costs, point, strict=True)) + constant
            for point in itertools.product(range(4), repeat=4)
            if 10 <= sum(s * x for s, x in zip(sizes, point, strict=True)) <= 30
        ]
        found = solve_model(m, backend, Limits(10))
        assert found.status == "optimal"
        assert found.objective == (min(values) if sense == "min" else max(values))


def test_a_double_is_no_better_than_what_it_stands_for():
    assert no_better(Fraction(1, 3), "min") == 1 / 3  # reads as a third again
    for x in (2**53 + 1, Fraction(2**60 + 1, 3), -(2**53) - 1):
        assert no_better(x, "max") <= x <= no_better(x, "min")
