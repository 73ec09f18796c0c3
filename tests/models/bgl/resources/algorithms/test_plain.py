"""The brute force that treats the store apart is the printed one."""

import numpy as np

from gadgetopt.models.bgl.resources.algorithms import plain
from gadgetopt.models.bgl.resources.algorithms.brute_force import brute_force
from gadgetopt.models.bgl.resources.evaluate import evaluate
from gadgetopt.system.result import Limits

from ..brute_force import small_instance


def test_the_fast_search_finds_the_time_of_the_printed_one():
    for seed in range(100):
        instance = small_instance(np.random.default_rng([38, seed]))
        printed = plain.brute_force(instance)
        fast = brute_force(instance, Limits()).solution
        if printed is None:
            assert fast is None
        else:
            assert evaluate(instance, printed).objective == evaluate(instance, fast).objective
