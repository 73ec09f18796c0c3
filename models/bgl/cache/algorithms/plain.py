r"""BGL's order of the training nodes and its cache, step by step.

Nothing here is fast. The paper's policy is recalled; how sequences are taken in turn and how the
shuffling error is measured is (reconstructed).

Letters, as in the paper: n training nodes, b nodes a mini-batch, w workers, r sequences, K the
cache's capacity. Requests are numbered as the training nodes.
"""

from __future__ import annotations

import math

import numpy as np

from ..instance import CacheInstance, CacheSolution, TrainingGraph


def bgl(
    instance: CacheInstance, rng: np.random.Generator, most_sequences: int = 10
) -> CacheSolution:
    """Return the proximity-aware order and what the first-in, first-out cache does on it.

    r is the least for which the shuffling error is below sqrt(b w) / n; if there is none, that of
    the least error.
    """
    graph = instance.graph
    assert graph is not None, "proximity is a property of the graph"
    n, b, w = len(graph.train_nodes), instance.batch_size, graph.workers
    found = []
    for r in range(1, most_sequences + 1):
        order = proximity_order(graph, r, rng)
        error = shuffling_error(graph, order, b, rng)
        found.append((error, order))
        if error <= math.sqrt(b * w) / n:
            return fifo(instance, order)
    return fifo(instance, min(found, key=lambda entry: entry[0])[1])


def proximity_order(graph: TrainingGraph, r: int, rng: np.random.Generator) -> list[int]:
    """Return the requests, taken round-robin from r shifted sequences, skipping used ones."""
    sequences = []
    for _ in range(r):
        sequence = traversal(graph, rng)
        offset = int(rng.integers(len(sequence)))
        # a circular shift by a random offset
        sequences.append(sequence[len(sequence) - offset :] + sequence[: len(sequence) - offset])
    order: list[int] = []
    while len(order) < len(graph.train_nodes):
        for sequence in sequences:
            unused = [t for t in sequence if t not in order]
            order += unused[:1]
    return order


def traversal(graph: TrainingGraph, rng: np.random.Generator) -> list[int]:
    """Return the training nodes in the order of a breadth-first traversal from a random root.

    Where a component ends it goes on from another random root.
    """
    near: list[set[int]] = [set() for _ in range(graph.num_nodes)]
    for u, v in graph.edges:
        near[u].add(v)
        near[v].add(u)
    visited: list[int] = []
    for root in rng.permutation(graph.num_nodes).tolist():
        if root in visited:
            continue
        queue = [root]
        for v in queue:
            queue += [u for u in sorted(near[v]) if u not in queue]
        visited += queue
    number = {node: t for t, node in enumerate(graph.train_nodes)}
    return [number[v] for v in visited if v in number]


def shuffling_error(
    graph: TrainingGraph, order: list[int], b: int, rng: np.random.Generator
) -> float:
    """Return how far the labels of mini-batches are from those of a uniform shuffle.

    The mean total-variation distance between a batch's labels and all labels, less the same of 20
    uniform shuffles: a random batch has some distance, too (reconstructed).
    """
    shuffles = [distance(graph, rng.permutation(len(order)).tolist(), b) for _ in range(20)]
    return max(0.0, distance(graph, order, b) - sum(shuffles) / len(shuffles))


def distance(graph: TrainingGraph, order: list[int], b: int) -> float:
    """Return the mean total-variation distance between the labels of a batch and all labels."""
    if graph.labels is None:
        return 0.0
    labels = [graph.labels[t] for t in order]
    batches = [labels[k : k + b] for k in range(0, len(labels), b)]
    total = 0.0
    for batch in batches:
        for label in set(labels):
            share = labels.count(label) / len(labels)
            total += abs(batch.count(label) / len(batch) - share) / 2
    return total / len(batches)


def fifo(instance: CacheInstance, order: list[int]) -> CacheSolution:
    """Return what leaves a first-in, first-out cache of K nodes after each mini-batch.

    Hits change nothing; the other nodes of a batch are loaded in ascending order.
    """
    K = instance.capacity
    cache: list[int] = []
    evicted: list[tuple[int, ...]] = []
    for batch in instance.batches(tuple(order)):
        gone = []
        for v in [v for v in batch if v not in cache]:
            cache.append(v)
            if len(cache) > K:
                gone.append(cache.pop(0))
        evicted.append(tuple(sorted(gone)))
    return CacheSolution(order=tuple(order), evicted=tuple(evicted[:-1]))
