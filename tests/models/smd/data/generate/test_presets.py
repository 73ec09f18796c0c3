"""Presets keep to the paper's ranges, and planted optima are optima."""

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.smd.data.generate.presets import (
    independent_limits,
    paper,
    planted,
    quickstart,
)
from gadgetopt.models.smd.subproblems.columns import chosen_columns
from gadgetopt.models.smd.subproblems.inner import (
    best_pair,
    continuous,
    largest_real_p,
    largest_real_w,
)


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("preset", [paper, independent_limits])
def test_demands_timing_and_utilities_are_in_the_printed_ranges(preset):
    instance = preset(rng(), jobs=200, sgd_mode="mixed")
    ranges = {
        "iterations": (50, 200),
        "model_size_mb": (30, 575),
        "ps_bandwidth_gbps": (5, 20),
        "overhead_per_worker_s": (3, 4),
        "overhead_per_ps_s": (0, 0.01),
    }
    for job in instance.jobs:
        for name, (low, high) in ranges.items():
            assert low <= getattr(job, name) <= high
        assert 0 <= job.worker_demand[0] <= 4
        assert job.ps_demand[0] == 0
        for demand in (job.worker_demand, job.ps_demand):
            assert 1 <= demand[1] <= 10
            assert 2 <= demand[2] <= 32
            assert 5 <= demand[3] <= 10
        assert 4 <= job.utility.gamma2 <= 6
        assert 1 <= job.utility.gamma3 <= 15
        bundle = (8, 36, 60, 40)
        counts = [v / b for v, b in zip(job.reservation_limit, bundle, strict=True)]
        assert all(c == int(c) and 1 <= c <= 20 for c in counts)
        assert preset is independent_limits or len(set(counts)) == 1


def test_most_literal_jobs_can_be_of_use_only_in_the_chosen_time_unit():
    # In hours few sync jobs could reach half of gamma_1; in days most do.
    jobs = paper(rng(), jobs=300).jobs
    times = [(job, best_pair(job)) for job in jobs]
    half = [job.utility.at(b.tau_s) >= job.utility.gamma1 / 2 for job, b in times if b]
    assert 0.7 < np.mean(half) < 0.9
    hours = [b.tau_s / 3600 <= job.utility.gamma3 for job, b in times if b]
    assert np.mean(hours) < 0.15


def test_jobs_with_an_overlap_carry_layers_and_are_faster():
    # The draws are the same, so that jobs differ in the overlap alone.
    plain, overlapped = (
        paper(rng(), jobs=5, overlap=overlap).jobs for overlap in ("sequential", "priority")
    )
    for job, faster in zip(plain, overlapped, strict=True):
        assert 10 <= len(faster.layers) <= 100
        assert not job.layers
        assert faster.completion_time.at(2, 2) < job.completion_time.at(2, 2)


def test_planted_sync_optima_are_inside_the_reservation():
    for job in planted(rng(), jobs=30).jobs:
        point = continuous(job)
        assert 1 <= point.p <= 1 + 0.6 * (largest_real_p(job) - 1) + 1e-6
        assert point.w <= 1 + 0.7 * (largest_real_w(job, point.p) - 1) + 1e-6
        tau, h = job.completion_time, 1e-5
        if point.w > 1 + h and point.p > 1 + h:
            up, down = tau.at(point.w + h, point.p), tau.at(point.w - h, point.p)
            assert abs(up - down) / (2 * h) < 1e-3
            up, down = tau.at(point.w, point.p + h), tau.at(point.w, point.p - h)
            assert abs(up - down) / (2 * h) < 1e-3


def test_every_planted_job_fits_and_is_of_use():
    instance = planted(rng(), jobs=40, sgd_mode="mixed")
    knapsack = chosen_columns(instance, [best_pair(job) for job in instance.jobs]).knapsack
    assert knapsack.num_items == 40


def test_capacity_is_in_cluster_units_or_instances():
    assert paper(rng(), jobs=1, cluster_units=2.0).capacity == (1200, 6800, 2800, 2400)
    assert paper(rng(), jobs=1, cluster_instances=1000).capacity == (8000, 36000, 60000, 40000)
    instance = independent_limits(rng(), jobs=10, tightness=0.5)
    total = np.sum([job.reservation_limit for job in instance.jobs], axis=0)
    assert instance.capacity == tuple(np.floor(total / 2))


def test_the_quickstart_has_room_for_some():
    instance = quickstart(rng())
    assert len(instance.jobs) == 6
    total = np.sum([job.reservation_limit for job in instance.jobs], axis=0)
    assert all(2 * c <= t for c, t in zip(instance.capacity, total, strict=True))


def test_unknown_names_are_turned_down():
    with pytest.raises(InputError, match="sgd_mode"):
        paper(rng(), jobs=1, sgd_mode="x")
    with pytest.raises(InputError, match="instance_type"):
        planted(rng(), jobs=1, instance_type="x")
