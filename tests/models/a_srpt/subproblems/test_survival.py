"""Kaplan-Meier by hand and in fractions, and quantiles of leaves."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.a_srpt.subproblems.forest import Trees, weighted_quantile
from gadgetopt.models.a_srpt.subproblems.shrunk import Shrunk
from gadgetopt.pieces.learning.survival import median_beyond, survival

from .test_shrunk import after, arrival


def literal(ended, lasting):
    """The product of the estimate, value by value, in fractions."""
    left, found = Fraction(1), {}
    for v in sorted(set(ended)):
        there = sum(x >= v for x in (*ended, *lasting))
        left *= 1 - Fraction(ended.count(v), there)
        found[v] = left
    return found


def test_the_estimate_by_hand():
    """Ends at 1, 3, 3 and 5, one lasts at 2 and one at 4: 5/6, then 5/6 * 2/4, then 0."""
    values, share = survival([1, 3, 3, 5], [2, 4])
    assert values.tolist() == [1, 3, 5]
    assert share == pytest.approx([5 / 6, 5 / 12, 0])


def test_the_median_of_what_lasts_by_hand():
    curve = survival([1, 3, 3, 5], [2, 4])
    assert median_beyond(curve, 0) == 3
    assert median_beyond(curve, 1.5) == 3
    assert median_beyond(curve, 3) == 5
    assert median_beyond(curve, 7) == 7
    assert median_beyond(survival([], [2]), 2) == 2


@given(st.lists(st.integers(0, 9), max_size=9), st.lists(st.integers(0, 9), max_size=9))
def test_the_estimate_is_the_product(ended, lasting):
    values, share = survival(ended, lasting)
    plain = literal(ended, lasting)
    assert values.tolist() == list(plain)
    assert share == pytest.approx([float(s) for s in plain.values()])
    for reached in range(10):
        now = min((s for v, s in plain.items() if v <= reached), default=Fraction(1))
        later = [v for v, s in plain.items() if v > reached and s <= now / 2]
        assert median_beyond((values, share), reached) in (
            min(later, default=reached),
            reached,
        ) or (
            # A share of exactly half may fall on either side of it in doubles.
            any(2 * s == now for s in plain.values())
        )


def test_without_what_lasts_it_is_the_share_of_what_ended_later():
    values, share = survival([2, 2, 4, 8], [])
    assert dict(zip(values.tolist(), share.tolist(), strict=True)) == pytest.approx(
        {2: 1 / 2, 4: 1 / 4, 8: 0}
    )


def test_a_late_job_counts_with_what_it_will_do():
    """Completed jobs did 1, 1 and 100 times what was predicted; one is at 10 times it and goes on.

    Of what lasts beyond 10 times all end at 100 times: it counts with 100 times 100 iterations.
    """
    running = []
    guess = Shrunk(1.0, running=lambda: running, estimated=True)
    after(guess, ((7,), 100))
    guess._excess[:] = [0.0, 0.0, float(np.log(100))]
    late = arrival(5, 7)
    assert guess.predict(late) == 100
    running.append((5, 1000))
    # The group: mean of all 2, of the group (2 + 2 + 4) / 3, of its runs ((8/3) + 2 + 4) / 3.
    assert guess.log_of(arrival(6, 7)) == pytest.approx(26 / 9 * np.log(10))
    running[0] = (5, 50)
    assert guess.predict(arrival(8, 7)) == 100


def test_quantiles_of_weights_by_hand():
    weights = np.array([0.25, 0.25, 0.5])
    assert weighted_quantile([3.0, 1.0, 2.0], weights, 0.25) == 1
    assert weighted_quantile([3.0, 1.0, 2.0], weights, 0.5) == 2
    assert weighted_quantile([3.0, 1.0, 2.0], weights, 0.75) == 2
    assert weighted_quantile([3.0, 1.0, 2.0], weights, 0.9) == 3


def test_leaves_of_one_feature_give_the_quantiles_of_its_jobs():
    """Two features that nothing connects: each has its own leaf, with all its targets."""
    pytest.importorskip("sklearn")
    targets = {0.0: [1.0, 2.0, 3.0, 4.0], 1.0: [10.0, 20.0, 30.0, 40.0]}
    for quantile, place in ((0.5, 1), (0.75, 2)):
        trees = Trees(np.random.default_rng(0), 80, 100, 20, 5, quantile)
        for job in range(80):
            feature = float(job % 2)
            trees.predict(job, [feature])
            trees.observe(job, targets[feature][job // 2 % 4])
        for feature, found in targets.items():
            assert trees.predict(100, [feature]) == found[place]
