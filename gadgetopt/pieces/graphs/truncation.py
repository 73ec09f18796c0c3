r"""Dilworth truncation: cheapest families of disjoint node sets, found by minimum cuts.

For :math:`f(S) = c(\delta^-(S)) - p` we look for a partition, or a subpartition, of the nodes whose
sets have the least total f. The greedy algorithm takes the nodes in turn and gives node j the most

.. math:: x_j = \min_{j \in S \subseteq \{0..j\}} f(S) - x(S - j)

that keeps :math:`x(S) \le f(S)` for all S; for subpartitions at most 0. As f is submodular on sets
that intersect, sets that are tight, x(S) = f(S), stay so when united. In the end the tight sets are
the family and :math:`\sum_j x_j` is its cost.

A tight set can be treated as one node from then on: some best S holds all or nothing of it.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.pieces.graphs.flows import WORD_BITS, BigInts, dense_max_flow
from gadgetopt.search.clock import Clock

Family = list[list[int]]


def cheapest_family(
    capacity: BigInts, price: int, *, partition: bool, clock: Clock | None = None
) -> tuple[int, Family] | None:
    r"""Return the least :math:`\sum_Q (c(\delta^-(Q)) - p)` over families of disjoint sets.

    Parameters
    ----------
    capacity : integer ndarray, shape (n, n)
        Capacity from each node (row) to each (column).
    price : int
        p >= 0.
    partition : bool
        True if the sets must cover all nodes.
    clock : Clock, optional
        Of the run.

    Returns
    -------
    (int, list of lists of int), or None
        The cost and a family that has it; None if time was up first. At most n minimum cuts.
    """
    n = len(capacity)
    total = 2 * int(capacity.sum(dtype=object)) + n * price
    into = capacity.T.astype(np.int64 if total.bit_length() <= WORD_BITS else object)
    np.fill_diagonal(into, 0)
    nodes: list[int] = []  # one of each tight set, and the nodes in none
    members = {j: [j] for j in range(n)}
    x = np.zeros(n, dtype=into.dtype)
    tight = np.zeros(n, dtype=bool)
    for j in range(n):
        if clock is not None and clock.expired:
            return None
        old = np.array(nodes, dtype=np.int64)
        least, chosen = _cheapest_set(into, old, j, x[old])
        least -= price
        if not partition and least >= 0:
            nodes.append(j)
            continue
        x[j] = least
        tight[j] = True
        for u in old[chosen]:
            into[j] += into[u]
            into[:, j] += into[:, u]
            x[j] += x[u]
            members[j] += members.pop(int(u))
            nodes.remove(int(u))
        into[j, j] = 0
        nodes.append(j)
    return int(x[nodes].sum()), [sorted(members[j]) for j in nodes if tight[j]]


def _cheapest_set(into: BigInts, old: BigInts, j: int, x: BigInts) -> tuple[int, BigInts]:
    r"""Return the least :math:`c(\delta^-(S)) - x(S - j)` and which of `old` are in S with j.

    It is a minimum cut between j and a sink that stands for the nodes after j: an arc (u, v) costs
    if v is in S and u is not, :math:`x_u < 0` if u is in S, :math:`x_u > 0` if it is not.
    """
    later = into[:, j + 1 :].sum(axis=1)
    supply = into[j, old] + np.maximum(x, 0)
    demand = later[old] + np.maximum(-x, 0)
    value = int(later[j]) - int(np.maximum(x, 0).sum())
    # Flow over one node needs no algorithm, and often nothing else is possible.
    direct = np.minimum(supply, demand)
    value += int(direct.sum())
    supply -= direct
    demand -= direct
    if not supply.any():
        return value, np.zeros(len(old), dtype=bool)
    if not demand.any():
        return value, np.ones(len(old), dtype=bool)
    k = len(old)
    network = np.zeros((k + 2, k + 2), dtype=into.dtype)
    network[:k, :k] = into[np.ix_(old, old)]
    network[k, :k] = supply
    network[:k, k + 1] = demand
    flow = dense_max_flow(network, k, k + 1)
    return value + flow.value, flow.source_side()[:k]
