"""Doubles are read as the intended rationals, and bounds are rounded to the safe side."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.numbers.tolerance import (
    agrees,
    closes,
    decimal_rational,
    exceeds,
    refutes,
    round_down,
    round_up,
    simplest_rational,
)

doubles = st.floats(allow_nan=False, allow_infinity=False)


@given(doubles)
def test_both_readings_round_to_the_same_double(x):
    assert float(decimal_rational(x)) == x
    assert float(simplest_rational(x)) == x
    assert decimal_rational(x) == Fraction(repr(x))


@pytest.mark.parametrize("x", [math.inf, -math.inf, math.nan])
def test_what_is_no_number_is_no_rational(x):
    with pytest.raises(ValueError, match=f"{x} is not a finite number"):
        decimal_rational(x)


def test_readings_of_common_coefficients():
    assert simplest_rational(0.1) == decimal_rational(0.1) == Fraction(1, 10)
    assert simplest_rational(1 / 3) == Fraction(1, 3)
    assert simplest_rational(-2.75) == Fraction(-11, 4)
    assert simplest_rational(7) == 7


@given(st.integers(-1000, 1000), st.floats(0, 0.9))
def test_rounding_up_never_exceeds_the_true_ceiling(n, part):
    assert round_up(n + part) <= n + 1
    assert round_down(n - part) >= n - 1


def test_float_noise_does_not_tighten_a_bound():
    assert round_up(3.0000000001) == 3
    assert round_up(2.9999999999) == 3
    assert round_up(Fraction(30000000001, 10000000000)) == 4
    assert round_down(2.9999999999) == 3


@given(doubles, doubles)
def test_exceeding_is_asymmetric(a, b):
    assert not (exceeds(a, b) and exceeds(b, a))
    assert agrees(a, b) == agrees(b, a)


def test_exact_numbers_are_compared_exactly():
    assert exceeds(Fraction(10**9 + 1, 10**9), 1)
    assert not exceeds(1 + 1e-9, 1)


@given(st.floats(1e-3, 1e9))
def test_a_coefficient_that_is_no_simple_fraction_is_read_as_in_a_file(x):
    read = simplest_rational(x)
    assert read == decimal_rational(x) or read.denominator <= 10**6


def test_a_long_decimal_is_not_taken_for_a_fraction_near_it():
    assert simplest_rational(0.12345678901234567) == decimal_rational(0.12345678901234567)


@given(st.integers(1, 10**9), st.integers(0, 9))
def test_a_written_decimal_of_few_digits_is_read_as_it_was_written(n, places):
    assert simplest_rational(float(f"{n}e-{places}")) == Fraction(n, 10**places)


@given(st.integers(10**10, 10**12), st.integers(6, 8))
def test_a_decimal_is_not_read_as_a_fraction_that_rounds_to_it_by_chance(n, places):
    # Above about 1000 every double has a fraction of denominator up to 10^6 that rounds to it.
    assert simplest_rational(float(f"{n}e-{places}")) == Fraction(n, 10**places)


@given(st.integers(1, 10**6), st.integers(1, 1000))
def test_a_quotient_of_small_integers_is_read_as_this_quotient(p, q):
    assert simplest_rational(p / q) == Fraction(p, q)


@given(st.floats(1e-300, 1e300), st.floats(1e-300, 1e300))
def test_the_unit_of_the_numbers_does_not_matter(a, factor):
    b = a * factor
    assert agrees(a, b) == agrees(1.0, b / a) or not 1e-300 < b < 1e300


def test_only_nothing_is_close_to_nothing():
    assert not agrees(5e-7, 0)
    assert not closes(0, 1e-9, integral=False)
    assert not closes(2e-12, 1e-12, integral=False)
    assert exceeds(5e-7, 0)
    assert agrees(0.0, 0)


def test_a_solvers_zero_refutes_nothing():
    assert not refutes(0, 1e-9, minimise=True)
    assert not refutes(0, -1e-12, minimise=False)
    assert refutes(0, 1e-6, minimise=True)
    assert refutes(1e-12, 0.0, minimise=False)


def test_exact_numbers_that_are_no_integers_close_within_a_solvers_rounding():
    third = Fraction(1, 3)
    assert closes(third, third + Fraction(1, 10**10), integral=False)
    assert not closes(third, third + Fraction(1, 10**8), integral=False)
    assert not closes(10**12, 10**12 + 1, integral=True)
    assert not closes(1, 10**400, integral=False)
