"""All placements of each gang on the servers, one by one, for searches on small clusters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.memory import MOST_CELLS

from ..instance import SjfBcoInstance
from ..size_limits import refuse_many

#: Most placements of all jobs together. Tuned: `benchmarks/constants.py`.
MOST_PLACEMENTS = 50_000
#: Most numbers of GPUs in them, one for each server, 8 bytes each.
MOST_NUMBERS = MOST_CELLS // 2


@dataclass(frozen=True)
class Placements:
    """Placements of all jobs.

    Attributes
    ----------
    gpus : Ints
        GPUs on each server, shape (placements, servers).
    first : list of int
        Where those of each job begin, and the number of all placements.
    """

    gpus: Ints
    first: list[int]


def placements_of(instance: SjfBcoInstance) -> Placements:
    """Return the placements of every job.

    Raises
    ------
    ModelRefused
        If there are too many of them.
    """
    rows: list[tuple[int, ...]] = []
    first = [0]
    for gpus in instance.rates.gpus:
        for row in _of_gang(instance.server_gpus, gpus):
            rows.append(row)
            refuse_many(len(rows), MOST_PLACEMENTS, "jobs: placements to list, so far")
            numbers = len(rows) * len(row)
            refuse_many(numbers, MOST_NUMBERS, "jobs: servers of the placements to list, so far")
        first.append(len(rows))
    return Placements(np.array(rows, dtype=np.int64), first)


def _of_gang(capacities: tuple[int, ...], gpus: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to take GPUs from servers, those with more on the first ones first."""
    last = len(capacities) - 1
    room_after = list(accumulate(reversed(capacities[1:]), initial=0))[::-1]
    if gpus > capacities[0] + room_after[0]:
        return
    row, left, begin = [0] * len(capacities), gpus, 0
    while True:
        for s in range(begin, len(row)):
            row[s] = min(capacities[s], left)
            left -= row[s]
        yield tuple(row)
        # The next row has one GPU less on the last server after which there is room for it.
        left, s = row[last], last - 1
        while s >= 0 and (row[s] == 0 or left == room_after[s]):
            left += row[s]
            s -= 1
        if s < 0:
            return
        row[s] -= 1
        left, begin = left + 1, s + 1
