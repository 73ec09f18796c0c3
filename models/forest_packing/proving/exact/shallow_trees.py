r"""Cheapest arborescences of at most a given height, by dynamic programming over sets.

Pricing of F8f. The problem is NP-hard; this is exact in :math:`O(3^N H)`. With the nodes in S
reached and h levels left, the next level D is attached to the cheapest node reached,

.. math:: F_0(V) = 0, \qquad
          F_h(S) = \min_{D \subseteq V \setminus S} \Big( \sum_{v \in D} \min_{u \in S} c_{uv}
          + F_{h-1}(S \cup D) \Big),

and :math:`F_h(\{r\})` is the cost of a cheapest out-arborescence from r of height at most h.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints

#: 3^12 pairs of sets take about 10 MB. Tuned: `benchmarks/constants.py`.
MOST_NODES = 12


class ShallowTrees:
    """The sets and levels of N nodes, for many costs.

    Parameters
    ----------
    num_nodes : int
        N, at most `MOST_NODES`.
    """

    def __init__(self, num_nodes: int):
        self.N = num_nodes
        self.full: int = 2**num_nodes - 1

    @cached_property
    def _levels(self) -> tuple[Ints, Ints, Ints]:
        """All pairs of a set S and a D outside it: first index of each S, all D, all unions."""
        starts, levels = [0], []
        for S in range(1, self.full + 1):
            outside = np.zeros(1, dtype=np.int64)
            for v in range(self.N):
                if not S >> v & 1:
                    outside = np.concatenate((outside, outside | 1 << v))
            levels.append(outside)
            starts.append(starts[-1] + len(outside))
        D = np.concatenate(levels)
        sets = np.repeat(np.arange(1, self.full + 1), np.diff(starts))
        return np.array(starts[:-1]), D, sets | D

    def solve(self, cost: Floats, height: int) -> Solution:
        """Solve for all roots and all heights up to `height`.

        Parameters
        ----------
        cost : ndarray, shape (N, N)
            c_uv of the arc from u to v; infinite where there is none. Costs that are integers below
            2^53 in sum are added without error.
        height : int
        """
        starts, D, union = self._levels
        nearest = np.full((self.full + 1, self.N), np.inf)
        for u in range(self.N):
            np.minimum(nearest[: 1 << u], cost[u], out=nearest[1 << u : 2 << u])
        S = np.repeat(np.arange(1, self.full + 1), np.diff([*starts, len(D)]))
        attach = np.zeros(len(D))
        for v in range(self.N):
            among = np.flatnonzero(D >> v & 1)
            attach[among] += nearest[S[among], v]
        F = np.full((height + 1, self.full + 1), np.inf)
        F[0, self.full] = 0.0
        for h in range(1, height + 1):
            F[h, 1:] = np.minimum.reduceat(attach + F[h - 1, union], starts)
        return Solution(self, cost, attach, F)


class Solution:
    """Cheapest trees for one cost matrix.

    Attributes
    ----------
    cost_of : ndarray, shape (heights + 1, N)
        Cost of a cheapest out-arborescence of at most each height from each root.
    """

    def __init__(self, trees: ShallowTrees, cost: Floats, attach: Floats, F: Floats):
        self._trees, self._cost, self._attach, self._F = trees, cost, attach, F
        self.cost_of: Floats = F[:, 1 << np.arange(trees.N)]

    def tree(self, root: int, height: int) -> list[tuple[int, int]]:
        """Return the arcs (parent, child) of a cheapest tree; its cost has to be finite."""
        starts, D, union = self._trees._levels
        reached, arcs = 1 << root, []
        for h in range(height, 0, -1):
            begin = starts[reached - 1]
            end = starts[reached] if reached < len(starts) else len(D)
            best = begin + int(
                (self._attach[begin:end] + self._F[h - 1, union[begin:end]]).argmin()
            )
            inside = [u for u in range(self._trees.N) if reached >> u & 1]
            level = [v for v in range(self._trees.N) if D[best] >> v & 1]
            arcs += [(inside[int(self._cost[inside, v].argmin())], v) for v in level]
            reached = int(union[best])
        return arcs
