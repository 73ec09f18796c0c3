"""Exact maximum flows and minimum cuts with integer capacities of any size.

SciPy's maximum flow works with 32-bit capacities and overflows silently. Larger capacities
are handled in phases: a maximum flow for the leading bits, then one on what is left for the next
bits, until the last bit. Capacities that fit need a single phase.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from gadgetopt.numbers.arrays import Bools, Ints

#: Integers of 64 bits, or Python's own where those do not suffice.
BigInts = npt.NDArray[Any]

#: Bits of a capacity that SciPy may be given: a residual is the sum of two, below 2^31.
#: By definition.
BITS = 30
#: Bits of a sum that 64-bit integers hold with room for a residual. By definition.
WORD_BITS = 61


@dataclass(frozen=True)
class Pattern:
    """The entries of a sparse matrix that has (v, u) with every (u, v), row by row."""

    num_nodes: int
    rows: Ints
    columns: Ints

    def matrix(self, data: npt.NDArray[Any]) -> csr_array:
        """Return the matrix of these entries."""
        n = self.num_nodes
        starts = np.zeros(n + 1, dtype=np.int32)
        np.cumsum(np.bincount(self.rows, minlength=n), out=starts[1:])
        return csr_array((data, self.columns.astype(np.int32), starts), shape=(n, n))


@dataclass(frozen=True)
class Flow:
    """A maximum flow.

    Attributes
    ----------
    value : int
    source, sink : int
    pattern : Pattern
        Every pair of nodes with an arc in either direction.
    residual : integer ndarray, shape (pairs,)
        What each pair could still send, 0 included. Integers of 64 bits or Python's own.
    """

    value: int
    source: int
    sink: int
    pattern: Pattern
    residual: BigInts

    def source_side(self) -> Bools:
        """Return the smallest source side of a minimum cut, shape (nodes,)."""
        return self._reached(self.pattern.rows, self.pattern.columns, self.source)

    def sink_side(self) -> Bools:
        """Return the smallest sink side of a minimum cut, shape (nodes,)."""
        return self._reached(self.pattern.columns, self.pattern.rows, self.sink)

    def _reached(self, tails: Ints, heads: Ints, start: int) -> Bools:
        n = self.pattern.num_nodes
        left = self.residual > 0
        graph = csr_array((left[left], (tails[left], heads[left])), shape=(n, n))
        seen = np.zeros(n, dtype=bool)
        seen[breadth_first_order(graph, start, return_predecessors=False)] = True
        return seen


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
        self._kept = np.flatnonzero(u != v)
        forward = (u * num_nodes + v)[self._kept]
        backward = (v * num_nodes + u)[self._kept]
        pairs, position = np.unique(np.concatenate([forward, backward]), return_inverse=True)
        self._position = position[: len(forward)]
        self._pattern = Pattern(num_nodes, *np.divmod(pairs, num_nodes))

    def max_flow(self, capacity: Sequence[int] | BigInts, source: int, sink: int) -> Flow:
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
        arcs = wide_integers(capacity)
        total = np.zeros(len(self._pattern.rows), dtype=arcs.dtype)
        np.add.at(total, self._position, arcs[self._kept])
        return _maximize(self._pattern, total, source, sink)


def dense_max_flow(capacity: BigInts, source: int, sink: int) -> Flow:
    """Return a maximum flow of the network with these capacities between its nodes.

    Parameters
    ----------
    capacity : integer ndarray >= 0, shape (nodes, nodes)
        Of a type that holds their sum (`wide_integers`).
    """
    linked = capacity != 0
    linked |= linked.T
    rows, columns = np.nonzero(linked)
    return _maximize(Pattern(len(capacity), rows, columns), capacity[linked], source, sink)


def wide_integers(values: Sequence[int] | BigInts) -> BigInts:
    """Return integers as 64-bit ones if those hold their sum with room to spare, else Python's."""
    array = np.asarray(values)
    if array.dtype != np.int64:
        array = np.array(values, dtype=object)
        small = int(array.sum()).bit_length() <= WORD_BITS
        return array.astype(np.int64) if small else array
    return array.astype(object) if array.sum(dtype=np.float64) >= 2.0**WORD_BITS else array


def _maximize(pattern: Pattern, residual: BigInts, source: int, sink: int) -> Flow:
    if source == sink:
        raise ValueError(f"sink: {sink} is also the source")
    bound = min(
        int(residual[pattern.rows == source].sum()), int(residual[pattern.columns == sink].sum())
    )
    value = 0
    finished = bound == 0
    while not finished:
        shift = max(0, bound.bit_length() - BITS)
        # An arc that alone exceeds every minimum cut is in none of them, however large it is.
        leading = (np.minimum(residual, bound) >> shift).astype(np.int32)
        result = maximum_flow(pattern.matrix(leading), source, sink)
        sent: BigInts = result.flow.data.astype(residual.dtype)
        residual = residual - (sent << shift)
        value += int(result.flow_value) << shift
        # What the bits left out may still carry over a cut that is now full.
        bound = min(bound - (int(result.flow_value) << shift), len(residual) << shift)
        finished = shift == 0 or bound == 0
    return Flow(value, source, sink, pattern, residual)
