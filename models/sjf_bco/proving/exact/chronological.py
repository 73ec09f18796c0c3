r"""Search for a schedule that ends within M slots: starts in order of time, pruned by prices.

A state is an instant t, the iterations that each job has left, and what runs where. At an instant
jobs start in a fixed order, large gangs first; then time advances to the next completion. Some
optimal schedule is in normal form (`exhaustion.py`): a job starts only where a job completes, or on
a server where it would have slowed a spread job in the slot before, maybe between completions.

A state is left if for one table of prices (`mode_prices.py`) the jobs are worth more than the
remaining slots can hold, if a job cannot end in time at its best rate, or if an equal state was met
no later. Equal servers are filled in order, and identical jobs start in order of their index.
States that were met are known by 96 bits, so an exhausted search is a claim; `exhaustion.py` proves
it. (reconstructed)
"""

from __future__ import annotations

import numpy as np

from ...instance import (
    SjfBcoInstance,
    SjfBcoSolution,
)
from ...subproblems.placements import placements_of
from ...subproblems.symmetry import (
    identical_jobs,
    neighbours,
)
from ..certificate.mode_prices import PriceTables
from .chronological_loops import (
    FREE,
    MAY_ADVANCE,
    OPENED,
    PAUSED,
    STARTING,
    USED,
    Data,
    Path,
    mark_equal_servers,
    search,
)

#: States that are remembered, a power of two. Tuned: `benchmarks/constants.py`.
_REMEMBERED = 1 << 21


class Chronological:
    """A search for a schedule that ends within a number of slots, made in steps.

    Parameters
    ----------
    instance : SjfBcoInstance
    makespan : int
        M in slots.
    tables : PriceTables

    Attributes
    ----------
    answer : int
        `EXHAUSTED`, `FOUND`, or `PAUSED` until the search is over.

    Raises
    ------
    ModelRefused
        If there are too many placements to list, or prices of that many slots pass 64 bits.
    """

    def __init__(self, instance: SjfBcoInstance, makespan: int, tables: PriceTables):
        tables.refuse_many_slots(makespan)
        self.makespan = makespan
        self._order = sorted(range(len(instance.jobs)), key=lambda j: -instance.rates.gpus[j])
        self._data = _data(instance, tables, self._order)
        self._path = _path(self._data)
        self.answer = PAUSED

    @property
    def nodes(self) -> int:
        """States visited so far."""
        return int(self._path.counts[1])

    def step(self, nodes: int) -> int:
        """Visit so many more states, and return the answer."""
        if self.answer == PAUSED:
            self.answer = int(search(self._data, self._path, self.makespan, nodes))
        return self.answer

    def schedule(self) -> SjfBcoSolution:
        """Return the schedule that was found."""
        used = self._path.jobs[USED, int(self._path.counts[0])]
        start = [0] * len(self._order)
        placement: list[dict[int, int]] = [{} for _ in self._order]
        for i, j in enumerate(self._order):
            start[j] = int(self._path.start[i])
            gpus = self._data.options[used[i] - 1, :-1]
            placement[j] = {s: int(gpus[s]) for s in np.flatnonzero(gpus).tolist()}
        return SjfBcoSolution(start_slot=tuple(start), placement=tuple(placement))


def _data(instance: SjfBcoInstance, tables: PriceTables, order: list[int]) -> Data:
    rates, found = instance.rates, placements_of(instance)
    options = [found.gpus[found.first[j] : found.first[j + 1]] for j in order]
    phi = rates.table()[order]
    best = phi.max(axis=2)
    best[:, 0] = best.max(axis=1)
    jobs = np.zeros((5, len(order) + 1), dtype=np.int64)
    jobs[0, :-1] = [rates.iterations[j] for j in order]
    jobs[1] = np.cumsum([0, *map(len, options)])
    jobs[2, :-1] = phi[:, 2:].max(axis=(1, 2), initial=0) > 0
    jobs[3] = -1
    place = {j: i for i, j in enumerate(order)}
    for earlier, later in neighbours(identical_jobs(instance)):
        jobs[3, place[later]] = place[earlier]
    jobs[4, :-1] = [rates.gpus[j] for j in order]
    gpus = np.concatenate(options)
    return Data(
        capacity=np.array(instance.server_gpus, dtype=np.int64),
        options=np.column_stack([gpus, (gpus > 0).sum(axis=1)]),
        jobs=jobs,
        rates=phi,
        best=best,
        worth=np.ascontiguousarray(tables.worth[order]),
        per_slot=tables.per_slot,
    )


def _path(data: Data) -> Path:
    jobs, servers = len(data.rates), len(data.capacity)
    # Every job starts and completes once, and before each start between completions time advances.
    depths = 3 * jobs + 3
    path = Path(
        at=np.zeros((8, depths), dtype=np.int64),
        jobs=np.zeros((3, depths, jobs), dtype=np.int64),
        servers=np.zeros((5, depths, servers), dtype=np.int64),
        start=np.zeros(jobs, dtype=np.int64),
        value=np.zeros((depths, len(data.per_slot)), dtype=np.int64),
        met=np.full((_REMEMBERED, 3), -1, dtype=np.int64),
        counts=np.zeros(3, dtype=np.int64),
    )
    path.jobs[0, 0] = data.jobs[0, :-1]
    path.value[0] = data.worth[range(jobs), 0, path.jobs[0, 0]].sum(axis=0)
    path.servers[FREE, 0] = data.capacity
    path.servers[OPENED, 0] = 1
    path.at[STARTING, 0] = path.at[MAY_ADVANCE, 0] = 1
    mark_equal_servers(data, path, 0)
    return path
