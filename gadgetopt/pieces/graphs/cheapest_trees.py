"""Costs of cheapest arborescences and Steiner trees of every root, in integers of any size.

For an out-tree rooted at r and any family of node sets X with weights z, no arc of which is entered
by more weight than it costs, the tree costs at least the weight of the sets without r: it enters
each of them. The contractions of Chu-Liu and Edmonds, carried on until one node is left, give such
a family that does not depend on the root, and for every root it is tight. One run therefore prices
the trees of all roots. It shares no code with `arborescence`, so that each can check the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

#: Integers of any size: dtype int64 where no sum can overflow, else object.
Integers = npt.NDArray[Any]

#: Largest number of terminals for which cheapest Steiner trees are computed; the work is 3^N.
#: Tuned: `benchmarks/constants.py`.
MOST_TERMINALS = 10


def rooted_tree_costs(
    num_terminals: int,
    num_nodes: int,
    arcs: Sequence[tuple[int, int]],
    costs: Sequence[int],
    through: Sequence[int] | None = None,
) -> list[int | None]:
    """Return the cost of a cheapest out-tree from each terminal to all others; None if none is.

    Parameters
    ----------
    num_terminals, num_nodes : int
        Nodes 0..num_terminals-1 are terminals.
    arcs : sequence of (tail, head)
        Each at most once.
    costs : sequence of int
        Non-negative.
    through : sequence of int, optional
        Nodes that paths between terminals may run through, once for every path. Without it, any
        node may be in the tree, once for all.
    """
    matrix, missing = cost_matrix(num_nodes, arcs, costs)
    if through is None:
        found = steiner_costs(matrix, num_terminals, missing)
    else:
        between = closure(matrix, through, missing)[:num_terminals, :num_terminals]
        found = arborescence_costs(between)
    return [None if cost >= missing else cost for cost in found]


def cost_matrix(
    num_nodes: int, arcs: Sequence[tuple[int, int]], costs: Sequence[int]
) -> tuple[Integers, int]:
    """Return the matrix of arc costs, and the cost that stands for "no arc".

    Parameters
    ----------
    arcs : sequence of (tail, head)
        Each at most once.
    costs : sequence of int
        Non-negative.

    Returns
    -------
    matrix : ndarray of shape (num_nodes, num_nodes)
    missing : int
        More than any tree costs, so whatever costs that much or more does not exist.
    """
    missing = 2 * num_nodes * (max(costs, default=0) + 1)
    dtype = np.int64 if 4 * missing < 2**62 else object
    matrix = np.full((num_nodes, num_nodes), missing, dtype=dtype)
    for (u, v), cost in zip(arcs, costs, strict=True):
        matrix[u, v] = cost
    return matrix, missing


def closure(matrix: Integers, through: Sequence[int], missing: int) -> Integers:
    """Return the costs of the cheapest paths whose interior nodes are all in `through`."""
    cost = matrix.copy()
    for k in through:
        cost = np.minimum(cost, np.minimum(cost[:, k, None] + cost[None, k, :], missing))
    return cost


def arborescence_costs(cost: Integers) -> list[int]:
    """Return the cost of a cheapest spanning out-arborescence for each root.

    Parameters
    ----------
    cost : ndarray of shape (n, n)
        Non-negative integers; the diagonal is ignored.

    Notes
    -----
    A path of cheapest entering arcs is grown backwards. Where it meets itself the cycle becomes
    one node; what a node's cheapest entering arc costs is its set's weight z, and is taken off all
    arcs that enter it. At most 2n - 1 steps of O(n) on the matrix.
    """
    n = len(cost)
    left = cost.copy()
    members = [[v] for v in range(n)]
    present = np.ones(n, dtype=bool)
    containing = [0] * n  # weight of the sets that contain a node
    total = 0
    path, position = [0], {0: 0}
    while present.sum() > 1:
        v = path[-1]
        present[v] = False
        others = np.flatnonzero(present)
        present[v] = True
        u = int(others[np.argmin(left[others, v])])
        z = int(left[u, v])
        left[others, v] -= z
        total += z
        for w in members[v]:
            containing[w] += z
        if u not in position:
            position[u] = len(path)
            path.append(u)
            continue
        cycle = path[position[u] :]
        left[u, :] = left[cycle, :].min(axis=0)
        left[:, u] = left[:, cycle].min(axis=1)
        for w in cycle[1:]:
            present[w] = False
            members[u] += members[w]
            del position[w]
        del path[position[u] + 1 :]
    return [total - containing[r] for r in range(n)]


def steiner_costs(matrix: Integers, terminals: int, missing: int) -> list[int]:
    """Return the cost of a cheapest out-tree from each terminal to all others (Dreyfus-Wagner).

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Arc costs.
    terminals : int
        Nodes 0..terminals-1 must be in the tree, the others may be.
    """
    n = len(matrix)
    path = closure(matrix, range(n), missing)
    np.fill_diagonal(path, 0)
    cheapest: dict[int, Integers] = {}  # per set of terminals: cost of a tree from each node to it
    for subset in range(1, 1 << terminals):
        lowest = subset & -subset
        if subset == lowest:
            cheapest[subset] = path[:, lowest.bit_length() - 1]
            continue
        split = np.full(n, missing, dtype=matrix.dtype)
        part = (subset - 1) & subset
        while part:
            if part & lowest:  # each split once
                split = np.minimum(split, cheapest[part] + cheapest[subset ^ part])
            part = (part - 1) & subset
        cheapest[subset] = np.minimum((path + split[None, :]).min(axis=1), missing)
    everyone = (1 << terminals) - 1
    return [int(cheapest[everyone ^ (1 << r)][r]) for r in range(terminals)]
