"""The evaluator has no tolerance, and names what is violated, where and by how much."""

from fractions import Fraction

import pytest

from gadgetopt.models.mip.evaluate import evaluate
from gadgetopt.models.mip.instance import MipInstance, MipSolution
from gadgetopt.proofs.reading.lp import read_lp

TEXT = """
Maximize
 profit: 3 x + 0.1 y + 7
Subject To
 room: 0.5 <= x + 0.2 y <= 2.4
Bounds
 y <= 3
General
 x
End
"""
INSTANCE = MipInstance.of(read_lp(TEXT))


def worth(**values):
    return evaluate(INSTANCE, MipSolution(values={k: Fraction(v) for k, v in values.items()}))


def test_objective_and_rows_are_exact():
    found = worth(x=2, y=2)  # 6 + 1/5 + 7; the row is 2.4, its upper side
    assert (found.objective, found.feasible) == (Fraction(66, 5), True)
    assert worth(x=2).objective == 13  # y is left out, which is 0
    assert isinstance(worth(x=2).objective, int)


@pytest.mark.parametrize(
    ("values", "violated"),
    [
        ({"x": 2, "y": "2.00000000001"}, ("row", "room", Fraction(2, 10**12))),
        ({"x": 0}, ("row", "room", Fraction(1, 2))),
        ({"x": "3/2"}, ("integrality", "x", Fraction(1, 2))),
        ({"x": -1, "y": 3}, ("lower_bound", "x", 1)),
        ({"x": 1, "y": "10/3"}, ("upper_bound", "y", Fraction(1, 3))),
    ],
)
def test_a_violation_has_its_place_and_its_exact_amount(values, violated):
    found = worth(**values).violations[0]
    assert (found.constraint, found.where, found.amount) == violated


def test_a_name_of_no_column_leaves_no_objective():
    found = worth(z=1)
    assert (found.objective, found.violations[0].constraint) == (None, "unknown_column")
