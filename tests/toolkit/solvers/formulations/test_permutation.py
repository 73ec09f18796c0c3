"""Models whose rows and columns change places, and outcomes that change back."""

from fractions import Fraction

import numpy as np
import pyomo.environ as pyo
import pytest

from gadgetopt.solvers.dual_bounds import rational_duals
from gadgetopt.solvers.exact_form import ExactReader
from gadgetopt.solvers.formulations.permutation import is_of_seed_0, permuted
from gadgetopt.solvers.linear import solve_form
from gadgetopt.solvers.recheck import violated
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.result import Limits, Status

#: An integer that no double holds.
LARGE = 10**20 + 1


def form_of(integer=True, large=False):
    """Min x + 2 y + 3.5 z + w/3 over a few rows; the optimum is at x = 3, y = 1, z = 0, w = 1/2."""
    m = pyo.ConcreteModel()
    domain = pyo.Integers if integer else pyo.Reals
    m.x, m.y = (pyo.Var(domain=domain, bounds=(0, high)) for high in (3, 9))
    m.z = pyo.Var(bounds=(0, Fraction(1, 3)))
    m.w = pyo.Var(bounds=(0, None))
    m.cover = pyo.Constraint(expr=m.x + 2 * m.y + m.z >= 5)
    m.link = pyo.Constraint(expr=pyo.inequality(-7, m.y - 2 * m.w, 0))
    m.side = pyo.Constraint(expr=0.1 * m.x + 0.3 * m.z <= 0.4)
    if large:
        m.large = pyo.Constraint(expr=LARGE * m.x + 3 * m.y <= 4 * LARGE)
    m.cost = pyo.Objective(expr=m.x + 2 * m.y + 3.5 * m.z + Fraction(1, 3) * m.w)
    return compile_model(m)


def exact_rows(form):
    """Each row by its name: coefficients by the names of columns, and sides."""
    reader, names = ExactReader(form), [column.name for column in form.columns]
    found = {}
    for i, component in enumerate(form.rows):
        row = reader.row(i)
        terms = {names[j]: a for j, a in zip(row.columns, row.coefficients, strict=True)}
        found[component.name] = terms, row.lower, row.upper
    return found


def exact_columns(form):
    reader = ExactReader(form)
    costs = reader.costs()
    return {
        column.name: (reader.bounds(j), costs.get(j, 0), bool(form.integer[j]))
        for j, column in enumerate(form.columns)
    }


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_same_model_in_exact_numbers(seed):
    form = form_of(large=True)
    other = permuted(form, np.random.default_rng(seed)).form
    assert exact_rows(other) == exact_rows(form)
    assert exact_columns(other) == exact_columns(form)


def test_the_order_is_that_of_the_generator():
    form = form_of()
    made = permuted(form, np.random.default_rng(3))
    again = permuted(form, np.random.default_rng(3))
    assert [c.name for c in made.form.columns] == [c.name for c in again.form.columns]
    assert [form.columns[j].name for j in made.columns] == [c.name for c in made.form.columns]
    assert [form.rows[i].name for i in made.rows] == [r.name for r in made.form.rows]
    orders = {
        tuple(permuted(form, np.random.default_rng(seed)).columns.tolist()) for seed in range(20)
    }
    assert len(orders) > 5


@pytest.mark.parametrize("backend", ["highs", "scip"])
@pytest.mark.parametrize("integer", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_an_outcome_is_one_of_the_given_model(backend, integer, seed):
    if backend == "scip":
        pytest.importorskip("pyscipopt")
    form = form_of(integer)
    made = permuted(form, np.random.default_rng(seed))
    outcome = made.undone(solve_form(made.form, backend, Limits(), seed))
    assert outcome.status is Status.OPTIMAL
    assert outcome.form is form
    assert float(outcome.objective) == pytest.approx(5 + 1 / 6)
    values = dict(zip((c.name for c in form.columns), outcome.values, strict=True))
    assert values == pytest.approx({"x": 3, "y": 1, "z": 0, "w": 0.5})
    assert violated(form, outcome.values) is None
    if outcome.exact_values is not None:
        assert outcome.exact_values == [Fraction(values[c.name]) for c in form.columns]
    if not integer:
        bound, duals = rational_duals(form, outcome.row_duals)
        assert bound == Fraction(31, 6)
        assert outcome.exact_duals == duals
        assert outcome.exact.values == outcome.exact_values
        assert outcome.exact.duals == duals
        assert [len(part) for part in outcome.basis] == [len(form.columns), len(form.rows)]
        basic = {c.name for c, at in zip(form.columns, outcome.basis[0], strict=True) if at == 0}
        assert {"w"} <= basic <= {"w", "x", "y"}  # strictly between their bounds, or degenerate


def test_seed_0_is_known_by_its_generator():
    assert is_of_seed_0(np.random.default_rng(0))
    assert not is_of_seed_0(np.random.default_rng(1))
    assert not is_of_seed_0(np.random.default_rng())
    assert not is_of_seed_0(np.random.default_rng([0, 1]))
