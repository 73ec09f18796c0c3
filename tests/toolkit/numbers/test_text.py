"""Numbers and gaps as text."""

from fractions import Fraction

from gadgetopt.numbers.text import show, show_gap
from gadgetopt.trust.judgement import relative_gap


def test_long_numbers_are_written_short():
    assert show(10**300) == "1.00000e+300"
    assert show(Fraction(10**500, 3)) == "3.33333e+499"
    assert show(10**20) == "1" + "0" * 20


def test_the_gap_of_a_solution_worth_nothing_is_not_written_out():
    assert (show_gap(0.0046, 2), show_gap(relative_gap(0, 300), 1)) == ("0.46%", "inf")
