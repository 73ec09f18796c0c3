r"""Packing of spanning arborescences in integer capacities, batch by batch.

By Edmonds' theorem arcs of integer capacity hold m_r spanning out-arborescences at every root r iff

.. math:: c(\delta^-(X)) \ge \sum_{r \notin X} m_r \qquad \forall X \ne \emptyset.

A batch is a number of trees that are still alike: a root, the nodes B reached so far, and a
multiplicity. All batches together keep, with the capacity that is left,

.. math:: \mathrm{slack}(X) = c(\delta^-(X)) - \sum_{j:\, B_j \cap X = \emptyset} \kappa_j \ge 0.

As long as they do, every unfinished batch can grow by some arc. Growing batch i by the arc (x, y)
with multiplicity :math:`\mu` lowers the slack of the sets X that hold y and some of B_i but not x,
so :math:`\mu` is limited by the least of these, a minimum cut between x and y. What is left of the
batch becomes a batch of its own.

Slack never rises. A set found without slack is therefore remembered, and no arc into it is tried
again for a batch that has reached it. This saves most of the minimum cuts that would find nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from gadgetopt.numbers.arrays import Bools
from gadgetopt.pieces.graphs.flows import BigInts, dense_max_flow, wide_integers
from gadgetopt.search.clock import Clock


class Arborescence(NamedTuple):
    """An out-tree as (tail, head) pairs in the order it grew, and how often it is packed."""

    root: int
    arcs: tuple[tuple[int, int], ...]
    multiplicity: int


@dataclass
class _Batch:
    root: int
    multiplicity: int
    reached: Bools
    order: list[int]
    arcs: list[tuple[int, int]]

    def copy(self, multiplicity: int) -> _Batch:
        return _Batch(
            self.root, multiplicity, self.reached.copy(), list(self.order), list(self.arcs)
        )


@dataclass
class _State:
    """What is left of the capacity, the batches that wait, and sets known to have no slack."""

    capacity: BigInts  # (n, n)
    roots: BigInts  # (n,): multiplicity of waiting batches that are only a root
    partial: list[_Batch] = field(default_factory=list)
    tight: list[Bools] = field(default_factory=list)
    flows: int = 0

    @property
    def waiting(self) -> int:
        return int(self.roots.sum()) + sum(b.multiplicity for b in self.partial)


def pack_arborescences(
    num_nodes: int,
    arcs: Sequence[tuple[int, int]],
    capacity: Sequence[int] | BigInts,
    root_multiplicity: Sequence[int],
    clock: Clock | None = None,
) -> list[Arborescence]:
    r"""Return spanning out-arborescences, m_r in all at every root r, within the capacities.

    Parameters
    ----------
    num_nodes : int
    arcs : sequence of (tail, head)
        Each pair once.
    capacity : integers >= 0, shape (arcs,)
    root_multiplicity : integers >= 0, shape (num_nodes,)
        m_r.
    clock : Clock, optional
        Of the run.

    Raises
    ------
    ValueError
        If the capacities do not hold the trees, that is, violate the cut condition.
    TimeoutError
        If time is up first: an incomplete packing is of no use.
    """
    numbers = wide_integers([*capacity, *root_multiplicity])
    left = np.zeros((num_nodes, num_nodes), dtype=numbers.dtype)
    for (u, v), c in zip(arcs, numbers, strict=False):
        left[u, v] += c
    np.fill_diagonal(left, 0)
    state = _State(left, numbers[len(arcs) :].copy())
    packed: list[Arborescence] = []
    while True:
        batch = _next_batch(state)
        if batch is None:
            return packed
        _grow(state, batch, clock)
        packed.append(Arborescence(batch.root, tuple(batch.arcs), batch.multiplicity))


def _next_batch(state: _State) -> _Batch | None:
    """Take the batch split off last, else that of the root with most trees to go."""
    if state.partial:
        return state.partial.pop()
    root = int(np.argmax(state.roots))
    multiplicity = int(state.roots[root])
    if multiplicity == 0:
        return None
    state.roots[root] = 0
    reached = np.zeros(len(state.roots), dtype=bool)
    reached[root] = True
    return _Batch(root, multiplicity, reached, [root], [])


def _grow(state: _State, batch: _Batch, clock: Clock | None) -> None:
    """Grow a batch until it spans all nodes, in order of depth where possible."""
    n = len(state.roots)
    blocked = np.zeros((n, n), dtype=bool)
    known = 0  # tight sets looked at
    dormant: list[Bools] = []  # those the batch has not reached
    while len(batch.order) < n:
        if clock is not None and clock.expired:
            raise TimeoutError("arborescences were not all packed in time")
        dormant += state.tight[known:]
        known = len(state.tight)
        still = []
        for tight in dormant:
            if tight[batch.order].any():
                blocked |= ~tight[:, None] & tight[None, :]
            else:
                still.append(tight)
        dormant = still
        x, y = _choose(state.capacity, batch, blocked)
        amount = _most(state, batch, x, y)
        if amount == 0:
            continue
        if amount < batch.multiplicity:
            state.partial.append(batch.copy(batch.multiplicity - amount))
            batch.multiplicity = amount
        state.capacity[x, y] -= amount
        batch.reached[y] = True
        batch.order.append(y)
        batch.arcs.append((x, y))


def _choose(capacity: BigInts, batch: _Batch, blocked: Bools) -> tuple[int, int]:
    """Return the arc to try: one that takes the whole batch, from a node reached early."""
    order = np.array(batch.order)
    room = np.minimum(capacity[order], batch.multiplicity)
    room[:, batch.reached] = 0
    room[blocked[order]] = 0
    i, y = divmod(int(np.argmax(room)), len(capacity))
    if room[i, y] == 0:
        raise ValueError("capacity: does not hold the arborescences")
    return int(order[i]), y


def _most(state: _State, batch: _Batch, x: int, y: int) -> int:
    """Return how much of the batch can grow by the arc (x, y).

    A cut between x and y counts the arcs into the side of y and the batches that have reached it.
    """
    others = state.waiting
    want = min(batch.multiplicity, int(state.capacity[x, y]))
    supply = state.capacity[x] + state.roots
    if _short_paths(state, supply, x, y) >= others + want:
        return want
    n, k = len(supply), len(state.partial)
    network = np.zeros((n + k, n + k), dtype=state.capacity.dtype)
    network[:n, :n] = state.capacity
    network[x, :n] = supply
    network[x, x] = 0
    for j, other in enumerate(state.partial, start=n):
        network[x, j] = other.multiplicity
        network[j, :n][other.reached] = other.multiplicity
    flow = dense_max_flow(network, x, y)
    state.flows += 1
    if flow.value >= others + want:
        return want
    tight = ~flow.source_side()[:n]
    if flow.value < others or not tight[batch.order].any():
        # A set without enough capacity for the batches that have not reached it.
        raise ValueError("capacity: does not hold the arborescences")
    state.tight.append(tight)
    return flow.value - others


def _short_paths(state: _State, supply: BigInts, x: int, y: int) -> int:
    """Return a flow from x to y over at most one node and the batches that wait there."""
    demand = state.capacity[:, y].copy()
    value = int(supply[y])
    demand[x] = 0
    over = np.minimum(supply, demand)
    over[y] = 0
    value += int(over.sum())
    demand -= over
    for other in state.partial:
        if other.reached[y]:
            value += other.multiplicity
            continue
        room = other.multiplicity
        for u in other.order:
            sent = min(room, int(demand[u]))
            demand[u] -= sent
            room -= sent
        value += other.multiplicity - room
    return value
