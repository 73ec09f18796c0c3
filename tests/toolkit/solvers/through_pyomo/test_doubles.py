"""Fractions of a model for solvers and writers that know doubles only."""

from fractions import Fraction

import pyomo.environ as pyo
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.proofs.reading.lp import read_lp
from gadgetopt.reporting.export import write_model
from gadgetopt.solvers.through_pyomo.doubles import in_doubles

THIRD = Fraction(1, 3)


def thirds():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(0, THIRD))
    m.p = pyo.Param(initialize=THIRD, mutable=True)
    m.e = pyo.Expression(expr=THIRD * m.x[0])
    m.row = pyo.Constraint(expr=m.e + m.x[0] * m.x[1] * THIRD + m.p * m.x[1] <= THIRD)
    m.range = pyo.Constraint(expr=pyo.inequality(THIRD / 9, THIRD * m.x[1] + m.x[0], 2 * THIRD))
    m.o = pyo.Objective(expr=THIRD * m.x[0] + m.e + THIRD)
    return m


def texts(m):
    return [str(x) for x in (m.row.expr, m.range.expr, m.o.expr, m.x[0].ub, m.p.value)]


def test_a_model_has_doubles_within_the_block_and_its_fractions_again_after_it():
    m = thirds()
    before = texts(m)
    with in_doubles(m):
        assert type(m.x[0].ub) is float
        assert "1/3" not in str(m.row.expr) + str(m.range.expr) + str(m.o.expr)
        assert pyo.value(m.p) == float(THIRD)
    assert texts(m) == before


def with_an_empty_row(side):
    m = thirds()
    del m.row  # the quadratic one
    m.nothing = pyo.Expression(expr=Fraction(0))
    m.empty = pyo.Constraint(expr=m.nothing <= side)
    return m


@pytest.mark.parametrize("form", ["lp", "nl", "mps"])
def test_a_row_without_variables_is_left_out_and_there_again_after_it(form, tmp_path):
    m = with_an_empty_row(THIRD)
    before = str(m.empty.expr)
    write_model(m, form, tmp_path / f"model.{form}")
    assert "empty" not in (tmp_path / f"model.{form}").read_text()
    assert m.empty.active
    assert str(m.empty.expr) == before


def test_a_row_without_variables_that_does_not_hold_is_refused_by_its_name(tmp_path):
    m = with_an_empty_row(-THIRD)
    with pytest.raises(ModelRefused, match="empty: does not hold"):
        write_model(m, "lp", tmp_path / "model.lp")
    assert m.empty.active


@pytest.mark.parametrize("form", ["lp", "nl", "mps"])
def test_files_have_no_fractions(form, tmp_path):
    path = tmp_path / f"thirds.{form}"
    write_model(thirds(), form, path)
    text = path.read_text()
    assert "/" not in text.partition("\n")[2].replace("lp_", "")
    assert "0.333333333333333" in text


def test_a_fixed_binary_variable_keeps_its_bounds_in_an_lp_file(tmp_path):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), domain=pyo.Binary)
    m.x[1].setub(0)
    m.o = pyo.Objective(expr=m.x[0] + m.x[1], sense=pyo.maximize)
    m.row = pyo.Constraint(expr=m.x[0] + m.x[1] <= 2)
    path = tmp_path / "model.lp"
    write_model(m, "lp", path)
    model = read_lp(path.read_text()).model
    assert (model.integer, model.lower, model.upper) == ([True, True], [0, 0], [1, 0])
    assert (m.x[1].domain, m.x[1].lb, m.x[1].ub) == (pyo.Binary, 0, 0)
