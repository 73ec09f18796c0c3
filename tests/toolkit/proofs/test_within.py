"""The relaxed model: every point within the tolerance, and no other, is feasible in it."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from gadgetopt.proofs.model import Model, Row, digest
from gadgetopt.proofs.named_form import form_of
from gadgetopt.proofs.tree_kernel import proved
from gadgetopt.proofs.tree_producer import tree_proof
from gadgetopt.proofs.within import within

from .small_models import drawn

TOLERANCES = (Fraction(0), Fraction(1, 10**6), Fraction(1, 7), Fraction(1))
#: 9/2 - 1/2000000 <= x + k with x below that by as much again: no exact point at k = 0.
SHORT = Model(
    [False, True],
    [0, 0],
    [Fraction(8999999, 2000000), 0],
    [Row([0, 1], [2, 2], 9, None, 2)],
    ([0, 1], [2, 3]),
    1,
    0,
    "min",
)


def violation(model, point):
    """Return the largest violation of a row or a bound of a continuous column; None of integers."""
    worst = Fraction(0)
    ends = zip(model.integer, model.lower, model.upper, point, strict=True)
    sides = [(x, low, high, 1, whole) for whole, low, high, x in ends]
    for row in model.rows:
        total = sum(a * point[j] for j, a in zip(row.columns, row.coefficients, strict=True))
        sides.append((total, row.lower, row.upper, row.denominator, False))
    for x, low, high, unit, whole in sides:
        off = max(0 if low is None else low - x, 0 if high is None else x - high)
        if off > 0 and whole:
            return None
        worst = max(worst, Fraction(off) / unit)
    return worst


@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_a_point_is_feasible_in_it_exactly_if_it_is_so_within_the_tolerance(tolerance):
    rng, inside = Random(3), 0
    for _ in range(300):
        model = drawn(rng)
        point = [
            Fraction(rng.randint(-4, 4)) if whole else Fraction(rng.randint(-30, 30), 7)
            for whole in model.integer
        ]
        off = violation(model, point)
        relaxed = violation(within(model, tolerance), point)
        assert (relaxed == 0) == (off is not None and off <= tolerance)
        inside += relaxed == 0
    assert inside >= 20


def test_it_is_another_model_unless_the_tolerance_is_0():
    rng = Random(4)
    for _ in range(50):
        model = drawn(rng)
        if not model.rows:
            continue
        assert digest(within(model, Fraction(0))) == digest(model)
        assert digest(within(model, Fraction(1, 10**6))) != digest(model)


def test_integers_keep_their_bounds_and_a_negative_tolerance_is_refused():
    relaxed = within(SHORT, Fraction(1, 10))
    assert (relaxed.integer, relaxed.upper[1], relaxed.lower) == (
        [False, True],
        0,
        [Fraction(-1, 10), 0],
    )
    with pytest.raises(ValueError, match="negative"):
        within(SHORT, Fraction(-1))


def test_what_has_no_exact_point_has_a_proved_optimum_within_the_tolerance():
    # x + k >= 9/2 - t with x <= 9/2 - 1/2000000 + t for t = 1/1000000: 2 x = 9 - 2/1000000.
    relaxed = within(SHORT, Fraction(1, 10**6))
    optimum = 9 - Fraction(2, 10**6)
    text = tree_proof(form_of(relaxed, ["x", "k"], ["need"]), relaxed, optimum, lambda: 10.0)
    assert optimum - Fraction(1, 10**8) <= proved(relaxed, text.lines) <= optimum
