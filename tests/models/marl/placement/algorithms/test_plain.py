"""The fast learned scheduler is the printed one."""

import numpy as np
import pytest

from gadgetopt.models.marl.placement.algorithms import plain
from gadgetopt.models.marl.placement.algorithms.learned import learned
from gadgetopt.models.marl.placement.evaluate import evaluate
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits

PRESETS = {g.name: g for g in problem("marl_placement").generators}


@pytest.mark.parametrize("block", range(5))
def test_the_fast_scheduler_places_every_task_as_the_printed_one(block):
    for seed in range(24 * block, 24 * (block + 1)):
        rng = np.random.default_rng(seed)
        preset, jobs = ("leaf_spine", "tiny")[seed % 2], int(rng.integers(2, 9))
        instance = PRESETS[preset].generate(rng, jobs=jobs)
        agents = seed % 4
        printed = plain.marl(instance, agents=agents)
        fast = learned(instance, Limits(), agents=agents).solution
        assert fast == printed, seed
        assert printed is None or evaluate(instance, printed).feasible
