"""The fast GADGET, where it rounds as printed, is the printed one."""

import numpy as np
import pytest

from gadgetopt.models.gadget.algorithms import plain
from gadgetopt.models.gadget.algorithms.lp_rs_mde import algorithm_2, relax
from gadgetopt.models.gadget.algorithms.mapping_rounding import Sample, accepted
from gadgetopt.models.gadget.algorithms.temporal_greedy import temporal_greedy
from gadgetopt.models.gadget.data.generate.presets import graph, tiny
from gadgetopt.models.gadget.subproblems.schedule import as_solution
from gadgetopt.system.result import Limits

ATTEMPTS = 8


def fast(instance, rng):
    """Algorithm 1 with slots by Algorithm 2, as printed."""

    def solve(problem, rng, limits):
        if not problem.jobs:
            return []
        relaxed = relax(problem, limits, program="highs")
        if not any(relaxed.selection.sizes):
            return []
        return list(algorithm_2(problem, relaxed, ATTEMPTS, rng).mappings)

    terms = instance.terms
    return as_solution(terms, temporal_greedy(terms, solve, rng, Limits()))


def drawn(seed):
    rng = np.random.default_rng([38, seed])
    jobs, slots = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    if seed % 2:
        return graph(rng, jobs=jobs, servers=3, switches=1, horizon_slots=slots)
    servers, resources = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    return tiny(rng, jobs=jobs, servers=servers, horizon_slots=slots, resources=resources)


@pytest.mark.parametrize("block", range(6))
def test_the_fast_algorithm_takes_the_same_rings_as_the_printed_one(block):
    for seed in range(20 * block, 20 * (block + 1)):
        instance = drawn(seed)
        printed = plain.gadget(instance, np.random.default_rng(seed), ATTEMPTS)
        assert fast(instance, np.random.default_rng(seed)) == printed, seed


def test_each_resource_keeps_its_own_factor():
    # A draw may exceed the first resource as far as its beta goes, whatever that of the second.
    sample = Sample((), 1.0, (2.0, 1.0), 0.0)
    assert accepted([sample], 1.0, (2.5, 1.5), 1.0) is sample
    assert accepted([sample], 1.0, (1.5, 2.5), 1.0) is None
    assert sample.node_factor == sample.overload == 2
