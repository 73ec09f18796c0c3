r"""A bound by prices, where the groups of training nodes that fit into a part can be listed.

A part is a group G of at most :math:`C_T` training nodes with at most :math:`C - |G|` other nodes,
and node u of these keeps its weight :math:`m_{uG}` to the group. With prices
:math:`\lambda_u \ge 0` of the other nodes and :math:`\pi_t` of the training nodes, what k parts
keep is at most

.. math::
    \sum_u \lambda_u + \sum_t \pi_t + k \max_G \Bigl(q(G) - \sum_{t \in G} \pi_t
    + \max_{|U| \le C - |G|} \sum_{u \in U} (m_{uG} - \lambda_u)\Bigr),

with q(G) the weight inside the group; the maximum is over all groups, the empty one too. All
numbers are whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.system.data import Data, NonNegativeInt

from ...instance import BglPartitionInstance

#: Groups of training nodes, and these times the other nodes, of a check.
#: Tuned: `benchmarks/constants.py`.
MOST_GROUPS, MOST_PRICED = 200_000, 10**8
#: Groups whose weights are computed at once. Tuned: `benchmarks/constants.py`.
CHUNK = 2_000


class GroupPrices(Data):
    """Prices in scaled weights.

    Attributes
    ----------
    others : tuple of int
        Of the nodes in ascending order that are no training nodes and have weight.
    trained : tuple of int
        Of the training nodes in ascending order.
    """

    kind: Literal["group_prices"] = "group_prices"
    others: tuple[NonNegativeInt, ...]
    trained: tuple[int, ...]


class GroupWeights:
    """Scaled weights of all groups of training nodes that fit into a part.

    Raises
    ------
    ValueError
        If a pair has no training node, or there are too many groups.
    """

    def __init__(self, instance: BglPartitionInstance):
        self.trained: list[int] = sorted(instance.train_nodes)
        number = {v: i for i, v in enumerate(self.trained)}
        self.cap: int = min(instance.train_cap, instance.node_cap, len(number))
        self.node_cap: int = instance.node_cap
        pairs = instance.pair_weights
        ends = [*zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)]
        if any(a not in number and b not in number for a, b in ends):
            raise ValueError("group_prices: a pair without a training node")
        others = sorted({v for pair in ends for v in pair if v not in number})
        groups = sum(comb(len(number), size) for size in range(1, self.cap + 1))
        if groups > MOST_GROUPS or groups * max(1, len(others)) > MOST_PRICED:
            raise ValueError(f"group_prices: {groups} groups of training nodes are too many")
        row = {v: i for i, v in enumerate(others)}
        self.among: Ints = np.zeros((len(number), len(number)), dtype=np.int64)
        self.of_others: Ints = np.zeros((len(others), len(number)), dtype=np.int64)
        for (a, b), weight in zip(ends, pairs.scaled.tolist(), strict=True):
            if a in number and b in number:
                self.among[number[a], number[b]] = self.among[number[b], number[a]] = weight
            else:
                u, t = (a, b) if b in number else (b, a)
                self.of_others[row[u], number[t]] = weight

    def groups(self) -> Iterator[Ints]:
        """Yield all groups but the empty one, some of one size at a time, a row each."""
        for size in range(1, self.cap + 1):
            some: list[tuple[int, ...]] = []
            for group in combinations(range(len(self.trained)), size):
                some.append(group)
                if len(some) == CHUNK:
                    yield np.array(some, dtype=np.int64)
                    some = []
            if some:
                yield np.array(some, dtype=np.int64)

    def inside(self, groups: Ints) -> Ints:
        """Return the weight inside groups."""
        twice: Ints = self.among[groups[:, :, None], groups[:, None, :]].sum(axis=(1, 2))
        return twice // 2

    def kept(self, groups: Ints) -> Ints:
        """Return the weight of every other node to groups, shape (groups, others)."""
        kept: Ints = self.of_others[:, groups].sum(axis=2).T
        return kept


def group_bound(instance: BglPartitionInstance, proof: GroupPrices) -> int:
    """Return the lower bound on the scaled cost that prices prove.

    Raises
    ------
    ValueError
        If there is not a price for every node, or there are too many groups.
    """
    weights = GroupWeights(instance)
    if len(proof.others) != len(weights.of_others) or len(proof.trained) != len(weights.trained):
        raise ValueError(
            f"others, trained: expected {len(weights.of_others)} and {len(weights.trained)} prices"
        )
    if sum(map(abs, (*proof.others, *proof.trained))) > 2**60:
        raise ValueError("others, trained: prices of more than 60 binary digits")
    others = np.array(proof.others, dtype=np.int64)
    trained = np.array(proof.trained, dtype=np.int64)
    best = 0
    for groups in weights.groups():
        # All weights together are below 2^62, so no sum is beyond 64 bits.
        gain = np.maximum(weights.kept(groups) - others, 0)
        room = weights.node_cap - groups.shape[1]
        if room < gain.shape[1]:
            gain = np.sort(gain, axis=1)[:, gain.shape[1] - room :]
        worth = gain.sum(axis=1) + weights.inside(groups) - trained[groups].sum(axis=1)
        best = max(best, int(worth.max()))
    kept = sum(proof.others) + sum(proof.trained) + instance.used_parts * best
    return int(instance.pair_weights.scaled.sum()) - kept
