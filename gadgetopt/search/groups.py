"""Servers that look alike to a rule, in groups: what makes rules fast on many servers.

Of all servers with the same capacities, the same room and, if the rule looks at them, the same
jobs, a rule takes the one with the lowest number. A cluster of ten thousand servers has but a few
hundred such groups.
"""

from __future__ import annotations

import heapq

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints

Key = tuple[int, ...]


class Groups:
    """Groups of servers by key, whose numbers are not negative.

    Parameters
    ----------
    width : int
        Length of the keys.

    Attributes
    ----------
    keys : array, shape (width, groups)
        The keys; -1 in the places of empty groups, which are used again.
    lowest : array, shape (groups,)
        The server of lowest number in each group.
    """

    def __init__(self, width: int):
        self._keys: Floats = np.full((width, 64), -1.0)
        self._lowest: Ints = np.zeros(64, dtype=np.int64)
        self._rows = 0
        self._row_of_key: dict[Key, int] = {}
        self._row_of_server: dict[int, int] = {}
        self._heaps: list[list[int]] = []
        self._members: list[int] = []
        self._empty: list[int] = []

    @property
    def keys(self) -> Floats:
        """Return the keys of the groups, a column each."""
        return self._keys[:, : self._rows]

    @property
    def lowest(self) -> Ints:
        """Return the lowest server of each group."""
        return self._lowest[: self._rows]

    def add(self, server: int, key: Key) -> None:
        """Add a server that is in no group."""
        row = self._row_of_key.get(key)
        if row is None:
            row = self._new_row(key)
        self._row_of_server[server] = row
        self._members[row] += 1
        heapq.heappush(self._heaps[row], server)
        self._lowest[row] = self._heaps[row][0]

    def remove(self, server: int) -> None:
        """Take a server out of its group."""
        row = self._row_of_server.pop(server)
        self._members[row] -= 1
        heap = self._heaps[row]
        if not self._members[row]:
            heap.clear()
            del self._row_of_key[tuple(self._keys[:, row].astype(np.int64).tolist())]
            self._keys[:, row] = -1.0
            self._empty.append(row)
            return
        # Servers that have left stay in the heap until they are its lowest.
        while self._row_of_server.get(heap[0]) != row:
            heapq.heappop(heap)
        self._lowest[row] = heap[0]

    def _new_row(self, key: Key) -> int:
        if self._empty:
            row = self._empty.pop()
        else:
            row = self._rows
            self._rows += 1
            self._heaps.append([])
            self._members.append(0)
            if row == len(self._lowest):
                self._keys = np.hstack([self._keys, np.full_like(self._keys, -1.0)])
                self._lowest = np.concatenate([self._lowest, np.zeros_like(self._lowest)])
        self._keys[:, row] = key
        self._row_of_key[key] = row
        return row
