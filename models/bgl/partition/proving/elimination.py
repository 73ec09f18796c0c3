r"""Elimination: partitions of all branched nodes, one node after the other, exact in whole numbers.

Every request has a training node at one end, so the other nodes do not matter to each other: once
the training nodes have parts, a node u goes where most of its weight lies, and costs
:math:`\sum_t q_{tu} - \max_i \sum_{t \in i} q_{tu}`. Nodes are branched on in an order. Two partial
partitions are alike for all that follows if their loads agree, and the parts of the nodes that
still have a neighbour ahead, the *frontier*; of those that are alike only the cheapest is kept.
Parts are numbered in the order in which they are opened.

The least cost of the last step is a lower bound, as the node cap is not charged to nodes that are
not branched on. It remains one

* where partial partitions that cost no less than a value `at_least` are left out, and the bound is
  raised to that value at most;
* where the part of a frontier node is *forgotten*: partial partitions that differ only there become
  alike, and what that node would still pay is not charged. The cost of a node u is superadditive
  over its neighbours, so what they pay before and after is charged.

With two parts the node cap can be charged as well: if nothing is merged, every partition of the
training nodes that costs less than `at_least` is there in the end, and in each the nodes that
prefer the part that is too full move to the other, those first that lose the least.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Ints

from .terms import Terms

#: Bits of a partial partition: parts of the frontier, and loads. By definition.
MOST_CODE_BITS = 62
#: Additions of a step: partial partitions times parts times what they look up.
#: Tuned: `benchmarks/constants.py`.
MOST_WORK = 2**28


@dataclass
class Eliminated:
    """The outcome of an elimination.

    Attributes
    ----------
    bound : int
        Lower bound on the scaled cost; `at_least` if every partial partition was left out.
    forgotten : tuple of tuple of int
        After which step the part of which nodes was forgotten.
    part : mapping or None
        The parts of the branched nodes in the cheapest partition that is left.
    most_states : int
        Partial partitions of the widest step.
    finished : bool
        False if it was stopped; there is no bound then.
    """

    bound: int
    forgotten: tuple[tuple[int, ...], ...]
    part: dict[int, int] | None
    most_states: int
    finished: bool = True


@dataclass
class _Slots:
    """Where a code holds the parts of the frontier."""

    bits: int
    start: int
    slot_of: dict[int, int] = field(default_factory=dict)

    def add(self, v: int) -> int:
        """Give a node the first free slot and return its shift."""
        taken = set(self.slot_of.values())
        slot = next(s for s in range(len(taken) + 1) if s not in taken)
        self.slot_of[v] = slot
        shift = self.start + slot * self.bits
        if shift + self.bits > MOST_CODE_BITS:
            raise ModelRefused(
                f"a partial partition takes more than {MOST_CODE_BITS} bits: "
                "too many parts, or too wide a frontier"
            )
        return shift

    @property
    def full(self) -> bool:
        """True if no further node finds a slot."""
        return self.start + (len(self.slot_of) + 1) * self.bits > MOST_CODE_BITS

    def read(self, codes: Ints, v: int) -> Ints:
        """Return the part of a node in every partial partition."""
        return (codes >> (self.start + self.slot_of[v] * self.bits)) & ((1 << self.bits) - 1)

    def clear(self, codes: Ints, v: int) -> Ints:
        """Return the codes without the part of a node."""
        mask = ((1 << self.bits) - 1) << (self.start + self.slot_of.pop(v) * self.bits)
        return codes & ~np.int64(mask)


class Elimination:
    """One run over the branched nodes.

    Parameters
    ----------
    terms : Terms
    order : sequence of int
        The branched nodes, each once.
    at_least : int
        Partial partitions that cost as much are left out.
    placed : bool, default False
        Merge nothing, and charge the node cap in the end.

    Raises
    ------
    ModelRefused
        If the codes become too long, or the node cap cannot be charged.
    """

    at_least: int
    order: list[int]
    terms: Terms

    def __init__(self, terms: Terms, order: Sequence[int], at_least: int, *, placed: bool = False):
        self.terms, self.order, self.at_least = terms, list(order), at_least
        self.placed = placed
        if placed and (terms.parts != 2 or terms.counts_nodes):
            raise ModelRefused("placed: only with two parts, branching on training nodes")
        k = terms.parts
        #: For each kind of load: bits, cap, and the shift of part 0; the parts follow.
        caps = (
            [terms.train_cap, terms.node_cap]
            if terms.counts_nodes
            else [min(terms.train_cap, terms.node_cap)]
        )
        self._loads: list[tuple[int, int, int]] = []
        shift = 0
        for most in caps:
            bits = max(1, min(most, len(self.order)).bit_length())
            self._loads.append((bits, most, shift))
            shift += k * bits
        if shift > MOST_CODE_BITS:
            raise ModelRefused(f"the loads of {k} parts take more than {MOST_CODE_BITS} bits")
        self.slots: _Slots = _Slots(max(1, (k - 1).bit_length()), shift)
        self.codes: Ints = np.zeros(1, dtype=np.int64)
        self.costs: Ints = np.zeros(1, dtype=np.int64)
        self._ahead = _ahead(terms, self.order)
        #: Neighbours of a star's centre whose parts are still known.
        self._known: dict[int, dict[int, int]] = {}
        #: Of every step, the parent of each partial partition and the part that was chosen.
        self._steps: list[tuple[np.ndarray, np.ndarray]] = []

    def run(
        self,
        most_states: int,
        forget: Sequence[Sequence[int]] | None = None,
        stop: Callable[[], bool] = lambda: False,
        expand_at_most: int | None = None,
        *,
        history: bool = True,
    ) -> Eliminated:
        """Branch on all nodes.

        Parameters
        ----------
        most_states : int
            Where a step has more, frontier nodes are forgotten until it does not.
        forget : sequence of sequence of int, optional
            What to forget after each step instead.
        stop : callable
            Asked before every step.
        expand_at_most : int, optional
            With `forget`: more states than these are refused.
        history : bool, default True
            Keep how partial partitions came about, and return the parts of the cheapest.

        Raises
        ------
        ModelRefused
            If codes or states become too many.
        """
        forgotten: list[tuple[int, ...]] = []
        widest = 1
        for step, v in enumerate(self.order):
            if stop():
                return Eliminated(0, (), None, widest, finished=False)
            parents, choices = self._branch(v)
            self._retire(step)
            parents, choices = self._merged(parents, choices)
            now: list[int] = []
            if forget is not None:
                now = list(forget[step])
                for u in now:
                    if u not in self.slots.slot_of:
                        raise ValueError(f"forget[{step}]: {u} is not in the frontier")
                    self._forget(u)
                if now:
                    parents, choices = self._merged(parents, choices)
            most = min(most_states, max(1, MOST_WORK // self._lookups(step + 1)))
            while (
                forget is None
                and self.slots.slot_of
                and (len(self.codes) > most or (self.slots.full and step + 1 < len(self.order)))
            ):
                u = min(self.slots.slot_of, key=lambda u: (self._weight_ahead(u, step), u))
                now.append(u)
                self._forget(u)
                parents, choices = self._merged(parents, choices)
            work = len(self.codes) * self._lookups(step + 1)
            if expand_at_most is not None and (
                len(self.codes) > expand_at_most or work > 4 * MOST_WORK
            ):
                raise ModelRefused(f"step {step} has too many partial partitions")
            forgotten.append(tuple(now))
            widest = max(widest, len(self.codes))
            if history:
                self._steps.append((parents.astype(np.int32), choices.astype(np.int8)))
            if not len(self.codes):
                missing = len(self.order) - len(forgotten)
                return Eliminated(self.at_least, (*forgotten, *((),) * missing), None, widest)
        if self.placed:
            self.costs = self.costs + self._moving_costs()
        best = int(np.argmin(self.costs))
        least = min(self.at_least, int(self.costs[best]))
        part = self._history(best) if history else None
        return Eliminated(least, tuple(forgotten), part, widest)

    # -- one step ------------------------------------------------------------------------------

    def _branch(self, v: int) -> tuple[Ints, Ints]:
        """Give a node every part that is open, or the next; return parents and choices."""
        k = self.terms.parts
        added = self._added(v)
        shift = self.slots.add(v)
        codes, costs, parents, choices = [], [], [], []
        for i in range(k):
            cost = self.costs + added[i]
            kept = cost < self.at_least
            step = np.int64(0)
            for kind, (bits, most, start) in enumerate(self._loads):
                if kind == 0 and self.terms.counts_nodes and v not in self.terms.trained:
                    continue
                at = start + i * bits
                kept &= ((self.codes >> at) & ((1 << bits) - 1)) < most
                step |= np.int64(1 << at)
            if i:
                kept &= self._is_open(i - 1)
            which = np.flatnonzero(kept)
            codes.append((self.codes[which] + step) | np.int64(i << shift))
            costs.append(cost[which])
            parents.append(which)
            choices.append(np.full(len(which), i, dtype=np.int64))
        self.codes, self.costs = np.concatenate(codes), np.concatenate(costs)
        return np.concatenate(parents), np.concatenate(choices)

    def _is_open(self, i: int) -> np.ndarray:
        """Return where part i holds a node: the last kind of load counts all that are branched."""
        bits, _, start = self._loads[-1]
        opened: np.ndarray = ((self.codes >> (start + i * bits)) & ((1 << bits) - 1)) > 0
        return opened

    def _added(self, v: int) -> Ints:
        """Return what each part of a node adds to the cost, shape (parts, states)."""
        k, states = self.terms.parts, len(self.codes)
        to = {u: w for u, w in self.terms.pairs[v].items() if u in self.slots.slot_of}
        wide: list[tuple[int, dict[int, int]]] = []
        for u, w in self.terms.stars[v].items():
            known = self._known.setdefault(u, {})
            if len(known) == 1:
                ((other, own),) = known.items()
                to[other] = to.get(other, 0) + min(own, w)
            elif known:
                wide.append((w, dict(known)))
            known[v] = w
        part_of = {
            u: self.slots.read(self.codes, u) for u in {*to, *(x for _, n in wide for x in n)}
        }
        added = np.full((k, states), sum(to.values()), dtype=np.int64)
        for u, w in to.items():
            for i in range(k):
                added[i] -= w * (part_of[u] == i)
        for w, known in wide:
            pull = np.zeros((k, states), dtype=np.int64)
            for u, own in known.items():
                for i in range(k):
                    pull[i] += own * (part_of[u] == i)
            added += w - np.maximum(0, pull + w - pull.max(axis=0))
        return added

    def _retire(self, step: int) -> None:
        """Drop the nodes from the frontier that have nothing ahead."""
        for u in [u for u in self.slots.slot_of if self._ahead[u] <= step]:
            self.codes = self.slots.clear(self.codes, u)

    def _forget(self, u: int) -> None:
        self.codes = self.slots.clear(self.codes, u)
        for centre in self.terms.stars[u]:
            if u in self._known.get(centre, {}):
                self._known[centre] = {}

    def _merged(self, parents: Ints, choices: Ints) -> tuple[Ints, Ints]:
        """Keep the cheapest of all partial partitions that are alike."""
        if self.placed or not len(self.codes):
            return parents, choices
        order = np.lexsort((self.costs, self.codes))
        ordered = self.codes[order]
        first = np.ones(len(order), dtype=bool)
        first[1:] = ordered[1:] != ordered[:-1]
        kept = order[first]
        self.codes, self.costs = self.codes[kept], self.costs[kept]
        return parents[kept], choices[kept]

    def _weight_ahead(self, u: int, step: int) -> int:
        """Return the most that a frontier node may still pay."""
        later = set(self.order[step + 1 :])
        return sum(w for x, w in self.terms.pairs[u].items() if x in later) + sum(
            w for centre, w in self.terms.stars[u].items() if u in self._known.get(centre, {})
        )

    def _lookups(self, step: int) -> int:
        """Return how many parts of neighbours a step reads for a partial partition at most."""
        if step >= len(self.order):
            return 1
        v, k = self.order[step], self.terms.parts
        known = sum(len(self._known.get(u, {})) for u in self.terms.stars[v])
        return k * (1 + len(self.terms.pairs[v]) + known)

    def _moving_costs(self) -> Ints:
        """Return what the node cap adds to every partition of the training nodes."""
        column: dict[int, int] = {}
        for rays in (self.terms.stars, self.terms.leaves):
            for v in self.order:
                for u in rays[v]:
                    column.setdefault(u, len(column))
        moved = np.zeros(len(self.codes), dtype=np.int64)
        chunk = max(1, MOST_WORK // (64 * max(1, len(column))))
        for first in range(0, len(moved), chunk):
            states = np.arange(first, min(len(moved), first + chunk))
            moved[states] = self._moving_costs_of(states, column)
        return moved

    def _moving_costs_of(self, states: Ints, column: Mapping[int, int]) -> Ints:
        # What a node loses by leaving part 0; negative if it prefers part 1.
        loss = np.zeros((len(states), len(column)), dtype=np.int64)
        load = np.zeros(len(states), dtype=np.int64)
        at = states
        for v, (parents, choices) in zip(reversed(self.order), reversed(self._steps), strict=True):
            chosen = choices[at].astype(np.int64)
            sign = 1 - 2 * chosen
            load += chosen
            for u, w in (*self.terms.stars[v].items(), *self.terms.leaves[v].items()):
                loss[:, column[u]] += w * sign
            at = parents[at]
        total = np.zeros(len(states), dtype=np.int64)
        for kept, held in ((loss, len(self.order) - load), (-loss, load)):
            over = (kept > 0).sum(axis=1) + held - self.terms.node_cap
            worst = int(over.max(initial=0))
            if worst > 0:
                ordered = np.sort(np.where(kept > 0, kept, np.iinfo(np.int64).max // 2), axis=1)
                moving = np.arange(worst)[None, :] < over[:, None]
                total += np.where(moving, ordered[:, :worst], 0).sum(axis=1)
        return total

    def _history(self, state: int) -> dict[int, int]:
        part: dict[int, int] = {}
        for v, (parents, choices) in zip(reversed(self.order), reversed(self._steps), strict=True):
            part[v] = int(choices[state])
            state = int(parents[state])
        return part


def _ahead(terms: Terms, order: Sequence[int]) -> dict[int, int]:
    """Return for every node the last step at which one of its neighbours is branched on."""
    at = {v: step for step, v in enumerate(order)}
    last_of_star: dict[int, int] = {}
    for v in order:
        for u in terms.stars[v]:
            last_of_star[u] = at[v]
    return {
        v: max(
            [at[u] for u in terms.pairs[v]] + [last_of_star[u] for u in terms.stars[v]], default=-1
        )
        for v in order
    }
