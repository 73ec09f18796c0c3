r"""Costs moved between tables, and the lower bound that they prove.

Costs :math:`m_{e \to u}(x_u)` move from the table of a pair e = (u, v) to that of its node u. No
sum over an assignment changes, so by weak duality

.. math:: \sum_u \min_{x_u} \Big[\theta_u + \sum_{e \ni u} m_{e \to u}\Big]
   + \sum_{e = (u, v)} \min_{x_u, x_v} \big[\theta_e - m_{e \to u} - m_{e \to v}\big]

is a lower bound, whatever moves. An assignment with a label exceeds it by what the tables' least
entries with that label exceed their least entries.

Before that, labels may be taken away that another one replaces: label k of node o by k' if,
whatever the neighbours have, k costs no less,

.. math:: \theta_o(k) - \theta_o(k') + \sum_v \min_y [\theta_{ov}(k, y) - \theta_{ov}(k', y)] \ge 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain

import numpy as np

from gadgetopt.numbers.arrays import Bools, Ints

from .cost_tables import FORBIDDEN, CostTables, Domains, Pair
from .records import Messages, Replacement

#: Entries of equal tables that are taken at once. Tuned: `benchmarks/configured_models.py`.
_AT_ONCE = 2**16
#: Pairs that are taken at once: no node's sum of so many forbidden entries exceeds 64 bits.
#: By definition.
_MOST_AT_ONCE = 62


class MovedCosts:
    """The tables of nodes and of pairs, those of a pair added up.

    Parameters
    ----------
    costs : CostTables
    domains : Domains
    """

    def __init__(self, costs: CostTables, domains: Domains):
        self.costs, self.domains = costs, list(domains)
        pairs: dict[tuple[int, int], list[Pair]] = defaultdict(list)
        self.around: list[list[int]] = [[] for _ in domains]
        for pair in costs.pairs:
            pairs[pair.u, pair.v].append(pair)
        self.pairs = sorted(pairs.items())
        for e, ((u, v), _) in enumerate(self.pairs):
            self.around[u].append(e)
            self.around[v].append(e)
        self._made: dict[object, Ints] = {}
        self._compared: dict[object, Bools] = {}

    def replace(self, replacements: Sequence[Replacement], where: str) -> None:
        """Take labels away that others replace.

        Raises
        ------
        ValueError
            If one is not replaced by what is said to replace it.
        """
        for i, said in enumerate(replacements):
            place = f"{where}[{i}]"
            if said.node >= len(self.domains):
                raise ValueError(f"{place}.node: {said.node}, but there are {len(self.domains)}")
            if len(said.labels) != len(said.by):
                raise ValueError(f"{place}.by: {len(said.by)} for {len(said.labels)} labels")
            left = list(self.domains[said.node])
            for k, other in zip(said.labels, said.by, strict=True):
                if k == other or k not in left or other not in left:
                    raise ValueError(f"{place}: label {k} by {other} of the labels {left}")
                left.remove(k)
            worse = self._no_better(said.node, said.labels, said.by)
            if not worse.all():
                k = said.labels[int(worse.argmin())]
                raise ValueError(f"{place}: label {k} may cost less than what replaces it")
            self.domains[said.node] = tuple(left)

    def _no_better(self, o: int, labels: Sequence[int], by: Sequence[int]) -> Bools:
        """Return for each label whether it never costs less than the other one.

        Nodes with equal tables around them are compared once.
        """
        around = [(self._key(e), self.pairs[e][0][0] == o) for e in self.around[o]]
        key = (self.costs.own[o], self.domains[o], tuple(labels), tuple(by), *around)
        if key not in self._compared:
            self._compared[key] = self._compare(o, labels, by)
        return self._compared[key]

    def _compare(self, o: int, labels: Sequence[int], by: Sequence[int]) -> Bools:
        own = self.costs.arrays[self.costs.own[o]]
        excess = own[list(labels)] - own[list(by)]
        possible: Bools = np.ones(len(labels), dtype=bool)
        domain = self.domains[o]
        mine, others = ([domain.index(k) for k in some] for some in (labels, by))
        for e in self.around[o]:
            table = self._table(e)
            table = table if self.pairs[e][0][0] == o else table.T
            first, second = table[mine], table[others]
            possible &= ((first >= FORBIDDEN) | (second < FORBIDDEN)).all(axis=1)
            finite = (first < FORBIDDEN) & (second < FORBIDDEN)
            more = np.where(finite, first - second, FORBIDDEN).min(axis=1)
            excess = np.minimum(excess + more, FORBIDDEN)
        return np.logical_and(possible, excess >= 0)

    def move(self, messages: Messages) -> int:
        """Move costs, and return the bound.

        Afterwards `excess` has for each label that is left by how much an assignment with it
        exceeds the bound.

        Raises
        ------
        ValueError
            If the messages do not fit.
        """
        sizes = np.array([len(d) for d in self.domains], dtype=np.int64)
        if not sizes.all():
            raise ValueError("messages: a node has no labels")
        ends = np.concatenate([[0], sizes.cumsum()])  # of the nodes' tables, one after the other
        sent, begins, target = self._sent(messages, sizes, ends)
        of_node = zip(self.costs.own, self.domains, strict=True)
        own = np.concatenate([self.costs.arrays[t][list(d)] for t, d in of_node])
        moved = np.bincount(target, np.abs(sent).astype(np.float64), len(own))
        if (moved + np.abs(own) >= 2.0**62).any():
            raise ValueError("messages: their sum is too large for 64 bits")
        np.add.at(own, target, sent)
        excess: Ints = np.zeros(len(own), dtype=np.int64)
        bound = 0
        equal: dict[object, list[int]] = defaultdict(list)
        for e in range(len(self.pairs)):
            equal[self._key(e)].append(e)
        for edges in equal.values():
            table = self._table(edges[0])
            at_once = max(1, min(_MOST_AT_ONCE, _AT_ONCE // table.size))
            for k in range(0, len(edges), at_once):
                at = begins[edges[k : k + at_once]]
                first = at[:, :1] + np.arange(table.shape[0])
                second = at[:, 1:] + np.arange(table.shape[1])
                left = table - sent[first][:, :, None] - sent[second][:, None, :]
                left = np.where(table >= FORBIDDEN, 4 * FORBIDDEN, left)
                rows, columns = left.min(axis=2), left.min(axis=1)
                least = rows.min(axis=1)
                bound += sum(least.tolist())
                up, down = target[first], target[second]
                for labels, found in ((up, rows), (down, columns)):
                    np.add.at(excess, labels, np.minimum(found - least[:, None], FORBIDDEN))
                for labels in (up, down):
                    excess[labels] = np.minimum(excess[labels], FORBIDDEN)
        least = np.minimum.reduceat(own, ends[:-1])
        excess += np.minimum(own - np.repeat(least, sizes), FORBIDDEN)
        self.excess = np.split(np.minimum(excess, FORBIDDEN), ends[1:-1])
        return bound + sum(least.tolist())

    def _sent(self, messages: Messages, sizes: Ints, ends: Ints) -> tuple[Ints, Ints, Ints]:
        """Return messages one after the other, where those of each pair begin, and where they go.

        The last is for each of their entries that of the nodes' tables.
        """
        if len(messages) != len(self.pairs):
            raise ValueError(f"messages: {len(messages)} for {len(self.pairs)} pairs")
        nodes = np.array([pair for pair, _ in self.pairs], dtype=np.int64).reshape(-1)
        lengths = sizes[nodes]
        for e, (given, expected) in enumerate(
            zip(chain.from_iterable(messages), lengths.tolist(), strict=True)
        ):
            if len(given) != expected:
                raise ValueError(f"messages[{e // 2}]: {len(given)} for {expected} labels")
        entries = chain.from_iterable(chain.from_iterable(messages))
        try:
            sent = np.fromiter(entries, dtype=np.int64, count=int(lengths.sum()))
        except OverflowError:
            raise ValueError("messages: too large for 64 bits") from None
        if (np.abs(sent) >= FORBIDDEN).any() or (sent == np.iinfo(np.int64).min).any():
            raise ValueError("messages: too large for 64 bits")
        begins = lengths.cumsum() - lengths
        target = np.arange(len(sent)) + np.repeat(ends[nodes] - begins, lengths)
        return sent, begins.reshape(-1, 2), target

    def below(self, room: int) -> Domains:
        """Return the labels by which the bound is exceeded by less than some room."""
        return [
            tuple(k for k, more in zip(domain, excess.tolist(), strict=True) if more < room)
            for domain, excess in zip(self.domains, self.excess, strict=True)
        ]

    def _key(self, e: int) -> tuple[object, ...]:
        """Return what pairs with equal tables have in common."""
        (u, v), pairs = self.pairs[e]
        return tuple(pair[2:] for pair in pairs), self.domains[u], self.domains[v]

    def _table(self, e: int) -> Ints:
        """Return the sum of a pair's tables, over the labels that are left."""
        (u, v), pairs = self.pairs[e]
        key = self._key(e)
        if key not in self._made:
            total: Ints = np.zeros((len(self.domains[u]), len(self.domains[v])), dtype=np.int64)
            arrays = self.costs.arrays
            for _, _, number, rows, columns in pairs:
                up = arrays[rows][list(self.domains[u])]
                down = arrays[columns][list(self.domains[v])]
                total = np.minimum(total + arrays[number][np.ix_(up, down)], FORBIDDEN)
            self._made[key] = total
        return self._made[key]
