"""MPS files are read as all solvers agree on, exactly; what they read differently is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gadgetopt.proofs.model import digest
from gadgetopt.proofs.reading.mps import read_mps
from gadgetopt.proofs.reading.text import Unreadable

FREE = """NAME small
ROWS
 N obj
 L r1
 E r2
COLUMNS
 x obj 1 r1 0.1
 x r2 3
 y obj -2.5e-1 r1 1
RHS
 rhs r1 10 r2 6
BOUNDS
 UP bnd x 4.5
ENDATA
"""
FIXED = """NAME          small
ROWS
 N  obj
 L  r1
 E  r2
COLUMNS
    x         obj                  1   r1                 0.1
    x         r2                   3
    y         obj           -2.5e-01   r1                   1
RHS
    rhs       r1                  10   r2                   6
BOUNDS
 UP bnd       x                  4.5
ENDATA
"""


def text(
    rows: str = " L r1\n",
    columns: str = " x obj 1 r1 1\n",
    rhs: str = " rhs r1 10\n",
    ranges: str = "",
    bounds: str = "",
    head: str = "",
) -> str:
    tail = (f"RANGES\n{ranges}" if ranges else "") + (f"BOUNDS\n{bounds}" if bounds else "")
    return f"NAME q\n{head}ROWS\n N obj\n{rows}COLUMNS\n{columns}RHS\n{rhs}{tail}ENDATA\n"


def refusal(source: str) -> str:
    with pytest.raises(Unreadable) as raised:
        read_mps(source)
    message = str(raised.value)
    assert "\n" not in message
    return message


def test_decimals_become_rationals():
    model, columns, rows, notes = read_mps(FREE)
    assert columns == ["x", "y"]
    assert rows == ["r1", "r2"]
    assert notes == []
    assert model.costs == ([0, 1], [4, -1])
    assert model.scale == 4
    assert model.rows[0] == ([0, 1], [1, 10], None, 100, 10)
    assert model.rows[1] == ([0], [3], 6, 6, 1)
    assert model.lower == [0, 0]
    assert model.upper == [Fraction(9, 2), None]


def test_free_fixed_and_line_ends_of_windows_are_one_model():
    digests = {digest(read_mps(t).model) for t in (FREE, FIXED, FREE.replace("\n", "\r\n"))}
    assert len(digests) == 1


def test_names_with_spaces_are_read_in_fixed_form():
    source = FIXED.replace("  r1 ", "  r 1").replace("  r1\n", "  r 1\n")
    model, columns, rows, _ = read_mps(source.replace("    y  ", "    a b"))
    assert columns == ["x", "a b"]
    assert rows == ["r 1", "r2"]
    assert digest(model) == digest(read_mps(FREE).model)


def test_a_file_that_is_one_model_in_free_form_and_another_in_fixed_form_is_refused():
    column = "    x c 1     r                  3\n"  # x, or `x c 1`
    source = text(columns=column, rows=" L  r\n", rhs="").replace(" N obj", " N  c")
    assert "one model in free form and another in fixed form" in refusal(source)


INF = None
BINARY = (0, 1, True)
MARKED = " M1 'MARKER' 'INTORG'\n x obj 1 r1 1\n M2 'MARKER' 'INTEND'\n"


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ("", (0, INF, False)),
        (" LO b x -2\n", (-2, INF, False)),
        (" UP b x 4\n", (0, 4, False)),
        (" UP b x 0\n", (0, 0, False)),
        (" FX b x 3.5\n", (Fraction(7, 2), Fraction(7, 2), False)),
        (" FR b x\n", (INF, INF, False)),
        (" FR b x\n UP b x 4\n", (INF, 4, False)),
        (" MI b x\n", (INF, INF, False)),
        (" MI b x\n UP b x 5\n", (INF, 5, False)),
        (" UP b x -5\n MI b x\n", (INF, -5, False)),
        (" PL b x\n", (0, INF, False)),
        (" BV b x\n", BINARY),
        (" BV b x 1\n", BINARY),
        (" BV x\n", BINARY),
        (" UP x 4\n", (0, 4, False)),
        (" LI b x 2\n", (2, INF, True)),
        (" UI b x 7\n", (0, 7, True)),
        (" LI b x 1.5\n UI b x 6.5\n", (2, 6, True)),
        (" UP b x 1e20\n", (0, INF, False)),
        (" UP b x Infinity\n", (0, INF, False)),
        (" LO b x -1e30\n", (INF, INF, False)),
        (" UP b x 1.0D+3\n", (0, 1000, False)),
        (" UP b x 1/3\n", (0, Fraction(1, 3), False)),
    ],
)
def test_bounds(bounds, expected):
    model = read_mps(text(bounds=bounds)).model
    assert (model.lower[0], model.upper[0], model.integer[0]) == expected


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ("", (0, 1)),
        (" LO b x 2\n", (2, INF)),
        (" UP b x 5\n", (0, 5)),
        (" LI b x 2\n", (2, INF)),
        (" PL b x\n", (0, INF)),
        (" MI b x\n", (INF, INF)),
    ],
)
def test_bounds_of_integer_columns_between_markers(bounds, expected):
    model, _, _, notes = read_mps(text(columns=MARKED, bounds=bounds))
    assert (model.lower[0], model.upper[0]) == expected
    assert model.integer == [True]
    assert bool(notes) == (not bounds)  # that it is binary is a convention


@pytest.mark.parametrize(
    ("kind", "range_", "sides"),
    [
        ("L", 4, (6, 10)),
        ("L", -4, (6, 10)),
        ("L", 0, (10, 10)),
        ("G", 4, (10, 14)),
        ("G", -4, (10, 14)),
        ("E", 4, (10, 14)),
        ("E", -4, (6, 10)),
        ("E", 0, (10, 10)),
    ],
)
def test_ranges(kind, range_, sides):
    model = read_mps(text(rows=f" {kind} r1\n", ranges=f" rng r1 {range_}\n")).model
    assert (model.rows[0].lower, model.rows[0].upper) == sides


def test_the_right_side_of_the_objective_is_its_constant_subtracted():
    for head, sense in (("", "min"), ("OBJSENSE\n    MAX\n", "max"), ("OBJSENSE MAX\n", "max")):
        model = read_mps(text(head=head, rhs=" rhs obj 5 r1 10\n")).model
        assert (model.offset, model.sense) == (-5, sense)
        assert model.bound(model.least(7)) == 7


def test_the_first_row_without_sides_is_the_objective_and_others_are_left_out():
    columns = " x obj 1 r1 1\n x other 7\n"
    model, _, rows, _ = read_mps(
        text(rows=" N other\n L r1\n", columns=columns, rhs=" rhs r1 10 other 3\n")
    )
    assert rows == ["r1"]
    assert model.costs == ([0], [1])
    assert model.offset == 0
    named = text(rows=" N other\n L r1\n", columns=columns, head="OBJNAME\n other\n")
    assert read_mps(named).model.costs == ([0], [7])


def test_the_first_set_counts_and_the_file_says_so():
    model, *_, notes = read_mps(text(rhs=" a r1 10\n b r1 99\n"))
    assert model.rows[0].upper == 10
    assert notes == ["RHS has several sets; the first, 'a', counts"]


def test_zeros_are_dropped_and_tiny_entries_kept():
    model = read_mps(text(columns=" x obj 1 r1 0\n y obj 0 r1 1e-10\n")).model
    assert model.rows[0].columns == [1]
    assert model.rows[0].coefficients == [1]
    assert model.rows[0].denominator == 10**10
    assert model.costs == ([0], [1])


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (text(bounds=" UP b x -3\n"), "column 'x' has an upper bound below 0 and no lower bound"),
        (text(bounds=" UP b x 4\n PL b x\n"), "line 11, BOUNDS: column 'x' has a second upper"),
        (text(bounds=" UP b x 4\n UP b x 4\n"), "line 11, BOUNDS: column 'x' has a second upper"),
        (text(bounds=" FR b x\n LO b x 4\n"), "line 11, BOUNDS: column 'x' has a second lower"),
        (text(bounds=" SC b x 5\n"), "line 10, BOUNDS: SC makes column 'x' semi-continuous"),
        (text(bounds=" UP b z 5\n"), "line 10, BOUNDS: no column has the name 'z'"),
        (text(bounds=" UP b x nan\n"), "line 10, BOUNDS: 'nan' is no number"),
        (text(bounds=" LO b x inf\n"), "line 10, BOUNDS: column 'x' has the lower bound infinity"),
        (text(bounds=" UP b x 1e999999999\n"), "line 10, BOUNDS: '1e999999999' has too many"),
        (text(columns=" x obj 1 r1 1\n x r1 2\n"), "line 7, COLUMNS: column 'x' has two entries"),
        (text(columns=" x obj 1\n y r1 1\n x r1 2\n"), "line 8, COLUMNS: column 'x' stands in two"),
        (text(columns=" x obj 1 r9 1\n"), "line 6, COLUMNS: no row has the name 'r9'"),
        (text(columns=" x obj inf\n"), "line 6, COLUMNS: 'inf' is infinite, which only a bound"),
        (text(rhs=" rhs r1 1e30\n"), "line 8, RHS: '1e30' is infinite for solvers"),
        (text(rhs=" rhs r1 1\n rhs r1 2\n"), "line 9, RHS: row 'r1' has two right sides"),
        (text(rhs=" rhs r9 1\n"), "line 8, RHS: no row has the name 'r9'"),
        (text(rows=" L r1\n L r1\n"), "line 5, ROWS: a second row of the name 'r1'"),
        (text(rows=" X r1\n"), "line 4, ROWS: 'X' is no kind of a row"),
        (text(ranges=" rng obj 4\n"), "line 10, RANGES: row 'obj' is the objective"),
        (text(head="objsense\n max\n"), "line 2, objsense: is no section of MPS"),
        (text(head="OBJSENSE\n most\n"), "line 3, OBJSENSE: 'most' is neither MAX nor MIN"),
        (text(head="OBJNAME\n cost\n"), "line 6, ROWS: no row N of the name 'cost'"),
        (text().replace("ENDATA", "SOS1\n s1\nENDATA"), "line 9, SOS1: is not read"),
        (text().replace("ENDATA", "QUADOBJ\n x x 2\nENDATA"), "line 9, QUADOBJ: is not read"),
        (text().replace("ENDATA\n", ""), "ends without ENDATA"),
        (" x obj 1\n", "line 1: a line before the first section"),
        ("", "ends without ENDATA"),
    ],
)
def test_what_is_refused_names_section_and_line(source, says):
    assert says in refusal(source)


def test_what_a_negative_upper_bound_means_can_be_said():
    source = text(bounds=" UP b x -3\n")
    assert read_mps(source, "free").model.lower == [None]
    assert read_mps(source, "zero").model.lower == [0]
