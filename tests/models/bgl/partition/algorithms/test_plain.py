"""The fast partition is the printed one."""

import numpy as np
import pytest

from gadgetopt.models.bgl.partition.algorithms import plain
from gadgetopt.models.bgl.partition.algorithms.bgl import scored
from gadgetopt.models.bgl.partition.instance import BglPartitionSolution

from ..brute_force import instance_of


@pytest.mark.parametrize("block", range(5))
def test_the_fast_algorithm_takes_the_same_parts_as_the_printed_one(block):
    """With the same sources; loads are not repaired, which the paper does not do."""
    for seed in range(40 * block, 40 * (block + 1)):
        rng = np.random.default_rng([38, seed])
        n, k = int(rng.integers(4, 40)), int(rng.integers(2, 5))
        density = float(rng.choice([0.03, 0.1, 0.3]))
        edges = tuple((u, v) for u in range(n) for v in range(u + 1, n) if rng.random() < density)
        train = tuple(v for v in range(n) if rng.random() < 0.5) or (0,)
        instance = instance_of(n, edges, train, parts=k, fanouts=(3, 3))
        cap, J = int(rng.integers(0, 9)), int(rng.integers(1, 4))
        printed = plain.bgl(instance, np.random.default_rng(seed), cap, J)
        draws = np.random.default_rng(seed)
        fast = BglPartitionSolution.of(scored(instance, draws, block_cap=cap, hops=J).tolist())
        assert fast == printed, seed
