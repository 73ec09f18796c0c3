r"""Separation of cuts: node sets that receive less than the rate.

Rows (F3). Broadcast loads g and root rates w carry the rate R to every worker if and only if

.. math:: g(\delta^-(Q)) + w(Q) \ge R \qquad \forall Q,\ Q \cap W \ne \emptyset

that is if the maximum flow from a super-source with arcs of capacity :math:`w_r` is R or more to
every worker. Workers that have been checked join the source: a set with one of them is known
to be satisfied, so their arcs may be fed without limit. After the first few workers the
others need no maximum flow, as paths of two arcs from the source already carry enough.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.pieces.graphs.flows import WORD_BITS, BigInts, FlowNetwork

#: Bits of the rate in the integers that maximum flows are computed with.
#: Tuned: `benchmarks/constants.py`.
PRECISION_BITS = 40
#: A cut is violated if it lacks more than this part of the rate. Tuned: `benchmarks/constants.py`.
TOLERANCE = 1e-9


class Separator:
    """Finds violated cuts of one stage.

    Parameters
    ----------
    num_nodes, num_workers : int
        Workers come first.
    tails, heads : ndarray of int, shape (arcs,)
        In the direction away from the root: reversed for the reduce stage.
    """

    def __init__(self, num_nodes: int, num_workers: int, tails: Ints, heads: Ints):
        self._nodes, self._workers = num_nodes, num_workers
        self._tails, self._heads = tails, heads
        roots = np.arange(num_workers)
        self._flows = FlowNetwork(
            num_nodes + 1,
            np.concatenate((tails, np.full(num_workers, num_nodes))),
            np.concatenate((heads, roots)),
        )

    def violated(self, load: Floats, root_rates: Floats, rate: float) -> list[Bools]:
        """Return node sets whose cuts lack rate, none if there is no such set.

        Parameters
        ----------
        load : ndarray, shape (arcs,)
        root_rates : ndarray, shape (workers,)
        rate : float

        Returns
        -------
        list of ndarray of bool, shape (nodes,)
            The smallest and the largest of the worst sets of each worker that gets too little. A
            set is left out if it has a worker that was checked before.
        """
        if rate <= 0:
            return []
        full = 2**PRECISION_BITS
        unit = full / rate
        arcs = np.floor(np.minimum(load, rate) * unit).astype(np.int64)
        fed = np.floor(np.minimum(root_rates, rate) * unit).astype(np.int64)
        return self._violated(arcs, fed, full, full - int(TOLERANCE * full) - len(arcs))

    def violated_exactly(self, load: BigInts, root_rates: BigInts, rate: int) -> list[Bools]:
        """Return such sets for loads and rates in whole numbers, without a tolerance."""
        # No sum has more terms than there are nodes twice over.
        word = (2 * self._nodes * rate).bit_length() <= WORD_BITS
        kind = np.int64 if word else object
        arcs, fed = (np.minimum(x, rate).astype(kind) for x in (load, root_rates))
        return self._violated(arcs, fed, rate, rate) if rate > 0 else []

    def _violated(self, arcs: BigInts, fed: BigInts, full: int, enough: int) -> list[Bools]:
        n, workers = self._nodes, self._workers
        dense = np.zeros((n, n), dtype=arcs.dtype)
        dense[self._tails, self._heads] = arcs
        direct = np.concatenate((fed, np.zeros(n - workers, dtype=arcs.dtype)))
        outside = np.ones(n, dtype=bool)
        waiting = np.ones(workers, dtype=bool)
        found: list[Bools] = []
        while waiting.any():
            short = self._two_arcs(dense, direct, outside)
            joining = np.flatnonzero(waiting & (short >= enough))
            if not len(joining):
                v = int(np.where(waiting, short, -1).argmax())
                found += self._worst_sets(arcs, fed, v, enough)
                joining = np.array([v])
            waiting[joining] = False
            outside[joining] = False
            fed[joining] = full
            direct += dense[joining].sum(axis=0)
            direct[joining] = full
            direct = np.minimum(direct, full)
        return found

    def _two_arcs(self, dense: BigInts, direct: BigInts, outside: Bools) -> BigInts:
        """Flow to each worker from the source directly and over one node outside of it."""
        over = np.minimum(dense[outside], direct[outside, None]).sum(axis=0)
        return (direct + over)[: self._workers]

    def _worst_sets(self, arcs: BigInts, fed: BigInts, sink: int, enough: int) -> list[Bools]:
        flow = self._flows.max_flow(np.concatenate((arcs, fed)), self._nodes, sink)
        if flow.value >= enough:
            return []
        smallest = flow.sink_side()[:-1]
        largest = ~flow.source_side()[:-1]
        return [smallest] if (smallest == largest).all() else [smallest, largest]
