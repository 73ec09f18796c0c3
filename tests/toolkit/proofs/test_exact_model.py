"""Models of integers are read at once; what is read number by number is the same."""

import pyomo.environ as pyo
import pytest

from gadgetopt.proofs import exact_model
from gadgetopt.solvers.standard_form import compile_model


def form_of(coefficient, side, bound):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), domain=pyo.Integers, bounds=(0, bound))
    m.y = pyo.Var(bounds=(None, 7))
    m.row = pyo.Constraint(expr=coefficient * m.x[0] - 2 * m.x[1] + m.y <= side)
    m.range = pyo.Constraint(expr=(-3, m.x[1] + 5 * m.x[2], 9))
    m.same = pyo.Constraint(expr=m.x[0] - m.y == 1)
    m.cost = pyo.Objective(expr=m.x[0] + 2 * m.x[2])
    return compile_model(m)


@pytest.mark.parametrize(
    ("coefficient", "side", "bound"),
    [(3, 8, 4), (0.1, 8, 4), (3, 8.5, 4), (3, 8, None), (3, 2.0**60, 4), (2**60 + 1, 8, 4)],
)
def test_both_ways_of_reading_agree(coefficient, side, bound, monkeypatch):
    form = form_of(coefficient, side, bound)
    at_once = exact_model.exact_model(form)
    monkeypatch.setattr(exact_model, "_whole_rows", lambda _: None)
    monkeypatch.setattr(exact_model, "_whole_bounds", lambda _: None)
    assert exact_model.exact_model(form) == at_once


def test_only_models_of_integers_are_read_at_once():
    assert exact_model._whole_rows(form_of(3, 8, 4)) is not None
    for coefficient, side in [(0.1, 8), (3, 8.5), (3, 2.0**60)]:
        assert exact_model._whole_rows(form_of(coefficient, side, 4)) is None
