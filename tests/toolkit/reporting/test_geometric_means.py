"""Shifted geometric means and their bootstrap intervals."""

import math

import numpy as np
import pytest

from gadgetopt.reporting.chance import SAMPLES
from gadgetopt.reporting.geometric_means import bootstrap_interval, shifted_geometric_mean


def test_the_shift_is_added_and_taken_off():
    assert shifted_geometric_mean([3, 0]) == pytest.approx(1)  # sqrt(4 * 1) - 1
    assert shifted_geometric_mean([90, 0], shift_s=10) == pytest.approx(math.sqrt(1000) - 10)


def test_an_interval_is_the_middle_of_the_means_of_samples():
    # Of two times a sample has both the low one, both the high one, or one of each, at 1 : 1 : 2.
    assert bootstrap_interval([0, 3], np.random.default_rng(0)) == pytest.approx((0, 3))
    # Of ten, nine of them 0, a sample has k times the 3 with a binomial probability: none with 35 %
    # of the samples, more than 3 with 1.3 %, more than 2 with 7 %.
    low, high = bootstrap_interval([0] * 9 + [3], np.random.default_rng(0))
    assert (low, high) == pytest.approx((0, 4 ** (3 / 10) - 1))


def test_an_interval_is_that_of_its_generator_and_holds_the_mean():
    times = np.random.default_rng(5).exponential(20, 40).tolist()
    one, same, other = (bootstrap_interval(times, np.random.default_rng(k)) for k in (1, 1, 2))
    assert one == same != other
    assert one[0] < shifted_geometric_mean(times) < one[1]
    # By hand, without scipy: the quantiles of the means of as many samples.
    logs = np.log(np.asarray(times) + 1)
    drawn = np.random.default_rng(3).choice(logs, (SAMPLES, 40)).mean(axis=1)
    assert one == pytest.approx(np.exp(np.quantile(drawn, [0.025, 0.975])) - 1, rel=0.1)


def test_equal_times_leave_nothing_to_chance_and_one_time_says_nothing():
    assert bootstrap_interval([2, 2, 2], np.random.default_rng(0)) == pytest.approx((2, 2))
    assert all(map(math.isnan, bootstrap_interval([2], np.random.default_rng(0))))
