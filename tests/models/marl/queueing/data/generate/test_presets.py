"""Presets: valid instances that a queue finishes in time, the same for one seed."""

import numpy as np
import pytest

from gadgetopt.models.marl.queueing.data.generate import presets, topologies
from gadgetopt.models.marl.queueing.heuristics.order_search import order_search
from gadgetopt.system.result import Limits

PRESETS = (
    presets.tiny, presets.quickstart, presets.paper, presets.poisson,
    topologies.boards, topologies.fat_tree, topologies.vl2, topologies.bcube,
)  # fmt: skip


@pytest.mark.parametrize("preset", PRESETS)
def test_all_jobs_can_end_in_time(preset):
    for seed in range(5):
        instance = preset(np.random.default_rng(seed))
        assert instance.jobs
        rng = np.random.default_rng(0)
        assert order_search(instance, Limits(), rng, rounds=0).solution is not None


@pytest.mark.parametrize("preset", PRESETS)
def test_one_seed_gives_one_instance(preset):
    assert preset(np.random.default_rng(7)) == preset(np.random.default_rng(7))


def test_jobs_arrive_in_the_order_of_the_file():
    jobs = presets.poisson(np.random.default_rng(0), jobs=20, slots=60).jobs
    arrivals = [job.arrival_s for job in jobs]
    assert arrivals == sorted(arrivals)
    assert len(set(arrivals)) > 1
