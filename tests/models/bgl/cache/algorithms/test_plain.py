"""The fast order and cache are the printed ones."""

import numpy as np
import pytest

from gadgetopt.models.bgl.cache.algorithms import plain
from gadgetopt.models.bgl.cache.algorithms.bgl import bgl
from gadgetopt.models.bgl.cache.instance import CacheInstance, TrainingGraph


def drawn(seed):
    """A graph in one or several components, labelled or not, and a neighbourhood per request."""
    rng = np.random.default_rng([38, seed])
    nodes = int(rng.integers(3, 30))
    edges = tuple(
        (u, v) for u in range(nodes) for v in range(u + 1, nodes) if rng.random() < 3 / nodes
    )
    train = rng.permutation(nodes)[: int(rng.integers(1, nodes + 1))].tolist()
    labels = tuple(rng.integers(0, 3, len(train)).tolist()) if rng.random() < 0.8 else None
    near = {t: {t, *(b if a == t else a for a, b in edges if t in (a, b))} for t in train}
    return CacheInstance(
        requests=tuple(tuple(sorted(near[t])) for t in train),
        capacity=int(rng.integers(0, nodes)),
        order="free",
        batch_size=int(rng.integers(1, 5)),
        graph=TrainingGraph(
            num_nodes=nodes,
            edges=edges,
            train_nodes=tuple(train),
            labels=labels,
            workers=int(rng.integers(1, 3)),
        ),
    )


@pytest.mark.parametrize("block", range(5))
def test_the_fast_algorithm_takes_the_same_order_and_evictions_as_the_printed_one(block):
    for seed in range(24 * block, 24 * (block + 1)):
        instance = drawn(seed)
        printed = plain.bgl(instance, np.random.default_rng(seed))
        fast = bgl(instance, np.random.default_rng(seed)).solution
        assert fast == printed
