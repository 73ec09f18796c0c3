r"""Servers that differ for a newcomer only in one addend of its cost, in groups.

Server s costs a newcomer of some kind :math:`(a + d) + b`, where a and b follow from what the
servers of a group have in common, and d is the server's own, one number for every kind. Of a group
the server with the least d costs least, whatever else the newcomer has. So a search looks at
groups, of which ten thousand servers have some hundreds, and at few servers of the best groups.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from operator import itemgetter

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints

#: A group: its place and room, and what each kind suffers, bit by bit.
_Key = tuple[int, int, int, bytes]


class GroupsByCost:
    """Groups of servers, and in each the servers in the order of what a kind does there.

    Parameters
    ----------
    kinds : int
        Kinds of newcomers.
    """

    def __init__(self, kinds: int):
        self._rooms: Ints = np.full((3, 64), -1, dtype=np.int64)
        self._suffered: Floats = np.zeros((kinds, 64))
        self._least: Floats = np.full((kinds, 64), np.inf)
        self._rows = 0
        self._row_of_key: dict[_Key, int] = {}
        self._key_of_row: list[_Key] = []
        #: For every group and kind pairs (-done, -server) in ascending order: the last comes first.
        self._orders: list[list[list[tuple[float, int]]]] = []
        self._entry: dict[int, tuple[int, list[float]]] = {}
        self._empty: list[int] = []

    @property
    def racks(self) -> Ints:
        """Return the rack of every group; empty groups have -1 here and below."""
        return self._rooms[0, : self._rows]

    @property
    def free_gpus(self) -> Ints:
        """Return the GPUs that a server of every group has free."""
        return self._rooms[1, : self._rows]

    @property
    def free_cpus(self) -> Ints:
        """Return the CPUs that a server of every group has free."""
        return self._rooms[2, : self._rows]

    def suffered(self, kind: int) -> Floats:
        """Return what a newcomer of a kind suffers in every group."""
        return np.asarray(self._suffered[kind, : self._rows])

    def least_done(self, kind: int) -> Floats:
        """Return the least that it does to a server there; infinite for empty groups."""
        return np.asarray(self._least[kind, : self._rows])

    def add(self, s: int, room: tuple[int, int, int], suffered: Floats, done: list[float]) -> None:
        """Add a server that is in no group: its rack and free units, and both per kind."""
        key = (*room, suffered.tobytes())
        row = self._row_of_key.get(key)
        if row is None:
            row = self._new_row(key, suffered)
        self._entry[s] = row, done
        for order, d in zip(self._orders[row], done, strict=True):
            insort(order, (-d, -s))
        self._least[:, row] = [-order[-1][0] for order in self._orders[row]]

    def discard(self, s: int) -> None:
        """Take a server out of its group, if it is in one."""
        if s not in self._entry:
            return
        row, done = self._entry.pop(s)
        orders = self._orders[row]
        for order, d in zip(orders, done, strict=True):
            del order[bisect_left(order, (-d, -s))]
        if orders[0]:
            self._least[:, row] = [-order[-1][0] for order in orders]
            return
        del self._row_of_key[self._key_of_row[row]]
        self._rooms[:, row] = -1
        self._least[:, row] = np.inf
        self._empty.append(row)

    def first(self, row: int, kind: int, before: float, after: float, most: float) -> int:
        """Return the lowest server of a group with (before + done) + after <= most.

        There is one.
        """
        order, at = self._orders[row][kind], len(self._orders[row][kind]) - 1
        found = -order[at][1]
        while at >= 0:
            less, minus = order[at]
            if (before - less) + after > most:
                break
            found = min(found, -minus)
            # Of servers that are equal in this, too, the lowest comes first.
            at = bisect_left(order, less, key=itemgetter(0)) - 1
        return found

    def _new_row(self, key: _Key, suffered: Floats) -> int:
        if self._empty:
            row = self._empty.pop()
        else:
            row = self._rows
            self._rows += 1
            self._orders.append([[] for _ in self._suffered])
            self._key_of_row.append(key)
            if row == self._least.shape[1]:
                self._rooms = np.hstack([self._rooms, np.full_like(self._rooms, -1)])
                self._suffered = np.hstack([self._suffered, np.zeros_like(self._suffered)])
                self._least = np.hstack([self._least, np.full_like(self._least, np.inf)])
        self._rooms[:, row] = key[:3]
        self._suffered[:, row] = suffered
        self._row_of_key[key], self._key_of_row[row] = row, key
        return row
