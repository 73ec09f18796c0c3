r"""Contents of a server that are worth much at given prices: knapsacks with pairwise profits.

At a price :math:`\pi_j` of every task, or at any other for so many tasks in a server, a content is
worth :math:`\sum_j \pi_j P_j - c(P)`. A job that joins is paid its price, is slowed down by those
that are there and slows them down. Both depend on types alone: a state of the search keeps how many
neighbours of each type there are, and how much one more neighbour of each type costs those that are
there, so that the gains of all jobs in all states are one product of matrices. More neighbours
never make a gain larger, so what is left of a server earns at most its GPUs times the largest gain
per GPU; states that cannot reach the wanted worth are dropped. Contents grow job by job, all of one
size together.

Where slowdowns were measured, a gain is bounded by that of a job that nobody disturbs, and the
worth of contents is computed at the end.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.numbers.memory import MOST_CELLS

from .terms import (
    Kind,
    Terms,
    most_in,
)

#: Gains that are computed at once.
CHUNK = MOST_CELLS // 10


@dataclass(frozen=True)
class Contents:
    """Contents of servers of one kind.

    Attributes
    ----------
    lot, tasks : array of int, shape (contents, most lots in one)
        The lots in each and how many tasks of them; unused places have 0 tasks.
    slowdown : array, shape as `lot`
        Relative slowdown of each lot's jobs.
    worth : array, shape (contents,)
        At the prices of the search.
    """

    lot: Ints
    tasks: Ints
    slowdown: Floats
    worth: Floats

    def __len__(self) -> int:
        return len(self.worth)

    def of(self, chosen: Ints | Bools) -> Contents:
        """Return some of the contents."""
        return Contents(
            self.lot[chosen], self.tasks[chosen], self.slowdown[chosen], self.worth[chosen]
        )


class ContentSearch:
    """Finds contents of one kind of servers.

    Parameters
    ----------
    terms : Terms
    kind : Kind
    """

    kind: Kind
    terms: Terms
    lot: Ints
    n: Ints
    own: Ints
    weight: Ints

    def __init__(self, terms: Terms, kind: Kind):
        self.terms, self.kind = terms, kind
        per_task = terms.instance.per_task
        rows = [
            (i, n, lot.weight(n, per_task=per_task), lot.own_weight(n, per_task=per_task))
            for i, lot in enumerate(terms.lots)
            for n in range(1, most_in(lot, kind) + 1)
        ]
        table = np.array(rows, dtype=np.int64).reshape(-1, 4)
        self.lot, self.n, self.weight, self.own = table.T
        lots = self.lot
        self.type: Ints = terms.type[lots]
        self.gpus: Ints = self.n * np.array([lot.gpus for lot in terms.lots], dtype=np.int64)[lots]
        self.cpus: Ints = self.n * np.array([lot.cpus for lot in terms.lots], dtype=np.int64)[lots]
        # Seconds per unit of slowdown, and of communication.
        part = np.where(terms.gang[lots], self.n / np.maximum(1, terms.tasks[lots]), self.n)
        self.share: Floats = part * terms.job_s[lots]
        self.comm: Floats = np.where(self.n < terms.tasks[lots], part * terms.comm[lots], 0.0)
        self.alpha: Floats = terms.instance.alpha

    def above(
        self,
        price: Floats,
        least: float,
        *,
        most: int,
        costs: float = 1.0,
        beam: int | None = None,
    ) -> Contents | None:
        """Return all contents worth at least so much; None if there are more than `most`.

        Parameters
        ----------
        price : array, shape (lots,) or (lots, tasks + 1)
            Of a task, or of so many tasks in the server.
        least : float
            May be -inf: all contents.
        most : int
            Contents that are returned, and states that are kept at a time.
        costs : float
            Factor of all costs; 0 counts prices alone.
        beam : int, optional
            Keep only so many states of each size, those with the best bounds: some contents.
        """
        additive = self.terms.instance.additive
        alpha = costs * self.alpha if additive else np.zeros_like(self.alpha)
        alone = self._pays(price) - costs * self.comm
        # Jobs of one lot that are no gang disturb each other.
        alone = alone - self.share * alpha[self.type, self.type] * (self.weight - self.own)
        order, after = self._order(alone)
        found: list[tuple[Ints, Floats]] = []
        number = 0
        for columns, worth in self._levels(alone, alpha, order, after, least, most, beam):
            if beam is None and number + len(worth) > most:
                return None
            good = worth >= least
            found.append((columns[good], worth[good]))
            number += int(good.sum())
            if number > most:
                return None
            if beam is None and len(worth) > most:
                return None
        return self._contents(found, price, least, costs)

    def best(self, price: Floats, *, most: int, costs: float = 1.0) -> float:
        """Return the largest worth of a content, at least 0.

        Raises
        ------
        ModelRefused
            If the search needs more than `most` states at a time.
        """
        some = self.above(price, 0.0, most=most, costs=costs, beam=1000)
        known = 0.0 if some is None or not len(some) else float(some.worth.max())
        better = self.above(price, known, most=most, costs=costs)
        if better is None:
            raise ModelRefused(f"pricing needs more than {most} states")
        return float(max([known, *better.worth.tolist()]))

    def of_pairs(self, chosen: Sequence[Sequence[tuple[int, int]]]) -> Contents:
        """Return the contents that consist of these pairs (lot, tasks)."""
        number = {(i, n): c for c, (i, n) in enumerate(zip(self.lot, self.n, strict=True))}
        width = max(map(len, chosen), default=0)
        column = np.full((len(chosen), width), -1, dtype=np.int64)
        for r, pairs in enumerate(chosen):
            column[r, : len(pairs)] = [number[pair] for pair in pairs]
        used = column >= 0
        return Contents(
            np.where(used, self.lot[column], 0),
            np.where(used, self.n[column], 0),
            self._slowdowns(column, used),
            np.zeros(len(chosen)),
        )

    def _pays(self, price: Floats) -> Floats:
        """Return what the tasks of each column pay."""
        pays: Floats = price[self.lot, self.n] if price.ndim > 1 else price[self.lot] * self.n
        return pays

    def _order(self, alone: Floats) -> tuple[Ints, Ints]:
        """Return the columns in the order of the search, and where the next lot begins in it."""
        lots = len(self.terms.lots)
        density = alone / np.maximum(1, self.gpus)
        best = np.full(lots, -math.inf)
        np.maximum.at(best, self.lot, density)
        place = np.empty(lots, dtype=np.int64)
        place[np.argsort(-best, kind="stable")] = np.arange(lots)
        order = np.lexsort((self.n, place[self.lot]))
        places = place[self.lot[order]]
        return order, np.searchsorted(places, places, side="right").astype(np.int64)

    def _levels(
        self,
        alone: Floats,
        alpha: Floats,
        order: Ints,
        after: Ints,
        least: float,
        most: int,
        beam: int | None,
    ) -> Iterator[tuple[Ints, Floats]]:
        """Yield contents of one lot, of two, and so on, by places in the order, with worths."""
        types = len(alpha)
        lot_type, share, weight = self.type[order], self.share[order], self.weight[order]
        gpus, cpus, gain_alone = self.gpus[order], self.cpus[order], alone[order]
        # What joins costs itself, per neighbour of a type, and others, per unit of weight.
        suffers = share[:, None] * alpha[lot_type]
        one_hot = np.zeros((types, len(order)))
        one_hot[lot_type, np.arange(len(order))] = weight
        places = np.empty((1, 0), dtype=np.int64)
        worth = np.zeros(1)
        room = np.array([[self.kind.gpus, self.kind.cpus]], dtype=np.int64)
        first = np.zeros(1, dtype=np.int64)
        neighbours, burden = np.zeros((1, types)), np.zeros((1, types))
        # With so many lots in a server, no other fits.
        while len(worth) and len(order):
            parts = []
            size = max(1, CHUNK // len(order))
            total = 0
            for begin in range(0, len(worth), size):
                cut = slice(begin, begin + size)
                gain = gain_alone - neighbours[cut] @ suffers.T - burden[cut] @ one_hot
                fits = (gpus <= room[cut, :1]) & (cpus <= room[cut, 1:])
                fits &= np.arange(len(order)) >= first[cut, None]
                bound = worth[cut, None] + gain
                if least > -math.inf:
                    bound = bound + self._rest(gain, fits, gpus, room[cut, 0], after)
                    fits &= bound >= least
                row, column = np.nonzero(fits)
                total += len(row)
                if beam is None and total > most:
                    # More than may be kept; say so by a level that is too large.
                    yield np.empty((most + 1, 0), dtype=np.int64), np.full(most + 1, math.inf)
                    return
                parts.append((row + begin, column, (worth[cut, None] + gain)[fits], bound[fits]))
            row, column, value, bound = (
                np.concatenate([part[k] for part in parts]) for k in range(4)
            )
            if beam is not None and len(row) > beam:
                kept = np.argpartition(-bound, beam)[:beam]
                row, column, value = row[kept], column[kept], value[kept]
            places = np.hstack([places[row], column[:, None]])
            worth = value
            room = room[row] - np.stack([gpus[column], cpus[column]], axis=1)
            first = after[column]
            neighbours, burden = neighbours[row], burden[row] + suffers[column]
            neighbours[np.arange(len(row)), lot_type[column]] += weight[column]
            if len(row):
                yield order[places], worth

    @staticmethod
    def _rest(gain: Floats, fits: Bools, gpus: Ints, room: Ints, after: Ints) -> Floats:
        """Return what later lots can add to each state at most, after each column."""
        useful = np.where(fits, np.maximum(gain, 0.0), 0.0)
        needs = gpus > 0
        density = np.where(needs, useful / np.maximum(1, gpus), 0.0)
        free = np.where(needs, 0.0, useful)
        states, columns = gain.shape
        later = np.zeros((states, columns + 1))
        later[:, :-1] = np.maximum.accumulate(density[:, ::-1], axis=1)[:, ::-1]
        more = np.zeros((states, columns + 1))
        if not needs.all():
            more[:, :-1] = np.cumsum(free[:, ::-1], axis=1)[:, ::-1]
        left = np.maximum(0, room[:, None] - gpus)
        return left * later[:, after] + more[:, after]

    def _contents(
        self, found: list[tuple[Ints, Floats]], price: Floats, least: float, costs: float
    ) -> Contents:
        """Return contents with their slowdowns; worths are computed again from those."""
        width = max((columns.shape[1] for columns, _ in found), default=0)
        number = sum(len(worth) for _, worth in found)
        column = np.full((number, width), -1, dtype=np.int64)
        at = 0
        for columns, worth in found:
            column[at : at + len(worth), : columns.shape[1]] = columns
            at += len(worth)
        used = column >= 0
        slowdown = self._slowdowns(column, used)
        pays = self._pays(price) - costs * self.comm
        worth = np.where(used, pays[column] - costs * self.share[column] * slowdown, 0.0).sum(
            axis=1
        )
        contents = Contents(
            np.where(used, self.lot[column], 0), np.where(used, self.n[column], 0), slowdown, worth
        )
        # Gains were bounds only where slowdowns were measured.
        return contents if self.terms.instance.additive else contents.of(worth >= least)

    def _slowdowns(self, column: Ints, used: Bools) -> Floats:
        """Return the relative slowdowns of contents, shape as `column`."""
        types = len(self.alpha)
        weight = np.where(used, self.weight[column], 0)
        kind = np.where(used, self.type[column], 0)
        counts = np.zeros((len(column), types), dtype=np.int64)
        for k in range(column.shape[1]):
            np.add.at(counts, (np.arange(len(column)), kind[:, k]), weight[:, k])
        own = np.where(used, self.own[column], 0)
        own_alpha = self.alpha[kind, kind]
        slowdown = np.take_along_axis(counts @ self.alpha.T, kind, axis=1) - own * own_alpha
        known = self.terms.instance.measured_slowdowns
        if known:
            for r, k in zip(*np.nonzero(used), strict=True):
                neighbours = counts[r].copy()
                neighbours[kind[r, k]] -= own[r, k]
                measured = known.get((int(kind[r, k]), tuple(neighbours.tolist())))
                if measured is not None:
                    slowdown[r, k] = float(measured)
        return np.where(used, np.maximum(slowdown, 0.0), 0.0)

    @cached_property
    def all(self) -> Contents | None:
        """Return all contents, None if there are more than `MOST_CONTENTS`."""
        return self.above(np.zeros(len(self.terms.lots)), -math.inf, most=MOST_CONTENTS)


#: Contents up to which a server's are enumerated rather than priced.
#: Tuned: `benchmarks/constants.py`.
MOST_CONTENTS = 30_000
