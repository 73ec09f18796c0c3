"""Tables whose rows are shared by labels that they do not tell apart.

A map gives the row of every label of a node; the map None, number 0, gives every label its own.
Signatures of a product want few different labels of each input, so a table over such a node has far
fewer rows than the node has labels.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gadgetopt.numbers.arrays import Ints

#: Nodes of a table, ascending; its number; the number of the map of every axis.
Factor = tuple[tuple[int, ...], int, tuple[int, ...]]

#: Axes shorter than this keep one row a label. Tuned: `benchmarks/constants.py`.
_SHORT = 10
#: Tables with more entries than this are not compressed again. Tuned: `benchmarks/constants.py`.
_LARGE = 2**21


@dataclass(frozen=True)
class Joint:
    """The coarsest classes of a node's labels that refine the classes of several maps.

    Attributes
    ----------
    classes : int
    map : int array or None, shape (labels,)
        Class of every label.
    number : int
        Number of that map.
    index : dict of int to (int array or None), shape (classes,)
        For every given map the row of each class.
    """

    classes: int
    map: Ints | None
    number: int
    index: dict[int, Ints | None]


class Store:
    """Tables and maps by number; equal ones have one number."""

    def __init__(self, tables: Sequence[Ints]):
        self.tables: list[Ints] = list(tables)
        self.maps: list[Ints | None] = [None]
        self._numbers: dict[object, int] = {}
        self._map_numbers: dict[bytes, int] = {}
        self._pairs: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._joints: dict[tuple[tuple[int, ...], int], Joint] = {}

    def number(self, table: Ints) -> int:
        """Return the number of a table."""
        key = (table.shape, _digest(table))
        if key not in self._numbers:
            self._numbers[key] = len(self.tables)
            self.tables.append(table)
        return self._numbers[key]

    def pair(self, u: int, v: int, t: int) -> Factor:
        """Return the table of a pair, without a node that has one label only."""
        table = self.tables[t]
        if table.shape[0] == 1:
            return (v,), self._single(t, table[0]), (0,)
        if table.shape[1] == 1:
            return (u,), self._single(t, table[:, 0]), (0,)
        if t not in self._pairs:
            all_labels = tuple(Joint(n, None, 0, {}) for n in table.shape)
            self._pairs[t] = self.compressed(table, all_labels)
        return (u, v), *self._pairs[t]

    def _single(self, t: int, row: Ints) -> int:
        if t not in self._pairs:
            self._pairs[t] = self.number(np.ascontiguousarray(row)), (0,)
        return self._pairs[t][0]

    def compressed(self, table: Ints, joints: Sequence[Joint]) -> tuple[int, tuple[int, ...]]:
        """Return the number of a table without repeated rows, and the maps of its axes.

        Parameters
        ----------
        table : int array
        joints : sequence of Joint
            Classes of every axis as they are.
        """
        maps = []
        for axis, joint in enumerate(joints):
            number = joint.number
            if table.shape[axis] >= _SHORT and table.size <= _LARGE:
                first, row = distinct(table, axis)
                if len(first) < table.shape[axis]:
                    table = table.take(first, axis=axis)
                    number = self._map(row if joint.map is None else row[joint.map])
            maps.append(number)
        return self.number(np.ascontiguousarray(table)), tuple(maps)

    def _map(self, rows: Ints) -> int:
        content = rows.tobytes()
        if content not in self._map_numbers:
            self._map_numbers[content] = len(self.maps)
            self.maps.append(rows)
        return self._map_numbers[content]

    def joint(self, maps: tuple[int, ...], labels: int) -> Joint:
        """Return the joint classes of a node's labels under these maps."""
        key = (maps, labels)
        if key not in self._joints:
            self._joints[key] = self._joined(maps, labels)
        return self._joints[key]

    def _joined(self, maps: tuple[int, ...], labels: int) -> Joint:
        given = {m: self.maps[m] for m in maps}
        if 0 in given:
            return Joint(labels, None, 0, given)
        if len(maps) == 1:
            only = self.maps[maps[0]]
            assert only is not None, "only map 0 is None"
            return Joint(int(only.max()) + 1, only, maps[0], {maps[0]: None})
        rows = np.stack([m for m in given.values() if m is not None])
        _, first, inverse = np.unique(rows, axis=1, return_index=True, return_inverse=True)
        joined = inverse.reshape(-1).astype(np.int64)
        number = self._map(joined)
        index: dict[int, Ints | None] = {m: rows[k][first] for k, m in enumerate(given)}
        return Joint(len(first), joined, number, index)


def distinct(table: NDArray[np.generic], axis: int) -> tuple[Ints, Ints]:
    """Return the first of each group of equal rows along an axis, and the group of every row."""
    rows = np.ascontiguousarray(np.moveaxis(table, axis, 0)).reshape(table.shape[axis], -1)
    groups: dict[bytes, int] = {}
    group = [groups.setdefault(_digest(row), len(groups)) for row in rows]
    _, first = np.unique(group, return_index=True)
    return first.astype(np.int64), np.array(group, dtype=np.int64)


def _digest(table: NDArray[np.generic]) -> bytes:
    content = table.tobytes()
    return content if len(content) <= 64 else hashlib.blake2b(content, digest_size=24).digest()
