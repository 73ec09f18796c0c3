"""Exact arithmetic: irrational values are rounded to the safe side, too large numbers refused."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.numbers.exact import (
    MOST_BITS,
    ceiling,
    check_prices,
    common_denominator,
    dot,
    double_above,
    exp_below,
    exp_ratio_below,
    log1p_above,
    rationals,
    sqrt_above,
    whole_numbers,
)
from gadgetopt.pieces.utility import sigmoid_above

positive = st.floats(1e-6, 1e6)


@given(st.floats(-700, 700))
def test_exp_is_rounded_down_by_little(x):
    below = exp_below(Fraction(x))
    true = Fraction(math.exp(x))
    assert below <= true * (1 + Fraction(1, 10**15))
    assert below >= true * (1 - Fraction(1, 10**15)) or x < -690


@given(st.fractions(), st.integers(1, 10**6))
def test_exp_of_a_quotient_is_that_of_its_value(x, factor):
    numerator, denominator = exp_ratio_below(x.numerator * factor, x.denominator * factor)
    assert Fraction(numerator, denominator) == exp_below(x)


@given(st.lists(st.fractions(), min_size=1))
def test_whole_numbers_over_their_denominator_are_the_numbers(numbers):
    whole, denominator = whole_numbers(numbers)
    assert [Fraction(n, denominator) for n in whole] == numbers
    assert math.gcd(denominator, *whole) == 1


@given(positive)
def test_roots_and_logarithms_are_rounded_up_by_little(x):
    for above, true in ((sqrt_above, math.sqrt), (log1p_above, math.log1p)):
        assert 0 < float(above(Fraction(x))) == pytest.approx(true(x), rel=1e-14)
    assert sqrt_above(Fraction(x)) ** 2 >= Fraction(x)


@given(positive, st.floats(0, 50), st.floats(0, 100), st.floats(0, 100))
def test_no_sigmoid_in_doubles_is_above(height, steepness, a, b):
    above = sigmoid_above(*rationals((height, steepness, a, b)))
    z = steepness * (a - b)
    small = math.exp(-abs(z))
    value = height * (small if z > 0 else 1.0) / (1.0 + small)
    if above:
        assert value <= float(above) <= value * (1 + 1e-8)
    else:
        assert value < 1e-9 * max(1, height)


def test_exponents_beyond_all_doubles_are_cut_on_the_right_side():
    assert exp_below(Fraction(-(10**300))) == 0
    assert 0 < exp_below(Fraction(10**300)) < 10**435


@given(st.fractions())
def test_the_double_above_is_the_next(x):
    above = double_above(x)
    assert Fraction(math.nextafter(above, -math.inf)) < x <= Fraction(above)


def test_a_bound_beyond_all_doubles_is_refused():
    assert double_above(Fraction(10**308)) == 1e308
    with pytest.raises(ValueError, match="larger than any double"):
        double_above(Fraction(10**309))


def test_denominators_without_end_are_refused():
    assert common_denominator([Fraction(1, 4), Fraction(1, 6), Fraction(3)]) == 12
    with pytest.raises(ValueError, match="binary digits"):
        common_denominator([Fraction(1, 2 ** (MOST_BITS + 1))])


def test_prices_have_to_be_one_for_each_and_not_negative():
    check_prices([Fraction(0), Fraction(1)], "p", 2, "rows")
    with pytest.raises(ValueError, match="p: 1 for 2 rows"):
        check_prices([Fraction(0)], "p", 2, "rows")
    with pytest.raises(ValueError, match=r"p\[1\]: -1/2 is negative"):
        check_prices([Fraction(0), Fraction(-1, 2)], "p", 2, "rows")


def test_sums_are_exact():
    assert dot(rationals([0.1, 0.2, 0.7]), [1, 1, 1]) == 1
    assert (ceiling(Fraction(7, 2)), ceiling(Fraction(-7, 2)), ceiling(Fraction(3))) == (4, -3, 3)
