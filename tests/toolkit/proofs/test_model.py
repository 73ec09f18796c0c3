"""The text of a model: what is written is read, and nothing else is taken for a model."""

from fractions import Fraction

import pytest

from gadgetopt.proofs.model import Model, Row, lines, parsed

MODEL = Model(
    integer=[True, False],
    lower=[0, None],
    upper=[3, Fraction(1, 2)],
    rows=[Row([0, 1], [2, -3], None, 5, 2)],
    costs=([0], [1]),
    scale=4,
    offset=Fraction(1, 3),
    sense="max",
)
TEXT = list(lines(MODEL))


def test_what_is_written_is_read():
    assert parsed(TEXT) == MODEL
    empty = Model([], [], [], [], ([], []), 1, 0, "min")
    assert parsed(lines(empty)) == empty


@pytest.mark.parametrize("count", range(len(TEXT)))
def test_a_text_that_ends_too_early_is_no_model(count):
    with pytest.raises(ValueError, match="ends too early"):
        parsed(TEXT[:count])


@pytest.mark.parametrize(
    ("at", "line"),
    [
        (0, "max 1/3 0 2 1"),
        (0, "max 1/3 -4 2 1"),
        (0, "most 1/3 4 2 1"),
        (0, "max 1e999999999 4 2 1"),
        (2, "c -1e999999999 3"),
        (1, "-1 1"),
        (1, "0 1 0 1"),
        (1, "0"),
        (2, "b 0 3"),
        (2, "i -1/2 3"),
        (2, "i 0 7/2"),
        (4, "0 - 5 0 2 1 -3"),
        (4, "2 - 5 0 2 2 -3"),
        (4, "2 - 5 0 2 -1 -3"),
        (5, "2 - 5 0 2 1 -3"),
    ],
)
def test_a_wrong_line_is_refused(at, line):
    """Column -1 would be the last one, a negative denominator would turn a row round."""
    with pytest.raises(ValueError):
        parsed([*TEXT[:at], line, *TEXT[at + 1 :]])
