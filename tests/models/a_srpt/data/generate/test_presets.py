"""Presets: what they promise of sizes, load and recurrence."""

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.a_srpt.data.generate import presets
from gadgetopt.models.a_srpt.data.generate.random_jobs import demand_ticks


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    ("preset", "load"),
    [("paper", 1.2), ("low_load", 0.5), ("overload", 3.0), ("recurring", 1.2), ("pool", 2.5)],
)
def test_releases_give_the_load_that_is_asked_for(preset, load):
    instance = getattr(presets, preset)(rng(), jobs=400)
    releases = instance.release_ticks
    assert (np.diff(releases) >= 0).all()
    # The last of n uniform releases is expected at n / (n + 1) of the span.
    assert demand_ticks(instance) / int(releases.max()) == pytest.approx(load, rel=0.05)


def test_jobs_of_the_paper_preset_are_within_the_ranges():
    instance = presets.paper(rng(), jobs=300)
    for job_type in instance.job_types:
        assert job_type.num_gpus <= 16
        assert set(job_type.replicas) <= {1, 2, 4}
        stages = len(job_type.replicas)
        assert job_type.pipeline_factor == 1 + (stages - 1) * type(job_type.pipeline_factor)(1, 4)
        assert 0.09 <= float(sum(job_type.stage_time_s)) <= 0.81
        assert 0.239 <= float(sum(job_type.gradient_gbytes)) <= 6.001
    assert all(50 <= job.num_iterations <= 20000 for job in instance.jobs)


def test_the_pool_has_one_server_and_no_communication():
    instance = presets.pool(rng(), jobs=50, templates=6)
    assert instance.gpus_per_server == (32,)
    assert (instance.min_ticks == instance.max_ticks).all()
    kinds = {(int(g), int(d)) for g, d in zip(instance.gpus, instance.min_ticks, strict=True)}
    assert len(kinds) <= 6
    assert max(d for _, d in kinds) <= 30


def test_recurring_jobs_share_type_and_user_and_repeat_their_work():
    instance = presets.recurring(rng(), jobs=600, groups=10)
    groups = {}
    for job in instance.jobs:
        if job.group_id >= 0:
            groups.setdefault(job.group_id, []).append(job)
    one_off = sum(job.group_id < 0 for job in instance.jobs) / 600
    assert one_off == pytest.approx(0.15, abs=0.05)
    assert len(groups) <= 10
    for jobs in groups.values():
        assert len({(job.job_type, job.user_id) for job in jobs}) == 1
        if len(jobs) > 20:
            work = np.log([job.num_iterations * job.batch_size for job in jobs])
            assert np.std(work) < 0.25


def test_quickstart_is_small_and_crosses_servers():
    instance = presets.quickstart(rng())
    assert len(instance.jobs) == 8
    assert instance.total_gpus == 12


@pytest.mark.parametrize(
    ("preset", "options", "line"),
    [
        ("paper", {"load": 0.0}, "load: 0, expected more than 0"),
        ("recurring", {"load": 0.0, "jobs": 3}, "load: 0, expected more than 0"),
        ("pool", {"templates": -1}, "templates: -1, expected 0 or more"),
        (
            "recurring",
            {"one_off_share": 2.0},
            "one_off_share: 2, expected a number between 0 and 1",
        ),
    ],
)
def test_impossible_options_are_answered_in_one_line(preset, options, line):
    with pytest.raises(InputError, match=f"^{line}$"):
        getattr(presets, preset)(rng(), **options)


def test_recurring_jobs_fit_a_cluster_of_one_server():
    instance = presets.recurring(rng(), jobs=20, servers=1, gpus_per_server=2)
    assert instance.gpus.max() <= 2
