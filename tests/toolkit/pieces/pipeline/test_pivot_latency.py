"""The latency around a pivot: hand-checked values, and what bounds what."""

import numpy as np
import pytest

from gadgetopt.pieces.pipeline.bound import machine_bounds
from gadgetopt.pieces.pipeline.pivot_latency import (
    head_load_tail_s,
    latencies_s,
    latency_s,
    pivot_of,
)
from gadgetopt.pieces.pipeline.shop import shop_of_times

#: Interleaved F, B, AR of a plan of two stages, M = 4.
D1 = (3, 2, 2), (6, 2, 4), (0.2, 0, 3.1)
#: Of a plan of three stages.
D2 = (4, 0.1, 2, 1, 3), (8, 0.1, 4, 1, 6), (0, 0, 0, 0, 2)


def test_the_printed_rule_moves_the_pivot_too_eagerly():
    # T_st = 27, 12, 18. The link: 12 > 18 no. The first stage: 27 > 18 + (2 + 2), so Q = 0.
    assert pivot_of(*D1, 4) == 0
    # 3 + 27 + max(0.2 + 6, 3.1 - 2) = 36.2; with Q = 2: 7 + 18 + max(0.2 + 12, 4 + 3.1) = 37.2.
    assert latency_s(*D1, 4, 0) == pytest.approx(36.2)
    assert latency_s(*D1, 4, 2) == pytest.approx(37.2)
    assert pivot_of(*D1, 4, "max") == 2


def test_the_pivot_of_three_stages():
    assert pivot_of(*D2, 4) == 0
    assert latency_s(*D2, 4, 0) == pytest.approx(48.0)
    # 4 + 0.1 + 2 + 1 + 4 * 9 + (8 + 0.1 + 4 + 1)
    assert latency_s(*D2, 4, 4) == pytest.approx(56.2)


def test_the_two_endings_differ_after_the_pivot_only():
    times = (1, 1, 1), (2, 3, 4), (0, 0, 9)
    # Derived: 9 - B_1 = 6 after the last backward of stage 0 starts; printed: 9 - (2 + 3 + 4) = 0.
    assert latency_s(*times, 1, 0) == pytest.approx(1 + 6)
    assert latency_s(*times, 1, 0, "printed") == pytest.approx(1 + 2)
    assert latency_s(*times, 1, 2, "printed") == latency_s(*times, 1, 2)


def test_one_stage_and_one_microbatch():
    assert latency_s([2], [3], [5], 1, 0) == 10
    assert pivot_of([2], [3], [5], 1) == 0
    # M = 1 compares zeros: the pivot stays last.
    assert pivot_of(*D1, 1) == 2


@pytest.mark.parametrize("seed", range(30))
def test_many_plans_at_once_have_the_latencies_of_each_alone(seed):
    rng = np.random.default_rng(seed)
    q, n, m = 2 * int(rng.integers(1, 5)) - 1, 7, int(rng.integers(1, 9))
    f, b, a = (rng.integers(0, 30, (q, n)).astype(float) for _ in range(3))
    for rule in ("paper", "max", "slowest"):
        for ending in ("derived", "printed", "slides"):
            many = latencies_s(list(f), list(b), list(a), m, rule, ending)
            for k in range(n):
                times = f[:, k], b[:, k], a[:, k]
                pivot = pivot_of(*times, m, rule)
                assert many[k] == latency_s(*times, m, pivot, ending)


def slides_latency_s(f, b, a, m, later):
    """The pipeline lengths PL of the slides as they print them, Q the slowest position."""
    q = max(range(len(f)), key=lambda k: (f[k] + b[k], -k))
    n, length = len(f) - 1, m * (f[q] + b[q]) + sum(f[:q]) + sum(b[:q])
    if not later:
        return length + max(a[i] - sum(b[:i]) for i in range(0, n + 1, 2))
    behind = sum(f[q + 1 :]) + sum(b[q + 1 :]) - (n - q) * f[q]
    taken = [
        sum(b[:i]) if i <= q else sum(b[:q]) + (n - i + 1) * b[q] - sum(f[q + 1 : i + 1]) - b[i]
        for i in range(0, n + 1, 2)
    ]
    return length + behind + max(a[2 * k] - less for k, less in enumerate(taken))


def test_the_later_latency_of_the_slides_by_hand():
    # Q = 0, R = (2 + 2) + (2 + 4) - 2 * 3 = 4: 3 + 27 + 4 + max(6 + 0.2, 2 + 2 + 4 + 3.1) = 45.1.
    assert pivot_of(*D1, 4, "slowest") == 0
    assert latency_s(*D1, 4, 0, "slides") == pytest.approx(45.1)
    assert slides_latency_s(*D1, 4, later=True) == pytest.approx(45.1)


@pytest.mark.parametrize("seed", range(100))
def test_the_slides_print_the_derived_ending_first_and_their_own_later(seed):
    rng = np.random.default_rng(seed)
    q, m = 2 * int(rng.integers(1, 5)) - 1, int(rng.integers(1, 9))
    f, b, a = (rng.integers(0, 30, q).tolist() for _ in range(3))
    a[1::2] = [0] * (q // 2)
    pivot = pivot_of(f, b, a, m, "slowest")
    assert latency_s(f, b, a, m, pivot) == slides_latency_s(f, b, a, m, later=False)
    assert latency_s(f, b, a, m, pivot, "slides") == slides_latency_s(f, b, a, m, later=True)


@pytest.mark.parametrize("seed", range(30))
def test_up_to_the_pivot_it_is_the_head_load_tail_bound(seed):
    rng = np.random.default_rng(seed)
    q, m = 2 * int(rng.integers(1, 5)) - 1, int(rng.integers(1, 9))
    f, b, a = (rng.integers(0, 30, q).tolist() for _ in range(3))
    a[1::2] = [0] * (q // 2)
    bounds = head_load_tail_s(f, b, a, m)
    shop = shop_of_times(f, b, a, m)
    assert bounds == [float(bound.value_s) for bound in machine_bounds(shop)]
    for pivot, bound in enumerate(bounds):
        assert latency_s(f, b, a, m, pivot) >= bound
        assert latency_s(f, b, a[: pivot + 1] + [0] * (q - pivot - 1), m, pivot) >= bound
