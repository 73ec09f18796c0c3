r"""The check that no order of fixed batches has at most so many reloads.

A *reload* is a miss that is not the first of its node. It is written apart from the search.

* *Prices*: a slot of the cache between two batches costs 1/2. Keeping a node from one batch to the
  next then saves 1/2, keeping it longer nothing. So 2 reloads are at least twice the repeated uses,
  less K for each boundary, less the heaviest path through the overlaps of batches.
* *Prefixes*, all of them: a state is the set S of batches that are done, in whatever order, and the
  nodes D that have been dropped of those *live*, used in S and in the batches to come. Whatever
  does not fit after a batch is dropped, and each dropped node costs its reload at once.

States are left out in four cases only, none of which loses an order of few enough reloads:

1. Their reloads and the least to come exceed the budget. That is bounded by the number of dropped
   nodes alone: of d dropped nodes as many as possible stay dropped after another batch.
2. A node u is dropped though v, needed by some of the batches to come that need u and by no other,
   is kept: v is needed no sooner (Belady). Of nodes needed by the same batches the first go first,
   also where they were dropped at different times.
3. A state of the same S and D has no more reloads.
4. A state of the same S, with D' and reloads g', has :math:`g' + |D \setminus D'| \le g`: dropping
   the nodes of D as well makes it no worse. Each is compared with a few of the best.

On 21 random searches it went through 0.95 times the search's states on average, and at most 1.01
times.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

import numpy as np

from gadgetopt.numbers.arrays import Ints

from .order_loops import WORD, heaviest_path, least_to_come, used_nodes

#: Batches of which all sets are tabulated, and states that a check goes through.
#: Tuned: `benchmarks/constants.py`.
MOST_BATCHES, MOST_STATES = 20, 400_000
#: States of a set that the others of the set are compared with. Tuned: `benchmarks/constants.py`.
_BEST = 12

#: The dropped nodes of a set of batches, a bit each, and the reloads.
States = dict[int, int]


def no_order_within(batches: Sequence[Sequence[int]], capacity: int, reloads: int) -> bool:
    """Return True if every order of the batches has more reloads.

    Raises
    ------
    ValueError
        If there are too many batches or states.
    """
    if len(batches) > MOST_BATCHES:
        raise ValueError(f"{len(batches)} batches, expected at most {MOST_BATCHES} for its check")
    prefixes = Prefixes(batches, capacity)
    if reloads >= prefixes.repeats:
        return False
    return prefixes.priced_bound() > reloads or not prefixes.any_within(reloads)


class Prefixes:
    """All prefixes of orders of fixed batches.

    Parameters
    ----------
    batches : sequence of sequence of int
    capacity : int

    Attributes
    ----------
    repeats : int
        Uses of nodes after their first: the reloads if nothing is ever kept.
    """

    def __init__(self, batches: Sequence[Sequence[int]], capacity: int):
        uses: dict[int, int] = defaultdict(int)
        for b, nodes in enumerate(batches):
            for v in nodes:
                uses[v] |= 1 << b
        repeated = [v for v, used in uses.items() if used.bit_count() > 1]
        bit = {v: k for k, v in enumerate(repeated)}
        self.uses: list[int] = [uses[v] for v in repeated]
        self.batches: list[int] = [sum(1 << bit[v] for v in nodes if v in bit) for nodes in batches]
        self.capacity: int = min(capacity, len(repeated))
        self.repeats: int = sum(used.bit_count() for used in self.uses) - len(repeated)
        words = range(max(1, -(-len(repeated) // WORD)))
        self.words: Ints = np.array(
            [[nodes >> w * WORD & (1 << WORD) - 1 for w in words] for nodes in self.batches],
            dtype=np.int64,
        )

    def priced_bound(self) -> int:
        """Return the bound of prices on the reloads of all orders."""
        overlap = np.array([[(a & b).bit_count() for b in self.batches] for a in self.batches])
        slots = self.capacity * (len(self.batches) - 1)
        return -(-(2 * self.repeats - int(heaviest_path(overlap)) - slots) // 2)

    def any_within(self, budget: int) -> bool:
        """Return True if there may be an order of at most so many reloads.

        Raises
        ------
        ValueError
            If there are too many states.
        """
        seen = used_nodes(self.words)
        to_come = least_to_come(self.words, seen, self.capacity, budget)
        layer: dict[int, States] = {0: {0: 0}} if to_come[0, 0] <= budget else {}
        left = MOST_STATES
        for _ in self.batches:
            after = self._after_one_batch(layer, budget, to_come)
            layer = {}
            for done, states in after.items():
                found = self._dropped(done, states, budget, to_come[done].tolist(), left)
                if found:
                    layer[done] = found
                    left -= len(found)
        return bool(layer)

    def _after_one_batch(
        self, layer: dict[int, States], budget: int, to_come: Ints
    ) -> dict[int, States]:
        """Return the states after another batch, before nodes are dropped."""
        after: dict[int, States] = {}
        for done, states in layer.items():
            for b, nodes in enumerate(self.batches):
                if done >> b & 1:
                    continue
                now = done | 1 << b
                room = self.capacity - self._live(now).bit_count()
                row = to_come[now].tolist()
                found = after.setdefault(now, {})
                for dropped, reloads in states.items():
                    still = dropped & ~nodes
                    count = still.bit_count()
                    least = max(count, -room)
                    within = row[min(least, budget + 1)] + reloads + least - count <= budget
                    if within and reloads < found.get(still, budget + 1):
                        found[still] = reloads
        return after

    def _live(self, done: int) -> int:
        """Return the nodes that are used both in a set of batches and outside."""
        before = after = 0
        for b, nodes in enumerate(self.batches):
            if done >> b & 1:
                before |= nodes
            else:
                after |= nodes
        return before & after

    def _dropped(
        self, done: int, states: States, budget: int, to_come: Sequence[int], most: int
    ) -> States:
        """Return the states of a set after what does not fit has been dropped."""
        live = self._live(done)
        alike = self._alike(done, live)
        first = self._first(alike)
        room = live.bit_count() - self.capacity
        found: States = {}
        for before, reloads in states.items():
            for dropped in _ways(_leading(before, alike), room, first, most):
                total = reloads + dropped.bit_count() - before.bit_count()
                within = total + to_come[min(dropped.bit_count(), budget + 1)] <= budget
                if within and total < found.get(dropped, budget + 1):
                    found[dropped] = total
            _limit(found, most)
        return _undominated(found)

    def _alike(self, done: int, live: int) -> dict[int, list[int]]:
        """Return the live nodes, a bit each, by the batches to come that need them."""
        alike: dict[int, list[int]] = defaultdict(list)
        for k, used in enumerate(self.uses):
            if live >> k & 1:
                alike[used & ~done].append(1 << k)
        return alike

    def _first(self, alike: dict[int, list[int]]) -> list[tuple[int, int]]:
        """Return each live node with the nodes that are dropped before it."""
        listed = []
        for needed, nodes in alike.items():
            before = sum(
                sum(others) for other, others in alike.items()
                if other != needed and other & ~needed == 0
            )  # fmt: skip
            for node in nodes:
                listed.append((node, before))
                before |= node
        return listed


def _ways(dropped: int, wanted: int, first: Sequence[tuple[int, int]], most: int) -> set[int]:
    """Return all useful ways to drop nodes until so many are dropped."""
    ways = {dropped}
    for _ in range(wanted - dropped.bit_count()):
        ways = {
            way | node
            for way in ways
            for node, before in first
            if not way & node and before & ~way == 0
        }
        _limit(ways, most)
    return ways


def _limit(states: Collection[int], most: int) -> None:
    if len(states) > most:
        raise ValueError(f"the check has more than {MOST_STATES} states")


def _leading(dropped: int, alike: dict[int, list[int]]) -> int:
    """Return dropped nodes with the first of those that the same batches need."""
    leading = 0
    for nodes in alike.values():
        leading |= sum(nodes[: (dropped & sum(nodes)).bit_count()])
    return leading


def _undominated(states: States) -> States:
    """Return the states without those that one of the best makes superfluous."""
    by_reloads = sorted(states.items(), key=lambda state: state[1])
    best: list[tuple[int, int]] = []
    kept: States = {}
    for dropped, reloads in by_reloads:
        if any(g + (dropped & ~other).bit_count() <= reloads for other, g in best):
            continue
        kept[dropped] = reloads
        if len(best) < _BEST:
            best.append((dropped, reloads))
    return kept
