r"""What a job's work costs at least under given prices: a relaxation made for checking bounds.

For prices of all machines, slots and resources, :func:`least_costs` returns for every job and slot
t no more than what any schedule costs that does the whole work by slot t. Capacities are the full
ones of the empty cluster. It has two tables, computed without any other part of the system:

* one slot: n workers and their servers inside one machine, the cheapest where they fit; or spread
  over machines, by dynamic programming over the machines where that is small, and otherwise
  relaxed: workers and servers each fill the cheapest machines as if the others were not there;
* all slots: dynamic programming over the worker-slots :math:`(A, B)` done inside one machine and
  spread, which is exact, or, where those are many, over quanta of work. Progress is then rounded up
  to whole quanta, so that costs come out too low and never too high.

Reconstructed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .instance import PdOrsInstance
from .terms import JobTerms

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Additions of table entries that the exact tables of one instance may take; what would take more
#: is relaxed. A call of numpy counts as so many additions.
MOST_ADDITIONS = 10**9
CALL = 2_000

#: Quanta of work where worker-slots are too many.
QUANTA = 4_000


def least_costs(instance: PdOrsInstance, price: Floats) -> list[Floats]:
    """Return what the work of each job costs at least when it is done by slot t.

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
    budget = MOST_ADDITIONS // len(instance.jobs)
    return [_of_job(job, price, budget) for job in instance.terms.jobs]


