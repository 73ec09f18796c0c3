r"""The joint problem by dynamic programming over prefixes of the order.

A state is a set S of batches that is done, in whatever order, and the live nodes D that have been
dropped; the others are kept, at most K. Nodes are dropped only when the cache is full, and each
costs its reload at once: g reloads in all. Given S and D the past does not matter. After batch b,
which reloads the dropped nodes that it needs, as many live nodes are dropped as do not fit.

* Which ones: u is not dropped while v is kept if every batch to come that needs v also needs u;
  for v is needed no sooner (Belady).
* A state is left out if g and the bounds of `reload_tables` exceed the budget.
* Of equal states one is kept. A state (S, D, g) is left out if there is (S, D', g') with
  :math:`g' + |D \setminus D'| \le g`: dropping the nodes of D as well makes it no worse. Each is
  compared with the few best of its S.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gadgetopt.numbers.arrays import Bools, Ints
from gadgetopt.numbers.memory import MOST_CELLS as TABLE_CELLS
from gadgetopt.search.clock import Clock

from ..subproblems.ordering import heavy_path
from .reload_tables import Incidence, OutOfTimeError, SubsetTables, Words, bits

#: States up to which a search goes on: some 2 GB of memory.
MOST_STATES = 3 * TABLE_CELLS // 4

#: States of a set that the others of the set are compared with. Tuned: `benchmarks/constants.py`.
_LEADERS = 12

#: Reloads up to which the bottlenecks are computed at first. Tuned: `benchmarks/constants.py`.
_FIRST_BUDGET = 8

#: Times its width, the states of a beam while nodes are dropped. Tuned: `benchmarks/constants.py`.
_WAYS = 8


@dataclass
class Layer:
    """The states after one more batch.

    Attributes
    ----------
    done : array of shape (n,)
        The batches of S, a bit each.
    dropped : array of shape (n, W)
    reloads : array of shape (n,)
        g.
    parent, last : arrays of shape (n,)
        State of the layer before, and the batch that was added to it.
    """

    done: Ints
    dropped: Words
    reloads: Ints
    parent: Ints
    last: Ints

    def __len__(self) -> int:
        return len(self.done)

    def take(self, chosen: Ints | Bools) -> Layer:
        """Return some of the states."""
        return Layer(
            self.done[chosen],
            self.dropped[chosen],
            self.reloads[chosen],
            self.parent[chosen],
            self.last[chosen],
        )

    @staticmethod
    def join(layers: list[Layer]) -> Layer:
        """Return all states of some layers."""
        return Layer(
            np.concatenate([layer.done for layer in layers]),
            np.concatenate([layer.dropped for layer in layers]),
            np.concatenate([layer.reloads for layer in layers]),
            np.concatenate([layer.parent for layer in layers]),
            np.concatenate([layer.last for layer in layers]),
        )


class PrefixSearch:
    """The search over prefixes of orders of fixed batches, all misses costing the same.

    Parameters
    ----------
    batches : list of list of int
        At most `MOST_BATCHES`.
    capacity : int
    clock : Clock
    most_states : int, optional
        States that a search may have before it gives up.

    Attributes
    ----------
    states : int
        States of the last search.

    Raises
    ------
    OutOfTimeError
        If the time is up; so do the methods, and where there are too many states.
    """

    clock: Clock
    most_states: int

    def __init__(
        self,
        batches: list[list[int]],
        capacity: int,
        clock: Clock,
        most_states: int = MOST_STATES,
    ):
        self.incidence: Incidence = Incidence(batches)
        self.capacity: int = min(capacity, len(self.incidence.nodes))
        self.clock, self.most_states = clock, most_states
        self.tables: SubsetTables = SubsetTables(self.incidence, self.capacity, clock)
        self.states: int = 0
        self._prepare(_FIRST_BUDGET)

    def _prepare(self, budget: int) -> None:
        """Compute the bottlenecks up to a budget."""
        self.prepared: int = min(budget, self.incidence.repeats)
        self.bottleneck: npt.NDArray[np.int16] = self.tables.bottlenecks(self.prepared)

    def root_bound(self) -> int:
        """Return a lower bound on the reloads of all orders."""
        while self.bottleneck[0, 0] > self.prepared:
            self._prepare(2 * self.prepared)
        bound = int(self.bottleneck[0, 0])
        overlap = self.incidence.overlap()
        path = heavy_path(overlap, 0)
        # Only where the bound of one path is better can that of the heaviest one be.
        if self._priced(int(overlap[path[:-1], path[1:]].sum())) > bound:
            paths = self.tables.heaviest_paths(overlap)
            M = self.incidence.num_batches
            bound = max(bound, self._priced(max(int(paths[1 << b, b]) for b in range(M))))
        return bound

    def _priced(self, path: int) -> int:
        """Return the reloads if half a miss is paid for each slot, and paths weigh so much."""
        M, repeats = self.incidence.num_batches, self.incidence.repeats
        return -(-(2 * repeats - path - self.capacity * (M - 1)) // 2)

    def order_within(self, budget: int, width: int | None = None) -> list[int] | None:
        """Return an order of at most so many reloads, or None if there is none.

        With a `width` only so many states of each layer are kept, those of the least bounds; None
        then proves nothing.
        """
        budget = min(budget, self.incidence.repeats)
        if width is None and budget > self.prepared:
            self._prepare(budget + _FIRST_BUDGET)
        M, W = self.incidence.num_batches, self.incidence.words
        zero = np.zeros(1, dtype=np.int64)
        layers = [Layer(zero, np.zeros((1, W), dtype=np.uint64), zero, zero, zero)]
        self.states = 0
        for _ in range(M):
            found = self._expand(layers[-1], budget, width)
            if not len(found):
                return None
            if width is not None and len(found) > width:
                bound = found.reloads + self._to_come(found)
                found = found.take(np.argsort(bound, kind="stable")[:width])
            layers.append(found)
        at, order = int(np.argmin(layers[-1].reloads)), []
        for layer in reversed(layers[1:]):
            order.append(int(layer.last[at]))
            at = int(layer.parent[at])
        return order[::-1]

    def _expand(self, layer: Layer, budget: int, width: int | None) -> Layer:
        """Return the states after one more batch, each once, without those beyond the budget."""
        children = []
        parents = np.arange(len(layer))
        for b in range(self.incidence.num_batches):
            self._check_time()
            here = np.flatnonzero(layer.done >> b & 1 == 0)
            if not len(here):
                continue
            after = layer.done[here] | 1 << b
            dropped = layer.dropped[here] & ~self.incidence.batch[b]
            need = self.tables.live[after] - self.capacity - bits(dropped)
            reloads = layer.reloads[here] + np.maximum(need, 0)
            fits = reloads <= budget
            then = np.minimum(bits(dropped) + np.maximum(need, 0), self.prepared + 1)
            fits &= reloads + self.bottleneck[after, then] <= budget
            last = np.full(len(here), b)
            children.append(Layer(after, dropped, reloads, parents[here], last).take(fits))
        found = self._distinct(self._drop(Layer.join(children), width))
        found = found.take(found.reloads + self._to_come(found) <= budget)
        found = self._undominated(found)
        self.states += len(found)
        return found

    def _undominated(self, layer: Layer) -> Layer:
        """Return the states without those that one of the best of their set makes superfluous."""
        for _ in range(2):
            layer = layer.take(np.lexsort((layer.reloads, layer.done)))
            starts = np.flatnonzero(np.diff(layer.done, prepend=-1))
            lengths = np.diff(starts, append=len(layer))
            start, length = np.repeat(starts, lengths), np.repeat(lengths, lengths)
            me = np.arange(len(layer))
            good = np.ones(len(layer), dtype=bool)
            for k in range(_LEADERS):
                self._check_time()
                leader = np.minimum(start + k, start + length - 1)
                more = bits(layer.dropped & ~layer.dropped[leader])
                good &= (layer.reloads[leader] + more > layer.reloads) | (leader == me)
            layer = layer.take(good)
        return layer

    def _check_time(self) -> None:
        if self.clock.expired:
            raise OutOfTimeError

    def _to_come(self, layer: Layer) -> Ints:
        """Return a lower bound on the reloads still to be decided, for each state."""
        known = np.minimum(bits(layer.dropped), self.prepared + 1)
        bound: Ints = self.bottleneck[layer.done, known].astype(np.int64)
        return bound

    def _drop(self, layer: Layer, width: int | None) -> Layer:
        """Return the states with as many live nodes dropped as do not fit, in all useful ways.

        The reloads of these nodes have been counted. With a `width` some of the ways are left out.
        """
        complete: list[Layer] = []
        while len(layer):
            if width is not None and len(layer) > _WAYS * width:
                layer = layer.take(np.linspace(0, len(layer) - 1, _WAYS * width).astype(np.int64))
            if self.states + len(layer) > self.most_states:
                raise OutOfTimeError
            over = self.tables.live[layer.done] - bits(layer.dropped) > self.capacity
            complete.append(layer.take(~over))
            layer = layer.take(over)
            if len(layer):
                layer = self._distinct(self._drop_one(layer))
        return Layer.join(complete) if complete else layer

    def _drop_one(self, layer: Layer) -> Layer:
        """Return the states with one more live node dropped, in all useful ways."""
        sets, at = np.unique(layer.done, return_inverse=True)
        kept = self.tables.live_nodes(layer.done) & ~layer.dropped
        to_come = self.incidence.uses[None, :] & ~sets[:, None].astype(np.uint64)
        found = []
        for k in range(len(self.incidence.nodes)):
            self._check_time()
            word, bit = divmod(k, 64)
            mine = to_come[:, k : k + 1]
            later = to_come & ~mine == 0  # nodes needed only when k is
            later[:, k:] &= to_come[:, k:] != mine  # of equal ones the first is dropped first
            better = self._words(later)[at]
            may = kept[:, word] >> np.uint64(bit) & np.uint64(1) == 1
            may &= ~(better & kept).any(axis=1)
            chosen = layer.take(may)
            chosen.dropped = chosen.dropped.copy()
            chosen.dropped[:, word] |= np.uint64(1 << bit)
            found.append(chosen)
        return Layer.join(found)

    def _words(self, chosen: Bools) -> Words:
        """Return rows of truth values as words, shape (n, W)."""
        rows = np.zeros((len(chosen), 64 * self.incidence.words), dtype=bool)
        rows[:, : chosen.shape[1]] = chosen
        packed: Words = np.packbits(rows, axis=1, bitorder="little").view(np.uint64)
        return packed

    def _distinct(self, layer: Layer) -> Layer:
        """Return each state once, with the fewest reloads."""
        if len(layer) < 2:
            return layer
        keys = (layer.reloads, *(layer.dropped[:, w] for w in range(layer.dropped.shape[1])))
        by_state = np.lexsort((*keys, layer.done))
        layer = layer.take(by_state)
        same = layer.done[1:] == layer.done[:-1]
        same &= (layer.dropped[1:] == layer.dropped[:-1]).all(axis=1)
        return layer.take(np.concatenate([[True], ~same]))
