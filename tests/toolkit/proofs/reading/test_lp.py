"""LP files are read as HiGHS and SCIP agree on, exactly; what they read differently is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gadgetopt.proofs.model import digest
from gadgetopt.proofs.reading.lp import read_lp
from gadgetopt.proofs.reading.mps import read_mps
from gadgetopt.proofs.reading.text import Unreadable

from .test_mps import FREE

SAME = r"""\ the model of the MPS file
Minimize
 obj: x - 2.5e-1 y
Subject To
 r1: 0.1 x + y <= 10
 r2: 3 x = 6
Bounds
 x <= 4.5
End
"""


def text(objective="x", rows=" r1: x >= 1\n", bounds="", tail=""):
    bounds = f"Bounds\n{bounds}" if bounds else ""
    return f"Minimize\n obj: {objective}\nSubject To\n{rows}{bounds}{tail}End\n"


def refusal(source: str) -> str:
    with pytest.raises(Unreadable) as raised:
        read_lp(source)
    message = str(raised.value)
    assert "\n" not in message
    return message


def test_an_lp_file_and_an_mps_file_are_one_model():
    lp, mps = read_lp(SAME), read_mps(FREE)
    assert lp == mps
    assert digest(lp.model) == digest(mps.model)


@pytest.mark.parametrize(
    ("objective", "costs", "offset"),
    [
        ("x + 5", ([0], [1]), 5),
        ("- - x", ([0], [1]), 0),
        ("2 e1 + 3e1 x", ([0, 1], [2, 30]), 0),
        ("x + 2 x - y", ([0, 1], [3, -1]), 0),
        ("", ([], []), 0),
        ("x\n + y", ([0, 1], [1, 1]), 0),
    ],
)
def test_objectives(objective, costs, offset):
    model = read_lp(text(objective, rows=" r1: q >= 1\n")).model
    assert model.costs == costs
    assert model.offset == offset


@pytest.mark.parametrize(
    ("row", "sides"),
    [
        ("x >= 1", (1, None)),
        ("x => - 4", (-4, None)),
        ("x < 4", (None, 4)),
        ("x =< 4", (None, 4)),
        ("x = +1", (1, 1)),
        ("-1 <= x + y <= 3", (-1, 3)),
        ("3 >= x >= -1", (-1, 3)),
        ("= 0", (0, 0)),
    ],
)
def test_rows(row, sides):
    for name in ("r1: ", ""):
        found = read_lp(text(rows=f" {name}{row}\n second: x <= 9\n")).model.rows
        assert (found[0].lower, found[0].upper) == sides
        assert len(found) == 2


@pytest.mark.parametrize(
    ("bounds", "tail", "expected"),
    [
        ("", "", (0, None, False)),
        (" x free\n", "", (None, None, False)),
        (" -infinity <= x <= 1e30\n", "", (None, None, False)),
        (" x <= 3\n x >= -1\n", "", (-1, 3, False)),
        (" x = 3\n", "", (3, 3, False)),
        (" 3 >= x\n", "", (0, 3, False)),
        (" x >= -inf\n x <= -3\n", "", (None, -3, False)),
        ("", "General\n x\n", (0, None, True)),
        (" 0.5 <= x <= 6.5\n", "Integers\n x\n", (1, 6, True)),
        ("", "Binaries\n x\n", (0, 1, True)),
        (" 0 <= x <= 1\n", "Bin\n x\n", (0, 1, True)),
    ],
)
def test_bounds(bounds, tail, expected):
    model = read_lp(text(bounds=bounds, tail=tail)).model
    assert (model.lower[0], model.upper[0], model.integer[0]) == expected


def test_words_of_sections_may_be_names():
    source = text("max + 2 bin", rows=" end: max + 2 bin >= 1\n st: bin\n + max >= 3\n")
    model, columns, rows, _ = read_lp(source)
    assert columns == ["max", "bin"]
    assert rows == ["end", "st"]
    assert model.rows[1].columns == [0, 1]


def test_names_may_hold_what_the_format_allows():
    source = text("x[1,2] + y(3)_{a}", rows=" a/b#1: x[1,2] + y(3)_{a} >= 0.25\n")
    model, columns, rows, _ = read_lp(source)
    assert columns == ["x[1,2]", "y(3)_{a}"]
    assert rows == ["a/b#1"]
    assert Fraction(model.rows[0].lower or 0, model.rows[0].denominator) == Fraction(1, 4)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (text("1/3 x"), "line 2: '/'"),
        (text("[ x ^ 2 ] / 2"), "line 2: '[' is no part of a linear term"),
        (text("2 3 x"), "line 2: '3' follows a term without a sign"),
        (text("2 * x"), "line 2: '*'"),
        (text("inf x"), "line 2: 'inf' is infinite"),
        (text("1e30 x"), "line 2: '1e30' is infinite for solvers"),
        (text(rows=" r1: x + 3 >= 5\n"), "line 4: row 'r1' has a constant on the left"),
        (text(rows=" r1: x >= y + 1\n"), "line 4: 'y' in place of a number on the right side"),
        (text(rows=" r1: x >= 1 + y\n"), "line 4: '+' after the number on the right side"),
        (text(rows=" r1: 3 <= x\n"), "row 'r1' has no relation and number on the right"),
        (text(rows=" r1: 3 <= x >= 4\n"), "line 4: row 'r1' has two limits on one side"),
        (text(rows=" r1: x\n"), "row 'r1' has no relation"),
        (text(rows=" r1: b = 1 -> x <= 3\n"), "line 4: '->'"),
        (text(rows=" r1: x >= 1\n r1: x >= 2\n"), "there are two rows of the name 'r1'"),
        (text(bounds=" x <= -3\n"), "column 'x' has an upper bound below 0 and no lower bound"),
        (text(bounds=" x <= 3\n x <= 4\n"), "line 7: column 'x' has a second upper bound"),
        (text(bounds=" x <= 3 4\n"), "line 6: a bound is no"),
        (text(bounds=" x = inf\n"), "line 6: column 'x' is fixed at infinity"),
        (text(bounds=" 0 <= x <= 7\n", tail="Binaries\n x\n"), "column 'x' is binary and has"),
        (text(tail="Semi-Continuous\n x\n"), "line 5: the section 'Semi-Continuous' is not read"),
        (text(tail="SOS\n s1: S1:: x:1\n"), "line 5: the section 'SOS' is not read"),
        (text().replace("End\n", ""), "ends without End"),
        (text() + "more\n", "line 6: a line after End"),
        ("Minimize multi-objectives\n", "line 1: several objectives"),
        ("x >= 1\n", "line 1: 'x >= 1' in place of Minimize or Maximize"),
        ("", "ends without End"),
    ],
)
def test_what_is_refused_names_the_line(source, says):
    assert says in refusal(source)
