"""Numbers and gaps as text."""

from fractions import Fraction

from gadgetopt.numbers.text import show, show_apart, show_gap, without_long_numbers
from gadgetopt.trust.judgement import relative_gap


def test_long_numbers_are_written_short():
    assert show(10**300) == "1.00000e+300"
    assert show(Fraction(10**500, 3)) == "3.33333e+499"
    assert show(10**20) == "1" + "0" * 20


def test_the_gap_of_a_solution_worth_nothing_is_not_written_out():
    assert (show_gap(0.0046, 2), show_gap(relative_gap(0, 300), 1)) == ("0.46%", "inf")


def test_two_numbers_have_the_digits_that_tell_them_apart():
    third = Fraction(1, 3)
    assert show_apart(14.7, 14.8) == ("14.7", "14.8")
    assert show_apart(third, third + Fraction(1, 10**12)) == ("0.333333333333", "0.333333333334")
    assert show_apart(Fraction(147, 10), 14.7) != ("14.7", "14.7"), "the double is another number"
    assert show_apart(10**25, 10**25 + 1) == ("1" + "0" * 25, "1" + "0" * 24 + "1")


def test_equal_numbers_are_written_alike():
    assert show_apart(Fraction(1, 2), 0.5) == ("0.5", "0.5")
    assert show_apart(float("nan"), float("nan")) == ("nan", "nan")


def test_digits_that_tell_nothing_apart_are_no_zeros_at_the_end():
    value = Fraction(147, 10)
    assert show_apart(value, value - Fraction(1, 10**15)) == ("14.7", "14.699999999999999")
    assert show_apart(-value, value - 2 * value - Fraction(1, 10**8)) == ("-14.7", "-14.70000001")
    tiny = Fraction(1, 10**30)
    assert show_apart(tiny, tiny + Fraction(1, 10**40)) == ("1e-30", "1.0000000001e-30")


def test_a_line_has_no_numbers_of_many_digits():
    line = f"label {10**40} by -{10**39} of [7]"
    assert without_long_numbers(line) == f"label 100000... (41 digits) by -{10**39} of [7]"
