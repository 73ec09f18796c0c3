"""The method and the scheduler step by step make the same plans."""

import numpy as np
import pytest

from gadgetopt.models.marl.queueing.algorithms.learned import learned
from gadgetopt.models.marl.queueing.algorithms.plain import marl
from gadgetopt.models.marl.queueing.data.generate.presets import poisson
from gadgetopt.system.result import Limits


@pytest.mark.parametrize("agents", [0, 1, 3])
def test_the_method_makes_the_plans_of_the_steps(agents):
    for seed in range(6):
        instance = poisson(
            np.random.default_rng(seed), jobs=8, racks=2, servers_per_rack=2, slots=40
        )
        assert learned(instance, Limits(), agents=agents).solution == marl(instance, agents=agents)
