"""What is checked of the theorems: units, and the ratio where rates have to be equal."""

from gadgetopt.models.adsp.rates.guarantees.checks import (
    equal_window_ratio,
    terms_have_no_unit,
    unit_of_terms,
)

from ..brute_force import tiny


def test_terms_have_no_unit_in_one_reading_only():
    assert unit_of_terms("step_time") == "1"
    assert unit_of_terms("speed") == "s^2"
    assert terms_have_no_unit(tiny("momentum_cap"), {})
    assert not terms_have_no_unit(tiny("momentum_reading_of_speed"), {})


def test_a_ratio_is_promised_where_rates_are_equal():
    assert equal_window_ratio(tiny("a1_equal_rates"), {}) == 1
    assert equal_window_ratio(tiny("a2_window_of_two"), {}) is None
