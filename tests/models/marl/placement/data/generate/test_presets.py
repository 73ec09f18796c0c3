"""Presets: jobs that fit together, on racks as asked for, the same for one seed."""

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.marl.placement.baselines.rules import by_rule
from gadgetopt.models.marl.placement.data.generate import presets
from gadgetopt.system.result import Limits

PRESETS = (
    presets.tiny,
    presets.quickstart,
    presets.paper,
    presets.single_rack,
    presets.leaf_spine,
    presets.fat_tree,
    presets.single_tasks,
)


@pytest.mark.parametrize("preset", PRESETS)
def test_all_jobs_fit_together(preset):
    for seed in range(3):
        instance = preset(np.random.default_rng(seed))
        gpus = sum(job.num_tasks * job.gpus_per_task for job in instance.jobs)
        assert gpus <= instance.total_gpus
        outcome = by_rule(instance, Limits(), np.random.default_rng(0), "pack", "big")
        assert outcome.solution is not None


@pytest.mark.parametrize("preset", PRESETS)
def test_one_seed_gives_one_instance(preset):
    assert preset(np.random.default_rng(7)) == preset(np.random.default_rng(7))


def test_a_fat_tree_has_as_many_servers_as_its_ports_say():
    instance = presets.fat_tree(np.random.default_rng(0), ports=6)
    assert (len(instance.servers), len(instance.racks)) == (54, 18)
    with pytest.raises(InputError, match="ports: 3, expected an even number"):
        presets.fat_tree(np.random.default_rng(0), ports=3)


def test_the_load_bounds_the_gpus_in_use():
    for load in (0.3, 0.6, 1.0):
        instance = presets.leaf_spine(np.random.default_rng(1), jobs=100, load=load)
        gpus = sum(job.num_tasks for job in instance.jobs)
        assert load * instance.total_gpus - 1 < gpus <= load * instance.total_gpus
