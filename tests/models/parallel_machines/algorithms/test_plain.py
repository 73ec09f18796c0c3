"""The fast list schedules are the printed ones."""

import numpy as np
import pytest

from gadgetopt.models.parallel_machines.algorithms import graham, plain

from ..brute_force import small_instance


@pytest.mark.parametrize("name", ["list_scheduling", "lpt"])
def test_the_fast_schedule_is_the_printed_one(name):
    for seed in range(150):
        instance = small_instance(np.random.default_rng(seed), most_jobs=12)
        assert getattr(graham, name)(instance).solution == getattr(plain, name)(instance)
