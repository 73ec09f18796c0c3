"""The sigmoid utility of a completion time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.pieces.utility import NEGLIGIBLE, SigmoidUtility

POSITIVE = st.floats(1e-3, 1e3)
UTILITIES = st.builds(
    SigmoidUtility, gamma1=POSITIVE, gamma2=POSITIVE, gamma3=POSITIVE, time_unit_s=POSITIVE
)
EXAMPLE = SigmoidUtility(gamma1=100.0, gamma2=0.2, gamma3=40.0)


@pytest.mark.parametrize(("time_s", "utility"), [(36.0, 68.99745), (37.0, 64.56563), (40.0, 50.0)])
def test_hand_checked_values(time_s, utility):
    # 100 / (1 + e^(0.2 (t - 40))).
    assert EXAMPLE.at(time_s) == pytest.approx(utility, abs=5e-6)


def test_half_of_gamma1_is_left_at_gamma3_units():
    utility = SigmoidUtility(gamma1=8.0, gamma2=5.0, gamma3=3.0, time_unit_s=3600.0)

    assert utility.at(3 * 3600.0) == 4.0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("time_s", [0.0, 1e4, 1e6, 1e12, 1e300, math.inf])
def test_no_time_overflows(time_s):
    steep = SigmoidUtility(gamma1=100.0, gamma2=6.0, gamma3=1e3)
    with np.errstate(all="raise", under="ignore"):
        value = steep.at(time_s)

    assert value == (100.0 if time_s == 0 else 0.0)


@given(UTILITIES, st.floats(0, 1e9), st.floats(0, 1e9))
def test_utility_never_rises_with_time_and_stays_between_0_and_gamma1(utility, a, b):
    early, late = sorted((a, b))

    assert 0 <= utility.at(late) <= utility.at(early) <= utility.gamma1


@given(UTILITIES, st.floats(0, 1e9))
def test_negligible_utility_is_nothing(utility, time_s):
    value = utility.at(time_s)

    assert value == 0 or value >= NEGLIGIBLE * utility.gamma1


@given(UTILITIES, st.floats(0, 1e9))
def test_the_logarithm_is_that_of_the_utility(utility, time_s):
    value = utility.at(time_s)

    if value > 0:
        assert utility.log_at(time_s) == pytest.approx(math.log(value), abs=1e-9)
    else:
        assert utility.log_at(time_s) <= math.log(NEGLIGIBLE * utility.gamma1) + 1e-9


def test_the_logarithm_goes_on_where_the_utility_is_negligible():
    # Of a job 28 times slower than the optimum: gamma_1 e^{-(5 (140 - 8))}, nearly.
    steep = SigmoidUtility(gamma1=100.0, gamma2=5.0, gamma3=8.0)

    assert steep.at(140.0) == 0.0
    assert steep.log_at(140.0) == pytest.approx(math.log(100) - 660, abs=1e-9)
