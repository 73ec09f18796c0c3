"""Exact maximum flows and minimum cuts with integer capacities of any size.

SciPy's maximum flow works with 32-bit capacities and overflows without a word. Larger capacities
are dealt with in phases: a maximum flow for the leading bits, then one on what is left for the next
bits, until the last bit. Capacities that fit need a single phase.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
#: Integers of 64 bits, or Python's own where those do not suffice.
Capacities = npt.NDArray[np.int64] | npt.NDArray[np.object_]

#: Bits of a capacity that SciPy may be given: a residual is the sum of two, below 2^31.
BITS = 30
#: Bits of a sum that 64-bit integers hold with room for a residual.
WORD_BITS = 61


@dataclass(frozen=True)
class Flow:
    """A maximum flow.

    Attributes
    ----------
    value : int
    source, sink : int
    residual : csr_array, shape (nodes, nodes)
        One entry for every pair of nodes with an arc in either direction: what could still be
        sent, 0 included. Integers of 64 bits or Python's own.
    """

    value: int
    source: int
    sink: int
    residual: csr_array

    def source_side(self) -> Bools:
        """Return the smallest source side of a minimum cut, shape (nodes,)."""
        return _reached(self._open(), self.source)

    def sink_side(self) -> Bools:
        """Return the smallest sink side of a minimum cut, shape (nodes,)."""
        return _reached(self._open().T.tocsr(), self.sink)

    def _open(self) -> csr_array:
        left = self.residual
        graph = csr_array((left.data > 0, left.indices, left.indptr), shape=left.shape)
        graph.eliminate_zeros()
        return graph


class FlowNetwork:
    """A network for many maximum flows with different capacities, sources and sinks.

    Parameters
    ----------
    num_nodes : int
    tails, heads : integer sequences, shape (arcs,)
        Parallel arcs add up, loops carry nothing.
    """

    def __init__(
        self, num_nodes: int, tails: Sequence[int] | Ints, heads: Sequence[int] | Ints
    ) -> None:
        u = np.asarray(tails, dtype=np.int64)
        v = np.asarray(heads, dtype=np.int64)
        self.num_nodes = num_nodes
        self._kept = np.flatnonzero(u != v)
        forward = (u * num_nodes + v)[self._kept]
        pairs, position = np.unique(
            np.concatenate([forward, (v * num_nodes + u)[self._kept]]), return_inverse=True
        )
        self._position = position[: len(forward)]
        rows, columns = np.divmod(pairs, num_nodes)
        self._indices = columns.astype(np.int32)
        self._indptr = np.searchsorted(rows, np.arange(num_nodes + 1)).astype(np.int32)
        self._rows, self._columns = rows, columns

    def max_flow(self, capacity: Sequence[int] | Capacities, source: int, sink: int) -> Flow:
        """Return a maximum flow.

        Parameters
        ----------
        capacity : integers >= 0, shape (arcs,)
            Python's integers or 64-bit integers.

        Raises
        ------
        ValueError
            If source and sink are the same node.
        """
        if source == sink:
            raise ValueError(f"sink: {sink} is also the source")
        residual = self._gather(capacity)
        bound = min(
            int(residual[self._rows == source].sum()), int(residual[self._columns == sink].sum())
        )
        value = 0
        finished = bound == 0
        while not finished:
            shift = max(0, bound.bit_length() - BITS)
            # No cut of interest has an arc of more than the bound, which is kept out of every one.
            leading: Capacities = np.minimum(residual, bound)
            sent_value, sent = self._phase(leading >> shift, source, sink)
            value += sent_value << shift
            residual = residual - (sent.astype(residual.dtype) << shift)
            # What the dropped bits may still carry over a cut that is now full.
            bound = min(bound - (sent_value << shift), len(residual) << shift)
            finished = shift == 0 or bound == 0
        return Flow(value, source, sink, self._matrix(residual))

    def _gather(self, capacity: Sequence[int] | Capacities) -> Capacities:
        """Return the capacity of each pair of nodes, exact."""
        arcs = np.asarray(capacity)
        if arcs.dtype != np.int64:
            arcs = np.array(capacity, dtype=object)
            if sum(arcs.tolist()).bit_length() <= WORD_BITS:
                arcs = arcs.astype(np.int64)
        elif float(arcs.sum(dtype=np.float64)) >= 2.0**WORD_BITS:
            arcs = arcs.astype(object)
        total = np.zeros(len(self._indices), dtype=arcs.dtype)
        np.add.at(total, self._position, arcs[self._kept])
        return total

    def _phase(self, capacity: Capacities, source: int, sink: int) -> tuple[int, Ints]:
        result = maximum_flow(self._matrix(capacity.astype(np.int32)), source, sink)
        return int(result.flow_value), result.flow.data.astype(np.int64)

    def _matrix(self, data: npt.NDArray[np.generic]) -> csr_array:
        n = self.num_nodes
        return csr_array((data, self._indices, self._indptr), shape=(n, n))


def min_cut(
    num_nodes: int,
    tails: Sequence[int] | Ints,
    heads: Sequence[int] | Ints,
    capacity: Sequence[int] | Capacities,
    source: int,
    sink: int,
) -> tuple[int, Bools]:
    """Return the value of a minimum cut and its smallest source side, shape (num_nodes,).

    Capacities are integers of any size. For several cuts of one network make a `FlowNetwork` once.
    """
    flow = FlowNetwork(num_nodes, tails, heads).max_flow(capacity, source, sink)
    return flow.value, flow.source_side()


def _reached(graph: csr_array, start: int) -> Bools:
    seen = np.zeros(graph.shape[0], dtype=bool)
    seen[breadth_first_order(graph, start, return_predecessors=False)] = True
    return seen
