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

#: The lowest server of a group that is empty.
NONE = np.iinfo(np.int64).max


class Groups:
    """Groups of servers by key.

    Parameters
    ----------
    width : int
        Length of the keys.

    Attributes
    ----------
    keys : array, shape (rows, width)
        The key of each row; rows of empty groups are used again.
    lowest : array, shape (rows,)
        The server of lowest number in each row, `NONE` if there is none.
    """

    def __init__(self, width: int):
        self.keys: Floats = np.zeros((64, width))
        self.lowest: Ints = np.full(64, NONE, dtype=np.int64)
        self.rows = 0
        self._row_of_key: dict[Key, int] = {}
        self._row_of_server: dict[int, int] = {}
        self._heaps: list[list[int]] = []
        self._members: list[int] = []
        self._empty: list[int] = []

    def add(self, server: int, key: Key) -> None:
        """Add a server that is in no group."""
        row = self._row_of_key.get(key)
        if row is None:
            row = self._new_row(key)
        self._row_of_server[server] = row
        self._members[row] += 1
        heapq.heappush(self._heaps[row], server)
        self.lowest[row] = self._heaps[row][0]

    def remove(self, server: int) -> None:
        """Take a server out of its group."""
        row = self._row_of_server.pop(server)
        self._members[row] -= 1
        heap = self._heaps[row]
        if not self._members[row]:
            heap.clear()
            self.lowest[row] = NONE
            del self._row_of_key[tuple(self.keys[row].astype(np.int64).tolist())]
            self._empty.append(row)
            return
        # Servers that have left stay in the heap until they are its lowest.
        while self._row_of_server.get(heap[0]) != row:
            heapq.heappop(heap)
        self.lowest[row] = heap[0]

    def _new_row(self, key: Key) -> int:
        if self._empty:
            row = self._empty.pop()
        else:
            row = self.rows
            self.rows += 1
            self._heaps.append([])
            self._members.append(0)
            if row == len(self.lowest):
                self.keys = np.concatenate([self.keys, np.zeros_like(self.keys)])
                self.lowest = np.concatenate([self.lowest, np.full_like(self.lowest, NONE)])
        self.keys[row] = key
        self._row_of_key[key] = row
        return row