def _of_job(job: JobTerms, price: Floats, budget: int) -> Floats:
    """Return the least costs of one job, shape (slots + 1,)."""
    out = np.full(len(price) + 1, math.inf)
    if job.earliest is None:
        return out
    # Where the utility is gone, costs do not matter.
    last = int(np.flatnonzero(job.utility).max(initial=0))
    slots = range(job.arrival, last + 1)
    spread = _Spread(job, budget // (2 * max(1, len(slots))))
    tables: dict[bytes, tuple[Floats, Floats]] = {}
    table = _progress_table(job, budget // (2 * max(1, len(slots))))
    for t in slots:
        of_slot = price[t - 1]
        key = of_slot.tobytes()
        if key not in tables:
            tables[key] = inside_costs(job, of_slot), spread.costs(of_slot)
        table.add_slot(*tables[key])
        if t >= job.earliest:
            out[t] = table.cost
    return out


def inside_costs(job: JobTerms, price: Floats) -> Floats:
    """Return the cost of n workers and their servers on the cheapest machine where they fit.

    Parameters
    ----------
    price : array, shape (machines, resources)

    Returns
    -------
    array, shape (M + 1,)
        Of n from 0 to the most that fit on some machine; infinite where n is not allowed.
    """
    most = int(job.most_internal.max())
    n = np.arange(most + 1)
    of_machine = np.outer(price @ job.alpha, n) + np.outer(price @ job.beta, job.servers[n])
    of_machine[n > job.most_internal[:, None]] = math.inf
    return np.where(job.usable[n], of_machine.min(axis=0), math.inf)


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
        fits = {c: self._pairs(row) for c, row in _row_of_class(job)}
        classes = job.instance.terms.classes.tolist()
        shifts = sum(len(fits[c]) for c in classes)
        self._pairs_of = [fits[c] for c in classes]
        self._exact = shifts * (CALL + math.prod(self._shape)) <= budget

    def costs(self, price: Floats) -> Floats:
        """Return a lower bound on the cost of each n from 0, shape (n_max + 1,).

        Parameters
        ----------
        price : array, shape (machines, resources)
        """
        cost = self._over_machines(price) if self._exact else self._apart(price)
        return np.where(self._job.usable[self._n], cost, math.inf)

    def _pairs(self, room: Ints) -> list[tuple[int, int]]:
        """Return the workers and servers that a machine with this room can have together."""
        job = self._job
        a, b = (x.ravel() for x in np.indices(self._shape))
        fits = (np.outer(a, job.alpha) + np.outer(b, job.beta) <= room).all(axis=1)
        some = np.flatnonzero(fits)[1:]  # the first is nothing, which is no move
        return list(zip(a[some].tolist(), b[some].tolist(), strict=True))

    def _over_machines(self, price: Floats) -> Floats:
        worker, server = price @ self._job.alpha, price @ self._job.beta
        least = np.full(self._shape, math.inf)
        least[0, 0] = 0.0
        rows, columns = self._shape
        for h, pairs in enumerate(self._pairs_of):
            before = least.copy()
            for a, b in pairs:
                cost = a * worker[h] + b * server[h]
                part = least[a:, b:]
                np.minimum(part, before[: rows - a, : columns - b] + cost, out=part)
        return least[self._n, self._m]

    def _apart(self, price: Floats) -> Floats:
        job = self._job
        workers = _fill(price @ job.alpha, job.most_workers_on, len(self._n) - 1)
        servers = _fill(price @ job.beta, job.most_servers_on, int(self._m[-1]))
        return workers + servers[self._m]


def _row_of_class(job: JobTerms) -> list[tuple[int, Ints]]:
    """Return the number of each class of machines and its capacity."""
    classes, first = np.unique(job.instance.terms.classes, return_index=True)
    return [(int(c), job.capacity[h]) for c, h in zip(classes, first, strict=True)]


def _fill(cost: Floats, most: Ints, number: int) -> Floats:
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
    out = np.full(number + 1, math.inf)
    out[0] = 0.0
    out[1 : len(each) + 1] = np.cumsum(each)
    return out


def _progress_table(job: JobTerms, budget: int) -> _WorkerSlots | _Quanta:
    needed = job.external_needed
    options = int(job.most_internal.max()) + job.most_external
    states = len(needed) * (int(needed[0]) + 1)
    if options * (CALL + states) <= budget:
        return _WorkerSlots(job)
    return _Quanta(job)


@dataclass
class _WorkerSlots:
    """Least cost of having done A worker-slots or more inside one machine and B or more spread."""

    job: JobTerms

    def __post_init__(self) -> None:
        self._needed = self.job.external_needed
        self._least = np.full((len(self._needed), int(self._needed[0]) + 1), math.inf)
        self._least[0, 0] = 0.0

    def add_slot(self, inside: Floats, spread: Floats) -> None:
        """Let one more slot do n worker-slots at these costs, or nothing."""
        new = self._least.copy()
        for n in np.flatnonzero(np.isfinite(inside))[1:].tolist():
            np.minimum(new, _back(self._least, n) + inside[n], out=new)
        for n in np.flatnonzero(np.isfinite(spread))[1:].tolist():
            np.minimum(new, _back(self._least.T, n).T + spread[n], out=new)
        self._least = new

    @property
    def cost(self) -> float:
        """Least cost of the whole work."""
        return float(self._least[np.arange(len(self._needed)), self._needed].min())


def _back(least: Floats, n: int) -> Floats:
    """Return what was least before n were added to the first index; the last one is "or more"."""
    rows = np.maximum(np.arange(len(least)) - n, 0)
    return least[rows]


@dataclass
class _Quanta:
    """Least cost of having done j quanta of the work or more."""

    job: JobTerms

    def __post_init__(self) -> None:
        job = self.job
        self._inside = _quanta(int(job.most_internal.max()), float(job.sigma / job.work))
        self._spread = _quanta(job.most_external, float(1 / job.work))
        self._least = np.full(QUANTA + 1, math.inf)
        self._least[0] = 0.0

    def add_slot(self, inside: Floats, spread: Floats) -> None:
        """Let one more slot do n worker-slots at these costs, or nothing."""
        quanta = np.concatenate((self._inside, self._spread))
        cost = np.concatenate((inside, spread))
        # Most quanta first; an option is of use if it is cheaper than all that do as much.
        order = np.lexsort((cost, -quanta))
        quanta, cost = quanta[order], cost[order]
        cheapest = np.minimum.accumulate(np.concatenate(([math.inf], cost[:-1])))
        new = self._least.copy()
        for i in np.flatnonzero((cost < cheapest) & (quanta > 0)).tolist():
            j = int(quanta[i])
            np.minimum(new[j:], self._least[: QUANTA + 1 - j] + cost[i], out=new[j:])
            np.minimum(new[:j], cost[i], out=new[:j])
        self._least = new

    @property
    def cost(self) -> float:
        """Least cost of the whole work, too low by no more than the quanta rounded up."""
        return float(self._least[QUANTA])


def _quanta(most: int, share: float) -> Ints:
    """Return the quanta, rounded up, that 0, 1, ..., `most` worker-slots of this share are."""
    n = np.arange(most + 1)
    # Where the product is a whole number, it may have come out just below or above it.
    exact = n * (share * QUANTA) * (1 + 1e-12)
    return np.minimum(np.ceil(exact), QUANTA).astype(np.int64)
