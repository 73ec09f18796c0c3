r"""Lower bounds on the cost of a job's work at given prices, for checking certificates.

For prices of all machines, slots and resources, :func:`least_costs` returns for every job and slot
t a lower bound on the cost of the schedules that do the whole work by slot t. Capacities are those
of the empty cluster. It has two tables, computed without any other part of the system:

* one slot: n workers and their servers inside one machine, the cheapest where they fit; or spread
  over machines, by dynamic programming over the machines where that is small, and otherwise
  relaxed: workers and servers each fill the cheapest machines as if the others were not there;
* all slots: dynamic programming over the worker-slots :math:`(A, B)` done inside one machine and
  spread, which is exact, or, where those are many, over quanta of work. Progress is then rounded up
  to whole quanta, so that costs come out too low and never too high.

A search calls :func:`least_costs` with doubles. The check of a certificate calls :func:`job_costs`
with integers, of which no sum passes 64 bits, and with the rules that hold on a path of a tree and
the charges of conflicts (`price_tree.py`): these concern the options of single slots.
(Reconstructed.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from gadgetopt.numbers.arrays import Bools, Floats, Ints

from ...instance import PdOrsInstance
from ...terms import JobTerms

#: Doubles, or whole numbers.
Costs = npt.NDArray[Any]

#: The integer cost that means "impossible". The sum of two and a half of them fits 64 bits.
#: By definition.
NEVER = 2**61

#: Additions of table entries that the exact tables of one instance may take; what would take more
#: is relaxed. A call of numpy counts as this many additions. Tuned: `benchmarks/constants.py`.
MOST_ADDITIONS = 10**9
CALL = 2_000

#: Quanta of work where worker-slots are too many. Tuned: `benchmarks/constants.py`.
QUANTA = 4_000


@dataclass(frozen=True)
class AtLeast:
    """A job has at least some number of workers in a slot; one or more.

    Attributes
    ----------
    slot, workers : int
    inside : bool
        True if they have to be inside one machine.
    """

    slot: int
    workers: int
    inside: bool

    def met(self, inside: bool, options: int) -> Bools:
        """Return a mask of the numbers of workers 0, 1, ... that meet it in a mode."""
        return np.asarray((np.arange(options) >= self.workers) & (inside or not self.inside))


@dataclass(frozen=True)
class SlotRules:
    """What the options of single slots are subject to.

    Attributes
    ----------
    rules : sequence of (AtLeast, bool)
        Each with True if it has to be met, and False if it must not be met.
    charges : sequence of (AtLeast, int)
        What meeting it costs in addition.
    """

    rules: Sequence[tuple[AtLeast, bool]] = ()
    charges: Sequence[tuple[AtLeast, int]] = ()

    @property
    def forced(self) -> set[int]:
        """The slots in which the job has to run."""
        return {at.slot for at, holds in self.rules if holds}

    def options(self, slot: int, costs: Costs, inside: bool) -> Costs:
        """Return the costs of n workers in a slot and mode under the rules; that of 0 is kept."""
        never, n = _never(costs), len(costs)
        for at, holds in self.rules:
            if at.slot == slot:
                allowed = at.met(inside, n) == holds
                allowed[0] = True
                costs = np.where(allowed, costs, never)
        for at, charge in self.charges:
            if at.slot == slot:
                # A sum that is cut off just below "impossible" is too low, which is safe.
                dearer = np.minimum(costs + charge, never - 1)
                costs = np.where(at.met(inside, n) & (costs < never), dearer, costs)
        return costs


NO_RULES = SlotRules()


def least_costs(instance: PdOrsInstance, price: Floats) -> list[Floats]:
    """Return lower bounds on the cost of the work of each job, done by slot t.

    Parameters
    ----------
    instance : PdOrsInstance
    price : array, shape (slots, machines, resources)
        Per unit of `Terms.unit`; slot t is at t - 1. Not negative.

    Returns
    -------
    list of array, shape (slots + 1,)
        For each job; infinite where the job cannot complete by then. Not rounded: the relative
        error is that of a few thousand operations on doubles that are not negative.
    """
    out = []
    for job in instance.terms.jobs:
        # Where the utility is gone, costs do not matter.
        last = int(np.flatnonzero(job.utility).max(initial=0))
        out.append(job_costs(job, price @ job.alpha, price @ job.beta, last))
    return out


def job_costs(
    job: JobTerms, worker: Costs, server: Costs, last: int, rules: SlotRules = NO_RULES
) -> Costs:
    """Return lower bounds on the cost of the work of one job, done by slot t, as `least_costs`.

    Parameters
    ----------
    worker, server : array, shape (slots, machines)
        Price of a worker and of a server. Of whole numbers, those of all workers and servers of a
        batch on one machine have to stay below `NEVER` together.
    last : int
        The last slot that matters; those after it are taken to be impossible.
    rules : SlotRules
        Charges are of the type of the prices, none of them above `NEVER` / 4. Completing before a
        slot in which the job has to run is impossible.
    """
    budget = MOST_ADDITIONS // len(job.instance.jobs)
    out = np.full(len(worker) + 1, _never(worker), dtype=worker.dtype)
    forced = rules.forced
    if job.earliest is None or min(forced, default=job.arrival) < job.arrival:
        return out
    slots = range(job.arrival, last + 1)
    spread = _Spread(job, budget // (2 * max(1, len(slots))))
    tables: dict[bytes, tuple[Costs, Costs]] = {}
    table = _progress_table(job, budget // (2 * max(1, len(slots))), worker.dtype)
    for t in slots:
        of_slot = worker[t - 1], server[t - 1]
        key = of_slot[0].tobytes() + of_slot[1].tobytes()
        if key not in tables:
            tables[key] = inside_costs(job, *of_slot), spread.costs(*of_slot)
        inside, spread_out = tables[key]
        table.add_slot(
            rules.options(t, inside, True), rules.options(t, spread_out, False), t in forced
        )
        if t >= job.earliest and t >= max(forced, default=t):
            out[t] = table.cost
    return out


def _never(costs: Costs) -> float:
    """Return the value that means "impossible" among costs of this type."""
    return NEVER if costs.dtype.kind == "i" else math.inf


def inside_costs(job: JobTerms, worker: Costs, server: Costs) -> Costs:
    """Return the cost of n workers and their servers on the cheapest machine where they fit.

    Parameters
    ----------
    worker, server : array, shape (machines,)

    Returns
    -------
    array, shape (M + 1,)
        Of n from 0 to the most that fit on some machine; impossible where n is not allowed.
    """
    most = int(job.most_internal.max())
    n = np.arange(most + 1)
    of_machine = np.outer(worker, n) + np.outer(server, job.servers[n])
    of_machine[n > job.most_internal[:, None]] = _never(worker)
    return np.where(job.usable[n], of_machine.min(axis=0), _never(worker))


class _Spread:
    """Costs of n workers and their servers over all machines.

    Parameters
    ----------
    job : JobTerms
    budget : int
        Additions that the exact table of one slot may take.
    """

    def __init__(self, job: JobTerms, budget: int):
        self._job = job
        self._n = np.arange(job.most_external + 1)
        self._m = job.servers[self._n]
        self._shape = (len(self._n), int(self._m[-1]) + 1)
        self._exact = CALL + math.prod(self._shape) <= budget
        if not self._exact:
            return
        fits = {c: self._pairs(row) for c, row in _row_of_class(job)}
        classes = job.instance.terms.classes.tolist()
        shifts = sum(len(fits[c]) for c in classes)
        self._pairs_of = [fits[c] for c in classes]
        self._exact = shifts * (CALL + math.prod(self._shape)) <= budget

    def costs(self, worker: Costs, server: Costs) -> Costs:
        """Return a lower bound on the cost of each n from 0, shape (n_max + 1,).

        Parameters
        ----------
        worker, server : array, shape (machines,)
        """
        of = self._over_machines if self._exact else self._apart
        return np.where(self._job.usable[self._n], of(worker, server), _never(worker))

    def _pairs(self, room: Ints) -> list[tuple[int, int]]:
        """Return the workers and servers that a machine with this room can have together."""
        job = self._job
        a, b = (x.ravel() for x in np.indices(self._shape))
        fits = (np.outer(a, job.alpha) + np.outer(b, job.beta) <= room).all(axis=1)
        some = np.flatnonzero(fits)[1:]  # the first places nothing
        return list(zip(a[some].tolist(), b[some].tolist(), strict=True))

    def _over_machines(self, worker: Costs, server: Costs) -> Costs:
        least = np.full(self._shape, _never(worker), dtype=worker.dtype)
        least[0, 0] = 0
        rows, columns = self._shape
        for h, pairs in enumerate(self._pairs_of):
            before = least.copy()
            for a, b in pairs:
                cost = a * worker[h] + b * server[h]
                part = least[a:, b:]
                np.minimum(part, before[: rows - a, : columns - b] + cost, out=part)
        return least[self._n, self._m]

    def _apart(self, worker: Costs, server: Costs) -> Costs:
        job = self._job
        workers = _fill(worker, job.most_workers_on, len(self._n) - 1)
        servers = _fill(server, job.most_servers_on, int(self._m[-1]))
        return np.minimum(workers + servers[self._m], _never(worker))


def _row_of_class(job: JobTerms) -> list[tuple[int, Ints]]:
    """Return the number of each class of machines and its capacity."""
    classes, first = np.unique(job.instance.terms.classes, return_index=True)
    return [(int(c), job.capacity[h]) for c, h in zip(classes, first, strict=True)]


def _fill(cost: Costs, most: Ints, number: int) -> Costs:
    """Return the cost of 0, 1, ..., `number` pieces, each where it is cheapest and there is room.

    Parameters
    ----------
    cost : array, shape (machines,)
        Of one piece.
    most : array of int, shape (machines,)
        Pieces that a machine takes.
    """
    order = np.argsort(cost, kind="stable")
    each = np.repeat(cost[order], np.minimum(most[order], number))[:number]
    out = np.full(number + 1, _never(cost), dtype=cost.dtype)
    out[0] = 0
    out[1 : len(each) + 1] = np.cumsum(each)
    return out


def _progress_table(job: JobTerms, budget: int, dtype: np.dtype[Any]) -> _WorkerSlots | _Quanta:
    options = int(job.most_internal.max()) + job.most_external
    states = (math.ceil(job.work / job.sigma) + 1) * (math.ceil(job.work) + 1)
    if options * (CALL + states) <= budget:
        return _WorkerSlots(job, dtype)
    return _Quanta(job, dtype)


@dataclass
class _WorkerSlots:
    """Least cost of having done A worker-slots or more inside one machine and B or more spread."""

    job: JobTerms
    dtype: np.dtype[Any]

    def __post_init__(self) -> None:
        self._needed = self.job.external_needed
        shape = len(self._needed), int(self._needed[0]) + 1
        self._least: Costs = np.zeros(shape, dtype=self.dtype)
        self._least[:] = _never(self._least)
        self._least[0, 0] = 0

    def add_slot(self, inside: Costs, spread: Costs, must: bool = False) -> None:
        """Let one more slot do n worker-slots at these costs, or nothing unless it must."""
        new = np.full_like(self._least, _never(inside)) if must else self._least.copy()
        for n in _possible(inside):
            np.minimum(new, _back(self._least, n) + inside[n], out=new)
        for n in _possible(spread):
            np.minimum(new, _back(self._least.T, n).T + spread[n], out=new)
        self._least = new

    @property
    def cost(self) -> float:
        """Least cost of the whole work."""
        least: float = self._least[np.arange(len(self._needed)), self._needed].min()
        return least


def _possible(costs: Costs) -> list[int]:
    """Return the numbers of workers from 1 on that are possible."""
    numbers: list[int] = (np.flatnonzero(costs[1:] < _never(costs)) + 1).tolist()
    return numbers


def _back(least: Costs, n: int) -> Costs:
    """Return the least costs n steps back in the first index; the last entry means "or more"."""
    rows = np.maximum(np.arange(len(least)) - n, 0)
    return least[rows]


@dataclass
class _Quanta:
    """Least cost of having done j quanta of the work or more."""

    job: JobTerms
    dtype: np.dtype[Any]

    def __post_init__(self) -> None:
        job = self.job
        self._inside = _quanta(int(job.most_internal.max()), job.sigma / job.work)
        self._spread = _quanta(job.most_external, 1 / job.work)
        self._least: Costs = np.zeros(QUANTA + 1, dtype=self.dtype)
        self._least[1:] = _never(self._least)

    def add_slot(self, inside: Costs, spread: Costs, must: bool = False) -> None:
        """Let one more slot do n worker-slots at these costs, or nothing unless it must."""
        quanta = np.concatenate((self._inside, self._spread))
        cost = np.concatenate((inside, spread))
        # Most quanta first; an option is of use if it is cheaper than all that do as much.
        order = np.lexsort((cost, -quanta))
        quanta, cost = quanta[order], cost[order]
        dearer = np.array([_never(cost)], dtype=cost.dtype)
        cheapest = np.minimum.accumulate(np.concatenate((dearer, cost[:-1])))
        new = np.full_like(self._least, _never(cost)) if must else self._least.copy()
        for i in np.flatnonzero((cost < cheapest) & (quanta > 0)).tolist():
            j = int(quanta[i])
            np.minimum(new[j:], self._least[: QUANTA + 1 - j] + cost[i], out=new[j:])
            np.minimum(new[:j], self._least[0] + cost[i], out=new[:j])
        self._least = new

    @property
    def cost(self) -> float:
        """Least cost of the whole work, too low by no more than the quanta rounded up."""
        least: float = self._least[QUANTA]
        return least


def _quanta(most: int, share: Fraction) -> Ints:
    """Return the quanta, rounded up, that 0, 1, ..., `most` worker-slots of this share are."""
    each, whole = (share * QUANTA).as_integer_ratio()
    return np.array([min(-(-n * each // whole), QUANTA) for n in range(most + 1)], dtype=np.int64)
