"""Loops of the check of orders, over all sets of batches, in 64-bit whole numbers.

They belong to the check and to nothing else. A test holds them against plain Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.compiled import compiled

#: Bits of a word that nodes take: words are not negative. By definition.
WORD = 62


@compiled
def ones(word: int) -> int:
    """Return the number of bits of a word."""
    pairs = word - (word >> 1 & 0x5555555555555555)
    fours = (pairs & 0x3333333333333333) + (pairs >> 2 & 0x3333333333333333)
    eights = fours + (fours >> 4) & 0x0F0F0F0F0F0F0F0F
    return eights * 0x0101010101010101 >> 56 & 0x7F


def used_nodes(batches: Ints) -> Ints:
    """Return the nodes of all batches in each set, shape (2^M, words)."""
    count, words = batches.shape
    seen = np.zeros((1 << count, words), dtype=np.int64)
    _fill_used(batches, seen)
    return seen


@compiled
def _fill_used(batches: Ints, seen: Ints) -> None:
    """Fill the rows of all sets but the empty one."""
    count, words = batches.shape
    for b in range(count):
        for s in range(1 << b):
            for w in range(words):
                seen[s | 1 << b, w] = seen[s, w] | batches[b, w]


def least_to_come(batches: Ints, seen: Ints, capacity: int, most: int) -> Ints:
    """Return the reloads that are still to be decided, at least, by set and dropped nodes.

    Parameters
    ----------
    batches, seen : array of int
        Nodes of each batch, and of all batches in each set.
    capacity : int
    most : int
        More reloads than this count as one more.

    Returns
    -------
    array of int16, shape (2^M, most + 2)
        The last column is of any number of dropped nodes beyond `most`, and 0.
    """
    table: Any = np.zeros((1 << len(batches), most + 2), dtype=np.int16)
    _fill_least(batches, seen, capacity, most, table)
    return table


@compiled
def _fill_least(batches: Ints, seen: Ints, capacity: int, most: int, table: Any) -> None:
    """Fill the rows of all sets but that of all batches, whose row is zeros."""
    count, words = batches.shape
    full = (1 << count) - 1
    for s in range(full - 1, -1, -1):
        for d in range(most + 1):
            table[s, d] = most + 1
        for b in range(count):
            if s >> b & 1:
                continue
            after = s | 1 << b
            stay, live = 0, 0
            for w in range(words):
                stay += ones(seen[s, w] & seen[full - s, w] & ~batches[b, w])
                live += ones(seen[after, w] & seen[full - after, w])
            for d in range(most + 1):
                still = min(d, stay)
                then = max(still, live - capacity)
                reloads = then - still + table[after, min(then, most + 1)]
                table[s, d] = min(table[s, d], reloads)


def heaviest_path(overlap: Ints) -> int:
    """Return the largest sum of the overlaps of neighbours in an order of all batches."""
    count = len(overlap)
    return int(_heaviest_path(overlap, np.zeros((1 << count, count), dtype=np.int32)))


@compiled
def _heaviest_path(overlap: Ints, table: Any) -> int:
    """Return the same; `table` is zeros, set to what each set and its last batch still add."""
    count = len(overlap)
    full = (1 << count) - 1
    for s in range(full - 1, 0, -1):
        for a in range(count):
            if s >> a & 1:
                best = 0
                for b in range(count):
                    if not s >> b & 1:
                        best = max(best, overlap[a, b] + table[s | 1 << b, b])
                table[s, a] = best
    most = 0
    for a in range(count):
        most = max(most, table[1 << a, a])
    return most
