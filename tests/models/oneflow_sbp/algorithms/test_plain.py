"""The fast pass and the fast search are the printed ones."""

import numpy as np
import pytest

from gadgetopt.models.oneflow_sbp.algorithms import plain
from gadgetopt.models.oneflow_sbp.algorithms.auto_parallel import auto_parallel
from gadgetopt.models.oneflow_sbp.algorithms.inference import signatures_of
from gadgetopt.models.oneflow_sbp.evaluate import evaluate
from gadgetopt.system.result import Limits

from ..brute_force import random_instance


@pytest.mark.parametrize("block", range(10))
def test_the_fast_pass_takes_the_same_signatures_as_the_printed_one(block):
    for seed in range(20 * block, 20 * (block + 1)):
        instance = random_instance(seed)
        assert signatures_of(instance, {})[0] == plain.compiler_greedy(instance)


@pytest.mark.parametrize("block", range(10))
def test_the_fast_search_takes_the_same_signatures_as_the_printed_one(block):
    for seed in range(20 * block, 20 * (block + 1)):
        instance = random_instance(seed, shared=False)
        printed = plain.auto_parallel(instance)
        fast = auto_parallel(instance, Limits(), np.random.default_rng(0))
        assert (fast.solution is None) == (printed is None), seed
        if printed is not None:
            values = [evaluate(instance, s).objective for s in (fast.solution, printed)]
            assert values[0] == values[1], seed
            assert fast.solution == printed, seed
