r"""Proximity-aware orders of training nodes, and how far they are from a uniform shuffle.

r breadth-first traversals of the graph start at random roots, each going on at a random node where
a component ends, and keep the training nodes only. Every sequence is shifted circularly by a
random offset, and a mini-batch takes nodes from the sequences in turn, skipping those that are
used already. (Recalled from the paper; the rotation among sequences is reconstructed.)

The *shuffling error* of an order is the total-variation distance between the labels of a mini-batch
and those of all training nodes, meaned over the batches, less the same of a uniform shuffle: a
random batch has some distance, too (reconstructed).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Ints

from ..instance import CacheInstance, TrainingGraph

#: Sequences that are tried at most, if their number is to be found.
#: Tuned: `benchmarks/constants.py`.
MOST_SEQUENCES = 10
#: Uniform shuffles whose mean distance is taken off. Tuned: `benchmarks/constants.py`.
_SHUFFLES = 20


def graph_of(instance: CacheInstance) -> TrainingGraph:
    """Return the graph of an instance whose order is free.

    Raises
    ------
    ModelRefused
        If it has none, or the order is given.
    """
    if instance.graph is None:
        raise ModelRefused("graph: missing, but proximity is taken from it")
    if instance.order == "given":
        raise ModelRefused("order: the instance fixes it, so it cannot be chosen by proximity")
    return instance.graph


def adjacency(graph: TrainingGraph) -> csr_array:
    """Return the symmetric adjacency matrix."""
    ends = np.array(graph.edges, dtype=np.int64).reshape(-1, 2)
    both = np.concatenate([ends, ends[:, ::-1]])
    shape = (graph.num_nodes, graph.num_nodes)
    return csr_array((np.ones(len(both), dtype=np.int8), (both[:, 0], both[:, 1])), shape=shape)


class Proximity:
    """Breadth-first sequences of the training nodes of a graph.

    Parameters
    ----------
    graph : TrainingGraph
    batch_size : int
    """

    batch_size: int
    graph: TrainingGraph
    component: npt.NDArray[np.int32]

    def __init__(self, graph: TrainingGraph, batch_size: int):
        self.graph, self.batch_size = graph, batch_size
        self.matrix: csr_array = adjacency(graph)
        _, self.component = connected_components(self.matrix, directed=False)
        self.request: Ints = np.full(graph.num_nodes, -1)
        self.request[list(graph.train_nodes)] = np.arange(len(graph.train_nodes))

    def sequence(self, rng: np.random.Generator) -> Ints:
        """Return the requests in the order of one traversal. O(nodes + edges)."""
        by_chance = rng.permutation(self.graph.num_nodes)
        seen = np.zeros(int(self.component.max()) + 1, dtype=bool)
        visited = []
        for root in by_chance[np.sort(np.unique(self.component[by_chance], return_index=True)[1])]:
            if not seen[self.component[root]]:
                seen[self.component[root]] = True
                found = breadth_first_order(
                    self.matrix, int(root), directed=False, return_predecessors=False
                )
                visited.append(found)
        requests = self.request[np.concatenate(visited)]
        return requests[requests >= 0]

    def order(self, sequences: int, rng: np.random.Generator) -> list[int]:
        """Return the requests, taken from so many shifted sequences in turn."""
        shifted = []
        for _ in range(sequences):
            found = self.sequence(rng)
            shifted.append(np.roll(found, int(rng.integers(len(found)))).tolist())
        used = [False] * len(self.graph.train_nodes)
        at, order = [0] * sequences, []  # type: list[int], list[int]
        while len(order) < len(used):
            for k, requests in enumerate(shifted):
                while at[k] < len(requests) and used[requests[at[k]]]:
                    at[k] += 1
                if at[k] < len(requests):
                    used[requests[at[k]]] = True
                    order.append(requests[at[k]])
        return order

    def shuffling_error(self, order: Sequence[int], rng: np.random.Generator) -> float:
        """Return the shuffling error of an order, from 0 to 1."""
        n = len(order)
        shuffled = [self._distance(rng.permutation(n)) for _ in range(_SHUFFLES)]
        return max(0.0, self._distance(np.array(order)) - float(np.mean(shuffled)))

    def _distance(self, order: Ints) -> float:
        """Return the mean total-variation distance of the batches' labels from all labels."""
        if self.graph.labels is None:
            return 0.0
        classes, label = np.unique(self.graph.labels, return_inverse=True)
        batch = np.arange(len(order)) // self.batch_size
        table = np.zeros((int(batch[-1]) + 1, len(classes)))
        np.add.at(table, (batch, label[order]), 1.0)
        share = np.bincount(label) / len(label)
        part = table / table.sum(axis=1, keepdims=True)
        return float(np.abs(part - share).sum(axis=1).mean() / 2)

    def allowed_error(self) -> float:
        r"""Return :math:`\sqrt{bw} / n`, the shuffling error below which training converges."""
        n = len(self.graph.train_nodes)
        return math.sqrt(self.batch_size * self.graph.workers) / n


def proximity_order(
    instance: CacheInstance,
    rng: np.random.Generator,
    sequences: int = 0,
    most_sequences: int = MOST_SEQUENCES,
    tolerance: float = 1.0,
) -> tuple[list[int], dict[str, Any]]:
    r"""Return the proximity-aware order of an instance, and notes on it.

    Parameters
    ----------
    sequences, most_sequences : int
        How many sequences; 0: the fewest, at most so many, whose shuffling error is allowed.
    tolerance : float
        Times :math:`\sqrt{bw} / n`, the error that is allowed.

    Raises
    ------
    ModelRefused
        If there is no graph, or the order is given.
    """
    proximity = Proximity(graph_of(instance), instance.batch_size)
    if sequences > 0:
        order = proximity.order(sequences, rng)
        error = proximity.shuffling_error(order, rng)
    else:
        allowed = tolerance * proximity.allowed_error()
        order, sequences, error = fewest_sequences(proximity, most_sequences, allowed, rng)
    return order, {"sequences": sequences, "shuffling_error": error}


def fewest_sequences(
    proximity: Proximity, most: int, tolerance: float, rng: np.random.Generator
) -> tuple[list[int], int, float]:
    """Return an order of the fewest sequences whose shuffling error is within a tolerance.

    Returns
    -------
    order, sequences, error
        If none is, those of the least error.
    """
    best: tuple[list[int], int, float] | None = None
    for sequences in range(1, most + 1):
        order = proximity.order(sequences, rng)
        error = proximity.shuffling_error(order, rng)
        if best is None or error < best[2]:
            best = (order, sequences, error)
        if error <= tolerance:
            break
    assert best is not None, "most is at least 1"
    return best
