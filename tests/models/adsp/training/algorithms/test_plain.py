"""The fast ADSP is the printed one."""

import pytest

from gadgetopt.models.adsp.training.algorithms import plain
from gadgetopt.models.adsp.training.instance import Adsp
from gadgetopt.models.adsp.training.simulator import simulate

from ..random_instances import random_instance


@pytest.mark.parametrize("seed", range(120))
def test_the_fast_algorithm_evaluates_the_same_rates_and_ends_at_the_same_time(seed):
    instance = random_instance(seed)
    printed = plain.adsp(instance)
    fast = simulate(instance, Adsp())
    assert (fast.time_s if fast.converged else None) == printed.time_s
    assert fast.notes["rates"] == printed.rates
    assert fast.commits == printed.c
