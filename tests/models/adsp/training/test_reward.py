"""The reward of Algorithm 1: an exact fit of three losses, and fallbacks in order."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.adsp.training.reward import fit, reward


@given(
    alpha=st.floats(1e-4, 1),
    beta=st.floats(0.05, 5),
    c=st.floats(0, 10),
    h=st.floats(1, 50),
    start=st.floats(0, 100),
)
def test_a_curve_is_recovered(alpha, beta, c, h, start):
    losses = tuple(1 / (alpha * (start + k * h) + beta) + c for k in range(3))
    if losses[0] - losses[2] < 1e-4:
        return
    curve = fit(start, h, losses)
    for k, loss in enumerate(losses):
        assert 1 / (curve.alpha * (start + k * h) + curve.a2) + curve.a3 == pytest.approx(loss)


def test_a_known_curve_is_recovered():
    losses = tuple(1 / (0.02 * t + 0.5) + 0.3 for t in (0, 30, 60))
    curve = fit(0, 30, losses)
    assert (curve.alpha, curve.a2, curve.a3) == pytest.approx((0.02, 0.5, 0.3))
    # 1/(0.8 - 0.3) = 2 = 0.02 t + 0.5: the target of 0.8 is reached at 75 s.
    assert reward(0, 30, losses, 0.8) == pytest.approx(1 / 75)


def test_targets_below_the_asymptote_are_never_reached():
    # Trap 3: a reward of 0 freezes the climb.
    losses = tuple(1 / (0.02 * t + 0.5) + 0.3 for t in (0, 30, 60))
    assert reward(0, 30, losses, 0.3) == reward(0, 30, losses, 0.1) == 0


def test_rewards_without_a_fit_are_in_order():
    fitted = reward(0, 30, (2.0, 1.0, 0.8), 0.7)
    faster, slower = reward(0, 30, (2, 1.5, 1.0), 0.5), reward(0, 30, (2, 1.875, 1.75), 0.5)
    rose = reward(0, 30, (1.0, 1.1, 1.2), 0.5)
    assert fitted > faster > slower > 0 > rose
    assert rose == -math.inf
    assert fit(0, 30, (2, 1.5, 1.0)) is None


@given(st.tuples(*[st.floats(allow_nan=True, allow_infinity=True)] * 3), st.floats(0, 10))
def test_whatever_is_measured_the_reward_is_no_error(losses, target):
    reward(0.0, 30.0, losses, target)
