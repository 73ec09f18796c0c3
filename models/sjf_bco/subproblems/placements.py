"""All placements of each gang on the servers, one by one, for searches on small clusters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Ints

from ..instance import SjfBcoInstance
from ..size_limits import refuse_many

#: Most placements of all jobs together.
MOST_PLACEMENTS = 50_000


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
        first.append(len(rows))
    return Placements(np.array(rows, dtype=np.int64), first)


def _of_gang(capacities: tuple[int, ...], gpus: int) -> Iterator[tuple[int, ...]]:
    if gpus > sum(capacities):
        return
    if not capacities:
        yield ()
        return
    for here in range(min(capacities[0], gpus), -1, -1):
        for rest in _of_gang(capacities[1:], gpus - here):
            yield (here, *rest)
