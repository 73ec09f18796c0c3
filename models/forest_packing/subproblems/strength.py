r"""The tree-packing number of a symmetric network and the partition that attains it.

Algorithm A4. By the theorem of Tutte and Nash-Williams (T1) an allreduce with overlapping stages on
a symmetric network without switches has the optimal rate

.. math:: \tau = \min_P \frac{\mathrm{cross}(P)}{|P| - 1} \tag{F6}

over the partitions P of the workers in two parts or more, cross(P) being the capacity of one
direction of the cables between parts. This minimum of a ratio is found by Dinkelbach's method. For
a value :math:`\lambda` it needs a partition of least :math:`2 (\mathrm{cross}(P) - \lambda |P|)`, a
sum over the parts of :math:`c(\delta^-(Q)) - 2 \lambda`: see `truncation`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from gadgetopt.pieces.graphs.flows import BigInts, wide_integers
from gadgetopt.pieces.graphs.truncation import Family, cheapest_family
from gadgetopt.search.clock import Clock

from ..network import Network


class Strength(NamedTuple):
    """The tree-packing number with a partition that attains it.

    `rounds` counts the partitions tried. `proved` is False if time ran out: then the value is an
    upper bound.
    """

    value: Fraction
    parts: Family
    rounds: int
    proved: bool


def tree_packing_number(capacity: BigInts, clock: Clock | None = None) -> Strength:
    r"""Return :math:`\min_P \mathrm{cross}(P) / (|P| - 1)` and a partition that attains it (A4).

    Starting with single nodes, the parts that the greedy algorithm finds become the nodes of the
    next round: as :math:`\lambda` falls the best partitions only become coarser. Every round is at
    most n minimum cuts and there are at most n - 1 rounds, in practice one to four.

    Parameters
    ----------
    capacity : integer ndarray, shape (n, n)
        Symmetric; capacity of one direction between every two of n >= 2 nodes.
    clock : Clock, optional
        Of the run.
    """
    n = len(capacity)
    capacity = wide_integers(capacity)
    count, labels = connected_components(csr_array(capacity != 0), directed=False)
    if count > 1:
        return Strength(Fraction(0), _members(labels, count), 0, True)
    parts: Family = [[v] for v in range(n)]
    rounds = 0
    while True:
        rounds += 1
        k = len(parts)
        lam = Fraction(int(np.triu(capacity, 1).sum(dtype=object)), k - 1)
        scaled = wide_integers(capacity.astype(object) * lam.denominator)
        found = cheapest_family(scaled, 2 * lam.numerator, partition=True, clock=clock)
        if found is None or found[0] >= -2 * lam.numerator:
            return Strength(lam, parts, rounds, found is not None)
        _, blocks = found
        parts = [sorted(v for b in block for v in parts[b]) for block in blocks]
        inside = np.zeros((k, len(blocks)), dtype=capacity.dtype)
        for i, block in enumerate(blocks):
            inside[block, i] = 1
        capacity = inside.T @ capacity @ inside
        np.fill_diagonal(capacity, 0)


def capacity_matrix(network: Network) -> BigInts:
    """Return the capacity between every two nodes in units, shape (nodes, nodes)."""
    capacity = wide_integers(network.int_capacity)
    matrix = np.zeros((network.num_nodes, network.num_nodes), dtype=capacity.dtype)
    matrix[network.tails, network.heads] = capacity
    return matrix


def _members(labels: BigInts, count: int) -> Family:
    return [np.flatnonzero(labels == i).tolist() for i in range(count)]
