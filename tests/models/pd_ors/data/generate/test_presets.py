"""Presets: the settings of the experiments, and instances with the properties they promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.errors import InputError
from gadgetopt.models.pd_ors.data.generate.presets import (
    desk,
    online,
    paper,
    quickstart,
    tiny,
)


def rng(seed=0):
    return np.random.default_rng(seed)


def test_jobs_and_machines_are_in_the_ranges_of_the_settings():
    instance = paper(rng(), jobs=300)
    assert len(instance.machines) == 100
    assert instance.machines[0].capacity == (36.0, 99.0, 306.0, 135.0)
    ranges = {
        "epochs": (50, 200),
        "samples": (20_000, 500_000),
        "gradient_gbit": (0.24, 4.6),
        "sample_time_slots": (1e-5, 1e-4),
        "worker_ps_ratio": (1, 10),
        "global_batch": (1, 200),
        "bandwidth_external_gbps": (0.1, 5),
        "bandwidth_internal_gbps": (50, 50),
    }
    for job in instance.jobs:
        for name, (low, high) in ranges.items():
            assert low <= getattr(job, name) <= high
        assert 0 <= job.worker_demand[0] <= 4
        assert job.ps_demand[0] == 0
        assert 1 <= job.utility.theta1 <= 100
        assert 1 <= job.utility.theta3 <= 15


def test_utilities_are_of_three_classes_in_their_proportions():
    steep = np.array([job.utility.theta2 for job in paper(rng(), jobs=2000).jobs])
    assert abs((steep == 0).mean() - 0.10) < 0.03
    assert abs((steep >= 4).mean() - 0.35) < 0.03
    assert not ((steep > 1) & (steep < 4)).any()


def test_alternating_arrivals_are_twice_as_likely_in_even_slots_and_come_in_order():
    slots = np.array([job.arrival_slot for job in paper(rng(), jobs=3000).jobs])
    assert (np.diff(slots) >= 0).all()
    assert abs((slots % 2 == 0).mean() - 2 / 3) < 0.03
    level = [job.arrival_slot for job in paper(rng(), jobs=3000, arrivals="poisson").jobs]
    assert abs((np.array(level) % 2 == 0).mean() - 1 / 2) < 0.03


def test_few_jobs_of_the_settings_can_finish_at_all_and_most_of_shorter_ones():
    def possible(instance):
        return sum(job.earliest is not None for job in instance.terms.jobs)

    assert 5 <= possible(paper(rng())) <= 15
    assert possible(online(rng())) >= 35


def test_at_equal_bandwidths_locality_has_no_value():
    instance = paper(rng(), jobs=20, bandwidth_ratio=1.0)
    assert all(job.sigma == 1 for job in instance.terms.jobs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"arrivals": "google"}, "arrivals: 'google'"),
        ({"critical": 0.95}, "expected parts of 1"),
        ({"bandwidth_ratio": 0.5}, "expected at least 1"),
    ],
)
def test_an_option_that_cannot_be_used_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        paper(rng(), **options)


@given(seed=st.integers(0, 10**6))
def test_every_job_of_a_small_cluster_can_finish_alone_and_not_all_together(seed):
    for preset in (desk, quickstart):
        instance = preset(rng(seed))
        assert all(job.work >= 1 for job in instance.terms.jobs)
        assert all(job.most_progress > 0 for job in instance.terms.jobs)
        assert all(1 <= job.sigma <= 4 for job in instance.terms.jobs)


@given(seed=st.integers(0, 10**6), resources=st.integers(1, 3))
def test_tiny_jobs_have_speeds_that_are_simple_fractions(seed, resources):
    instance = tiny(rng(seed), resources=resources)
    for job in instance.terms.jobs:
        assert job.sigma >= 1
        assert job.sigma.denominator <= 1000
        assert job.utility.max() > 0
        assert (job.alpha.sum(), job.beta.sum()) > (0, 0)
