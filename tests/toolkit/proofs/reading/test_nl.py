"""AMPL's .nl files are read as far as they are linear."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pyomo.environ as pyo
import pytest

from gadgetopt.proofs.reading.nl import read_nl
from gadgetopt.proofs.reading.text import Unreadable


def small() -> pyo.ConcreteModel:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(bounds=(-2, 4.5))
    model.y = pyo.Var(domain=pyo.NonNegativeReals)
    model.b = pyo.Var(domain=pyo.Binary)
    model.k = pyo.Var(domain=pyo.Integers, bounds=(None, 7))
    model.cost = pyo.Objective(expr=3 * model.x - model.y + 0.5 * model.k + 2, sense=pyo.maximize)
    model.ranged = pyo.Constraint(expr=(1, model.x + model.y + model.b, 6))
    model.equal = pyo.Constraint(expr=model.y + 2 * model.k == 3)
    model.above = pyo.Constraint(expr=model.x + model.k + model.b >= -4)
    return model


def written(model: pyo.ConcreteModel, folder: Path) -> str:
    path = folder / "m.nl"
    model.write(str(path), format="nl")
    return path.read_text()


def test_a_model_of_pyomo_comes_back(tmp_path):
    model, columns, rows, notes = read_nl(written(small(), tmp_path))
    assert (model.sense, model.offset, model.scale) == ("max", 2, 2)
    assert model.costs == ([0, 1, 3], [-6, 2, -1])
    assert model.integer == [False, False, True, True]
    assert model.lower == [-2, 0, 0, None]
    assert model.upper == [Fraction(9, 2), None, 1, 7]
    assert sorted(model.rows, key=lambda row: row.columns) == [
        ([0, 1, 2], [1, 1, 1], 1, 6, 1),
        ([0, 2, 3], [1, 1, 1], -4, None, 1),
        ([1, 3], [1, 2], 3, 3, 1),
    ]
    assert columns == ["x0", "x1", "x2", "x3"]
    assert len(rows) == 3
    assert notes == []


def test_names_come_from_the_files_beside_it(tmp_path):
    text = written(small(), tmp_path)
    found = read_nl(text, ["a", "b", "c", "d"], ["r", "s", "t", "objective"])
    assert found.columns == ["a", "b", "c", "d"]
    assert found.rows == ["r", "s", "t"]
    with pytest.raises(Unreadable, match="the file of names has 1 of 4 columns"):
        read_nl(text, ["a"])


@pytest.mark.parametrize("kind", ["quadratic row", "quadratic objective", "sos", "complement"])
def test_what_is_not_linear_is_refused_in_one_line(tmp_path, kind):
    model = small()
    if kind == "quadratic row":
        model.wrong = pyo.Constraint(expr=model.x * model.y <= 3)
    elif kind == "quadratic objective":
        model.cost.deactivate()
        model.wrong = pyo.Objective(expr=model.x**2)
    elif kind == "sos":
        model.z = pyo.Var([1, 2], bounds=(0, 1))
        model.used = pyo.Constraint(expr=model.z[1] + model.z[2] >= 1)
        model.wrong = pyo.SOSConstraint(var=model.z, sos=1)
    else:
        with pytest.raises(Unreadable, match="complementarity"):
            read_nl(written(model, tmp_path).replace("\n4 3", "\n5 1 1"))
        return
    with pytest.raises(Unreadable, match=r"^line [0-9]+: .*not (read|linear)"):
        read_nl(written(model, tmp_path))


def test_a_binary_file_is_refused():
    with pytest.raises(Unreadable, match="in text form"):
        read_nl("b3 1 1 0\n")
