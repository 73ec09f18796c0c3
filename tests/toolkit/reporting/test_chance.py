"""Bootstrap intervals of means, signed-rank tests and their correction."""

import math

import numpy as np
import pytest

from gadgetopt.reporting.chance import holm, mean_interval, signed_rank


def test_an_interval_of_a_mean_is_that_of_its_samples():
    # Of two values a sample has both the low one, both the high one, or one of each, at 1 : 1 : 2.
    assert mean_interval([1, 3], np.random.default_rng(0)) == pytest.approx((1, 3))
    low, high = mean_interval([2.0] * 5, np.random.default_rng(0))
    assert (low, high) == (2.0, 2.0)


def test_one_value_says_nothing_and_an_infinite_one_everything():
    assert all(map(math.isnan, mean_interval([1.5], np.random.default_rng(0))))
    assert mean_interval([1.0, math.inf], np.random.default_rng(0)) == (math.inf, math.inf)


def test_six_differences_of_one_sign_have_two_of_64_signs_as_extreme():
    assert signed_rank([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]) == pytest.approx(2 / 64)
    assert signed_rank([-0.1, 0.2, 0.3, 0.4, 0.5, 0.6]) == pytest.approx(4 / 64)  # rank sum 1
    # With five, no result is below 5 %.
    assert signed_rank([1, 2, 3, 4, 5]) == pytest.approx(2 / 32)


def test_the_test_does_not_care_who_is_first():
    drawn = np.random.default_rng(1).normal(0.4, 1, 30).tolist()
    assert signed_rank(drawn) == pytest.approx(signed_rank([-d for d in drawn]))


def test_no_difference_is_no_evidence():
    assert signed_rank([0.0] * 8) == 1.0
    assert math.isnan(signed_rank([]))
    # Zeros count half for each side: with as many for as against, nothing is left.
    assert signed_rank([0.0, 0.0, 1.0, -1.0]) == pytest.approx(1.0)


def test_holm_multiplies_the_smallest_by_all_and_keeps_the_order():
    # Holm's steps by hand: 3 * 0.01, then the larger of it and 2 * 0.03, then of that and 0.04.
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []
    none, one = holm([math.nan, 0.02])
    assert math.isnan(none)
    assert one == 0.02
