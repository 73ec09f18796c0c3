"""Randomised rounding of one job (Algorithm 2), and the deterministic roundings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.models.smd.algorithms.grid_search import grid_search
from gadgetopt.models.smd.algorithms.rounding import (
    best_corner,
    floor_pair,
    job_shrink,
    job_width,
    rounded,
)
from gadgetopt.models.smd.subproblems.inner import (
    Point,
    best_pair,
    continuous,
    fits,
)

from ..inner_jobs import E2, jobs

SEEDS = st.integers(0, 50)


def rng(seed=0):
    return np.random.default_rng(seed)


def test_hand_checked_roundings():
    # Around (3.26, 3.47): (3, 3) 37, (3, 4) 36; (4, 3) and (4, 4) take 11 and 12 of 10.
    point = continuous(E2)

    assert floor_pair(E2, point) == (3, 3, 37.0)
    assert best_corner(E2, point) == (3, 4, 36.0)
    assert rounded(E2, point, rng()).pair == (3, 4, 36.0)
    found = {rounded(E2, point, rng(s), attempts=1, fallback="none").pair for s in range(50)}
    assert found == {None, (3, 3, 37.0), (3, 4, 36.0)}


@pytest.mark.parametrize(("delta", "factor"), [(1.0, 0.530354), (0.5, 0.413521), (0.1, 0.284676)])
def test_hand_checked_factors(delta, factor):
    assert job_width(E2) == 5
    assert job_shrink(E2, delta) == pytest.approx(factor, abs=5e-7)


@given(jobs(), st.floats(0.05, 1), st.integers(1, 10), SEEDS)
def test_roundings_fit_and_keep_the_certain_bound(job, shrink, attempts, seed):
    point = continuous(job)
    assume(point is not None)

    found = rounded(job, point, rng(seed), shrink=shrink, attempts=attempts)

    assert found.pair is not None
    assert fits(job, found.pair.w, found.pair.p)
    assert found.pair.tau_s == job.completion_time.at(found.pair.w, found.pair.p)
    assert found.pair.tau_s <= 4 / shrink * point.tau_s * (1 + 1e-9)
    assert found.fell_back == (found.failed_attempts == attempts)


@given(jobs(), st.floats(0.05, 0.5), SEEDS)
def test_no_attempt_fails_at_a_factor_of_a_half(job, shrink, seed):
    point = continuous(job)
    assume(point is not None)

    found = rounded(job, point, rng(seed), shrink=shrink, attempts=10)

    assert found.failed_attempts == 0
    assert not found.fell_back


@given(jobs(), st.sampled_from([0.01, 0.3, 0.9]))
def test_rounding_down_fits_and_is_within_twice_the_grid_searchs_time(job, eps):
    found = grid_search(job, eps)
    assume(found is not None)
    down, best = floor_pair(job, found.point), best_pair(job)

    assert fits(job, down.w, down.p)
    assert down.tau_s <= 2 * found.point.tau_s * (1 + 1e-9)
    assert down.tau_s <= 2 * (1 + eps) * best.tau_s * (1 + 1e-9)


@given(jobs())
def test_the_best_corner_fits_and_is_not_slower_than_rounding_down(job):
    point = continuous(job)
    assume(point is not None)
    corner = best_corner(job, point)

    assert fits(job, corner.w, corner.p)
    assert best_pair(job).tau_s <= corner.tau_s <= floor_pair(job, point).tau_s


def test_a_point_that_misses_an_integer_by_rounding_is_that_integer():
    assert floor_pair(E2, Point(3 - 1e-12, 4 - 1e-12, 0.0))[:2] == (3, 4)


def test_a_point_just_outside_is_rounded_to_a_pair_that_fits():
    assert floor_pair(E2, Point(4.5 + 1e-12, 2.0, 0.0))[:2] == (4, 2)
    assert floor_pair(E2, Point(9.0, 9.0, 0.0))[:2] == (1, 8)


def test_without_a_fallback_a_job_may_get_nothing():
    # Both coordinates are rounded up or stay: (4, 3) takes 11 of 10.
    found = rounded(E2, Point(4.0, 3.0, 0.0), rng(), attempts=3, fallback="none")

    assert found.pair is None
    assert found.failed_attempts == 3
    assert not found.fell_back


def test_a_number_that_becomes_0_is_1_or_fails_the_attempt():
    point = Point(1.0, 1.0, 73.0)
    clipped = rounded(E2, point, rng(), shrink=0.01, attempts=5)
    rejected = rounded(E2, point, rng(), shrink=0.01, attempts=5, zero="reject", fallback="none")

    assert clipped.pair == (1, 1, 73.0)
    assert rejected.pair is None
    assert rejected.failed_attempts == 5


@pytest.mark.parametrize(
    "wrong",
    [{"shrink": 0.0}, {"delta": 2.0}, {"attempts": 0}, {"zero": "keep"}, {"fallback": "ceil"}],
)
def test_wrong_parameters_are_refused_by_name(wrong):
    with pytest.raises(ModelRefused, match=next(iter(wrong))):
        rounded(E2, continuous(E2), rng(), **wrong)
