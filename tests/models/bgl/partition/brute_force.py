"""Brute force over all partitions, and small random instances."""

import functools
import itertools
from collections import Counter

import numpy as np

from gadgetopt.models.bgl.partition.evaluate import evaluate
from gadgetopt.models.bgl.partition.instance import BglPartitionInstance, BglPartitionSolution
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import solve

TRIANGLES = ((0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3))


def instance_of(nodes=6, edges=TRIANGLES, train=(2, 5), parts=2, fanouts=(2, 2), **more):
    return BglPartitionInstance(
        num_nodes=nodes, edges=edges, train_nodes=train, num_parts=parts, fanouts=fanouts, **more
    )


def small_instance(rng):
    """Return an instance of 3 to 8 nodes for two or three parts, of every kind."""
    n = int(rng.integers(3, 9))
    directed = bool(rng.random() < 0.25)
    pairs = itertools.permutations(range(n), 2) if directed else itertools.combinations(range(n), 2)
    density = rng.uniform(0.2, 0.7) / (1 + directed)
    edges = tuple(pair for pair in pairs if rng.random() < density)
    train = rng.choice(n, int(rng.integers(1, n + 1)), replace=False)
    return instance_of(
        n,
        edges,
        tuple(sorted(train.tolist())),
        int(rng.integers(2, 4)),
        tuple(rng.integers(1, 4, size=int(rng.integers(1, 4))).tolist()),
        directed=directed,
        node_imbalance=float(rng.choice([0, 0, 0.25, 0.5])),
        train_imbalance=float(rng.choice([0, 0, 0.5])),
        weights="edge" if rng.random() < 0.2 else "requests",
    )


def partitions(nodes, parts):
    """Yield every partition once, its parts numbered in the order in which they are opened."""

    def extended(prefix, opened):
        if len(prefix) == nodes:
            yield prefix
            return
        for i in range(min(parts, opened + 1)):
            yield from extended((*prefix, i), max(opened, i + 1))

    yield from extended((), 0)


@functools.cache
def optimum(instance):
    """Return the least cost of a partition within the caps, by the evaluator."""
    costs = []
    for part in partitions(instance.num_nodes, instance.num_parts):
        if max(Counter(part).values()) > instance.node_cap:
            continue  # most are, and the evaluator would take longer to say so
        found = evaluate(instance, BglPartitionSolution(part=part))
        if found.feasible:
            costs.append(found.objective)
    return min(costs)


def run(instance, method, seed=0, time_s=60.0):
    """What the toolkit makes of a method, `name` or `name:key=value`, on an instance."""
    document = Document(problem("bgl_partition"), "instance", "test", instance)
    return solve(document, method, Limits(time_s=time_s), seed=seed)


INSTANCES = [small_instance(np.random.default_rng(seed)) for seed in range(300)]
