"""The fast SJF-BCO is the printed one."""

from __future__ import annotations

import numpy as np
import pytest

from gadgetopt.models.sjf_bco.algorithms import plain
from gadgetopt.models.sjf_bco.algorithms.sjf_bco import sjf_bco
from gadgetopt.system.result import Limits

from .. import hand_checked
from ..random_instances import small_instance


@pytest.mark.parametrize("block", range(5))
def test_the_fast_algorithm_takes_the_same_schedule_as_the_printed_one(block: int) -> None:
    for seed in range(20 * block, 20 * (block + 1)):
        rng = np.random.default_rng([38, seed])
        instance = small_instance(rng, most_jobs=5, horizon=15)
        m, schedule = plain.sjf_bco(instance)
        fast = sjf_bco(instance, Limits())
        assert (fast.claimed_objective or instance.horizon_slots) == m
        if schedule is None:
            assert fast.solution is None
        else:
            stated = {"completion_slot": None, "gpu_ids": None}
            assert fast.solution is not None
            assert fast.solution.model_copy(update=stated) == schedule


def test_two_gangs_meet_on_the_middle_server() -> None:
    m, schedule = plain.sjf_bco(hand_checked.contention_pays())
    assert m == 3
    assert schedule is not None
    assert schedule.placement == ({0: 2, 1: 1}, {1: 1, 2: 2})
