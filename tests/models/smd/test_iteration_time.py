"""Iteration time of layered networks, against hand-checked profiles and event simulations."""

from __future__ import annotations

import heapq
from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.smd.iteration_time import Layer, critical_path, overlap_fractions

# Whole numbers, so that sums are exact.
TIMES = st.integers(0, 8).map(float)
PROFILES = st.lists(st.builds(Layer, bp_s=TIMES, fp_s=TIMES, comm_s=TIMES), min_size=1, max_size=7)


def layers(b, f, r):
    return [
        Layer(bp_s=float(x), fp_s=float(y), comm_s=float(z))
        for x, y, z in zip(b, f, r, strict=True)
    ]


E1A = layers((1, 1, 1), (1, 1, 1), (2, 2, 2))
E1B = layers((2, 2, 2, 2), (2, 2, 2, 2), (2, 2, 3, 5))


def random_profiles(count, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        shape = (3, rng.integers(1, 9))
        yield layers(*rng.integers(1, 9, shape)), float(rng.integers(0, 3))


def simulate_wait_free(profile):
    """Two links, one each way, first come first served; a layer is pulled once it is pushed."""
    waiting = {"push": deque(), "pull": deque()}
    busy = {"push": False, "pull": False}
    pulled_at = {}
    events = []
    backward_ends = 0.0
    for j in reversed(range(len(profile))):
        backward_ends += profile[j].bp_s
        # The higher layer first where gradients are there at the same time.
        heapq.heappush(events, (backward_ends, 0, -j, "gradient", j))

    def start(link, now):
        if waiting[link] and not busy[link]:
            j = waiting[link].popleft()
            busy[link] = True
            heapq.heappush(events, (now + profile[j].comm_s, 1, -j, link, j))

    while events:
        now, _, _, what, j = heapq.heappop(events)
        if what == "gradient":
            waiting["push"].append(j)
        else:
            busy[what] = False
            if what == "push":
                waiting["pull"].append(j)
            else:
                pulled_at[j] = now
        start("push", now)
        start("pull", now)
    return forward(profile, [pulled_at[j] for j in range(len(profile))])


def simulate_priority(profile, slice_s):
    """One link, lower layers first, preemptive; parameters are back one slice after the push."""
    arrivals = []
    backward_ends = 0.0
    for j in reversed(range(len(profile))):
        backward_ends += profile[j].bp_s
        arrivals.append((backward_ends, j))
    left, done, now = {}, {}, 0.0
    while arrivals or left:
        if not left:
            now = max(now, arrivals[0][0])
        while arrivals and arrivals[0][0] <= now:
            _, j = arrivals.pop(0)
            left[j] = profile[j].comm_s
        if left:
            j = min(left)
            until = min(now + left[j], arrivals[0][0] if arrivals else np.inf)
            left[j] -= until - now
            now = until
            # A gradient that comes now has priority only over what is left.
            if left[j] == 0:
                del left[j]
                done[j] = now + slice_s
    return forward(profile, [done[j] for j in range(len(profile))])


def forward(profile, ready_at):
    end = 0.0
    for layer, ready in zip(profile, ready_at, strict=True):
        end = max(end, ready) + layer.fp_s
    return end


@pytest.mark.parametrize(
    ("profile", "overlap", "slice_s", "total", "eta"),
    [
        # 3 + 2 * 6 + 3.
        (E1A, "sequential", 0.0, 18.0, (1, 1, 1)),
        # The last layer's push waits for b_3 = 1, then four transfers, two ways, 8 in all; f = 3.
        (E1A, "wait_free", 0.0, 12.0, (1, 1 / 3, 2 / 3)),
        # Layer 1: backward 3, transfer 2, slice 0.5, forward 3.
        (E1A, "priority", 0.5, 8.5, (1, 1, 5 / 24)),
        # 8 + 2 * 12 + 8.
        (E1B, "sequential", 0.0, 40.0, (1, 1, 1)),
        # b_4 = 2, 12 + 5 of transfers, f = 8.
        (E1B, "wait_free", 0.0, 27.0, (1, 0.25, 17 / 24)),
        # Layer 1: backward 8, transfer 2, slice 1, forward 8.
        (E1B, "priority", 1.0, 19.0, (1, 1, 1 / 8)),
    ],
)
def test_hand_checked_profiles(profile, overlap, slice_s, total, eta):
    assert critical_path(profile, overlap, slice_s).total_s == total
    assert overlap_fractions(profile, overlap, slice_s) == pytest.approx(eta, rel=1e-15)


def test_hand_checked_profiles_by_lemma_2_as_printed():
    # (a) e_3 = 8.5 instead of 7.5; (b) e_4 = 16 instead of 15, which layer 1 outlasts.
    assert critical_path(E1A, "priority", 0.5, "as_printed").total_s == 9.5
    assert critical_path(E1B, "priority", 1.0, "as_printed").total_s == 19.0


@given(PROFILES)
def test_wait_free_is_what_an_event_simulation_gives(profile):
    assert critical_path(profile, "wait_free").total_s == simulate_wait_free(profile)


@given(PROFILES, st.integers(0, 4).map(float))
def test_priority_is_what_an_event_simulation_gives(profile, slice_s):
    assert critical_path(profile, "priority", slice_s).total_s == simulate_priority(
        profile, slice_s
    )


def test_closed_forms_are_what_simulations_give_on_3000_profiles():
    for profile, slice_s in random_profiles(3000):
        assert critical_path(profile, "wait_free").total_s == simulate_wait_free(profile)
        assert critical_path(profile, "priority", slice_s).total_s == simulate_priority(
            profile, slice_s
        )


@given(PROFILES)
def test_wait_free_is_lemma_1(profile):
    # The recursion TR(5)-(7), from the last layer down.
    b = [layer.bp_s for layer in profile]
    r = [layer.comm_s for layer in profile]
    N = len(profile)
    kappa, s = [0.0] * N, [0.0] * N
    kappa[-1], s[-1] = b[-1], b[-1] + r[-1]
    for j in reversed(range(N - 1)):
        kappa[j] = max(sum(b[j:]), kappa[j + 1] + r[j + 1])
        s[j] = max(kappa[j] + r[j], s[j + 1] + r[j + 1])
    total = s[0] + r[0] + sum(layer.fp_s for layer in profile)

    assert critical_path(profile, "wait_free").total_s == total


@given(PROFILES, st.integers(0, 4).map(float))
def test_lemma_2_as_printed_is_never_shorter(profile, slice_s):
    printed = critical_path(profile, "priority", slice_s, "as_printed").total_s

    assert printed >= critical_path(profile, "priority", slice_s).total_s


def test_lemma_2_as_printed_is_too_long_on_some_profiles():
    excess = [
        critical_path(profile, "priority", slice_s, "as_printed").total_s
        / critical_path(profile, "priority", slice_s).total_s
        for profile, slice_s in random_profiles(1000)
    ]

    assert 0.05 < np.mean(np.array(excess) > 1) < 0.5
    assert max(excess) > 1.5


def test_lemma_2_as_printed_is_slower_than_no_overlap_on_the_papers_ranges():
    rng = np.random.default_rng(0)
    profile = layers(
        rng.uniform(0.001, 0.3, 100), rng.uniform(0.001, 0.5, 100), rng.uniform(0.08, 0.5, 100)
    )
    sequential = critical_path(profile, "sequential").total_s

    assert critical_path(profile, "priority", 0.01, "as_printed").total_s > 2 * sequential
    assert critical_path(profile, "priority", 0.01).total_s < sequential
    assert overlap_fractions(profile, "priority", 0.01, "as_printed")[2] > 1


@given(PROFILES, st.sampled_from(["sequential", "wait_free", "priority"]))
def test_fractions_of_the_phases_add_up_to_the_iteration(profile, overlap):
    totals = (
        sum(layer.fp_s for layer in profile),
        sum(layer.bp_s for layer in profile),
        2 * sum(layer.comm_s for layer in profile),
    )
    eta = overlap_fractions(profile, overlap)
    path = critical_path(profile, overlap)

    assert sum(e * t for e, t in zip(eta, totals, strict=True)) == pytest.approx(path.total_s)
    assert all(0 <= e <= 1 for e in eta)


@given(PROFILES)
def test_overlap_never_takes_longer(profile):
    sequential = critical_path(profile, "sequential").total_s

    assert critical_path(profile, "wait_free").total_s <= sequential
    assert critical_path(profile, "priority").total_s <= critical_path(profile, "wait_free").total_s
